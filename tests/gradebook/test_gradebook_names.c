/* test_gradebook_names.c - the owner and the lab of a file, from names that students choose. */
#include "gradebook/import/extract.h"
#include "gradebook/import/lms.h"
#include "gradebook/import/serialize.h"
#include "base/util.h"
#include "golden.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void owners(void)
{
    static const struct {
        const char *top;
        bool is_folder;
        const char *layout, *student, *number, *file;
        bool late;
    } rows[] = {
        /* Moodle */
        { "Jane Doe_4711_assignsubmission_file_", true, "moodle", "Jane Doe", "4711", "", false },
        { "Jane Doe_4711_assignsubmission_file", true, "moodle", "Jane Doe", "4711", "", false },
        { "a_b_4711_assignsubmission_file_", true, "moodle", "a_b", "4711", "", false },
        { "Jo_1_assignsubmission_file_lab.zip", false, "moodle", "Jo", "1", "lab.zip", false },
        /* Neither a student's name nor a file's name may assign a file to another student. */
        { "Jo_1_assignsubmission_file_Al_2_assignsubmission_file_x.cu", false, "plain",
          "Jo_1_assignsubmission_file_Al_2_assignsubmission_file_x.cu", "",
          "Jo_1_assignsubmission_file_Al_2_assignsubmission_file_x.cu", false },
        { "Jo_1_assignsubmission_file_x_2_assignsubmission_file_", true, "moodle",
          "Jo_1_assignsubmission_file_x", "2", "", false },
        { "_4711_assignsubmission_file_", true, "plain", "_4711_assignsubmission_file_", "", "",
          false },
        { "Jo_x_assignsubmission_file_", true, "plain", "Jo_x_assignsubmission_file_", "", "",
          false },
        { "Jo_1_assignsubmission_files", true, "plain", "Jo_1_assignsubmission_files", "", "",
          false },
        /* Canvas */
        { "doejane_4711_900_lab6-1.zip", false, "canvas", "doejane", "4711", "lab6-1.zip", false },
        { "doejane_LATE_4711_900_k.cu", false, "canvas", "doejane", "4711", "k.cu", true },
        { "doejane_late_4711_900_k.cu", false, "canvas", "doejane", "4711", "k.cu", true },
        { "doejane_1_2_other_3_4_k.cu", false, "canvas", "doejane", "1", "other_3_4_k.cu", false },
        { "doejane_1_2_", false, "plain", "doejane_1_2_", "", "doejane_1_2_", false },
        { "doejane_1_2_x", true, "plain", "doejane_1_2_x", "", "", false },
        { "doejane_1_99999999999999999999_x.cu", false, "plain",
          "doejane_1_99999999999999999999_x.cu", "", "doejane_1_99999999999999999999_x.cu", false },
        /* Gradescope */
        { "submission_42", true, "gradescope", "submission_42", "", "", false },
        { "submission_42", false, "plain", "submission_42", "", "submission_42", false },
        { "submission_", true, "plain", "submission_", "", "", false },
        /* One folder or archive per student */
        { "jane", true, "plain", "jane", "", "", false },
        { "jane.zip", false, "plain", "jane", "", "jane.zip", false },
        { "jane.tar.gz", false, "plain", "jane", "", "jane.tar.gz", false },
        { "jane.TGZ", false, "plain", "jane", "", "jane.TGZ", false },
        { ".zip", false, "plain", ".zip", "", ".zip", false },
        { "jane.zip", true, "plain", "jane.zip", "", "", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Owner owner;
        lms_owner(rows[i].top, rows[i].is_folder, &owner);
        CU_ASSERT_STRING_EQUAL(owner.layout, rows[i].layout);
        CU_ASSERT_STRING_EQUAL(owner.student, rows[i].student);
        CU_ASSERT_STRING_EQUAL(owner.number, rows[i].number);
        CU_ASSERT_STRING_EQUAL(owner.file, rows[i].file);
        CU_ASSERT_EQUAL(owner.late, rows[i].late);
        CU_ASSERT_EQUAL(lms_knows(rows[i].top, rows[i].is_folder),
                        strcmp(rows[i].layout, "plain") != 0);
    }
}

static void paths(void)
{
    static const struct {
        const char *path, *clean; /* NULL: an error */
    } rows[] = {
        { "a/b.cu", "a/b.cu" },
        { "./a//b/./c", "a/b/c" },
        { "a/", "a" },
        { "a\\b.cu", "a/b.cu" },
        { "..a/b..", "..a/b.." },
        { "a\nb\x1b[2J", "a\xe2\x90\x8a"
                         "b\xe2\x90\x9b[2J" },
        { "caf\xc3\xa9", "caf\xc3\xa9" },
        { "caf\xe9", "caf\xc3\xa9" }, /* Latin-1 */
        { "M\xfcller", "M\xc3\xbcller" },
        { "M\xf6ller", "M\xc3\xb6ller" },
        { "over\xc0\xaflong", "over\xc3\x80\xc2\xaflong" },
        { "half\xed\xa0\x80", "half\xc3\xad\xc2\xa0?" }, /* half of a UTF-16 pair */
        { "far\xf4\x90\x80\x80", "far\xc3\xb4???" },     /* beyond U+10FFFF */
        { "turn\xe2\x80\xaered", "turn???red" },
        { "../a", NULL },
        { "a/../../b", NULL },
        { "a\\..\\b", NULL },
        { "/a", NULL },
        { "\\\\host\\a", NULL },
        { "C:\\a", NULL },
        { "c:/a", NULL },
        { "", NULL },
        { "./.", NULL },
    };
    char clean[SUBMISSION_PATH], deep[200] = "", all[2000] = "",
                                 *wide = xmalloc(SUBMISSION_PATH + 1);

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *fault = path_clean(rows[i].path, clean);
        CU_ASSERT_EQUAL(fault == NULL, rows[i].clean != NULL);
        if (fault)
            APPEND(all, "'%s': %s\n", rows[i].path, fault);
        else if (rows[i].clean)
            CU_ASSERT_STRING_EQUAL(clean, rows[i].clean);
    }
    golden_gradebook("paths", all);
    for (int i = 0; i < SUBMISSION_DEPTH; i++)
        APPEND(deep, "a/");
    CU_ASSERT_PTR_NULL(path_clean(deep, clean));
    APPEND(deep, "a");
    CU_ASSERT_PTR_NOT_NULL(path_clean(deep, clean));
    memset(wide, 'a', SUBMISSION_PATH);
    wide[SUBMISSION_PATH - 1] = 0;
    CU_ASSERT_PTR_NULL(path_clean(wide, clean));
    CU_ASSERT_EQUAL(strlen(clean), SUBMISSION_PATH - 1);
    wide[SUBMISSION_PATH - 1] = 'a';
    wide[SUBMISSION_PATH] = 0;
    CU_ASSERT_PTR_NOT_NULL(path_clean(wide, clean));
    free(wide);
}

/* Tests which of these files is taken. `only`: the only requested lab. */
static void kernels_found(void)
{
    static const struct {
        const char *paths[3];
        const char *only, *lab, *taken; /* taken: the path that is taken, or NULL */
    } rows[] = {
        { { "labs/06_transpose/kernel.cu" }, NULL, "transpose", "labs/06_transpose/kernel.cu" },
        { { "06_transpose/kernel.cu" }, NULL, "transpose", "06_transpose/kernel.cu" },
        { { "x/y/z/06_transpose/kernel.cu" }, NULL, "transpose", "x/y/z/06_transpose/kernel.cu" },
        { { "transpose.cu" }, NULL, "transpose", "transpose.cu" },
        { { "06_transpose-12.cu" }, NULL, "transpose", "06_transpose-12.cu" },
        { { "x/transpose.cu" }, NULL, "transpose", "x/transpose.cu" },
        { { "x/y/transpose.cu" }, NULL, "transpose", NULL },
        { { "transpose/kernel.cu" }, NULL, "transpose", NULL },
        { { "kernel.cu" }, NULL, "transpose", NULL },
        { { "kernel.cu" }, "transpose", "transpose", "kernel.cu" },
        { { "kernel-2.cu" }, "transpose", "transpose", "kernel-2.cu" },
        { { "x/kernel.cu" }, "transpose", "transpose", NULL },
        { { "kernel.cu" }, "reduction", "transpose", NULL },
        /* The file nearer to the top wins; at equal depth neither does. */
        { { "a/06_transpose/kernel.cu", "06_transpose/kernel.cu" },
          NULL,
          "transpose",
          "06_transpose/kernel.cu" },
        { { "06_transpose/kernel.cu", "a/06_transpose/kernel.cu" },
          NULL,
          "transpose",
          "06_transpose/kernel.cu" },
        { { "a/06_transpose/kernel.cu", "b/06_transpose/kernel.cu" }, NULL, "transpose", NULL },
        { { "a/06_transpose/kernel.cu", "b/06_transpose/kernel.cu", "06_transpose/kernel.cu" },
          NULL,
          "transpose",
          "06_transpose/kernel.cu" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Class class = { 0 };
        Submission *submission = class_submission(&class, "x");
        const LabEntry *lab = lab_find(rows[i].lab);
        Extracted found;
        for (int k = 0; k < 3 && rows[i].paths[k]; k++)
            submission_file(submission, rows[i].paths[k], rows[i].paths[k],
                            strlen(rows[i].paths[k]), 1, 0);
        extract_files(submission, NULL,
                      rows[i].only ? (int) (lab_find(rows[i].only) - all_labs) : -1, &found);
        const SubmittedFile *kernel = found.kernel[lab - all_labs];
        CU_ASSERT_EQUAL(kernel != NULL, rows[i].taken != NULL);
        if (kernel && rows[i].taken)
            CU_ASSERT_STRING_EQUAL(kernel->path, rows[i].taken);
        class_free(&class);
    }
}

static void limits_of_a_hand_in(void)
{
    Class class = { 0 };
    Submission *files = class_submission(&class, "a"), *bytes = class_submission(&class, "b");

    for (int i = 0; i < SUBMISSION_FILES; i++)
        submission_file(files, "f", NULL, 0, 0, 0);
    CU_ASSERT_FALSE(files->refused);
    submission_file(files, "one more", NULL, 0, 0, 0);
    CU_ASSERT_TRUE(files->refused);
    CU_ASSERT_EQUAL(files->remark_count, 1);
    submission_file(bytes, "f", NULL, SUBMISSION_BYTES, 0, 0);
    CU_ASSERT_FALSE(bytes->refused);
    submission_file(bytes, "f", NULL, SIZE_MAX, 0, 0);
    CU_ASSERT_TRUE(bytes->refused);
    for (int i = 0; i < 3 * SUBMISSION_REMARKS; i++)
        REMARK(bytes, "note", "x", "%d", i);
    CU_ASSERT_EQUAL(bytes->remark_count, 3 * SUBMISSION_REMARKS + 1);
    class_free(&class);
}

static void gradescope_names(void)
{
    static const char yaml[] =
        "submission_1:\n  :submitters:\n  - :name: Jane \"J\" Doe\n    :sid: '4711'\n"
        "  - :name: \"Ann\"\n    :sid: \"4712\"\n"
        "  :created_at: 2026-10-01T12:30:00+02:00\n  :results:\n"
        "    - :name: no student\nsubmission_2:\n  :submitters:\n  - :name: Bo\n";
    uint64_t random = 4711;

    for (int round = 0; round < 3000; round++) {
        char text[sizeof yaml];
        Class class = { 0 };
        for (int i = 1; i <= 2; i++) {
            char source[32];
            Submission *submission = class_submission(&class, PUT(source, "submission_%d", i));
            submission->layout = "gradescope";
            submission_file(submission, "transpose.cu", "x", 1, 1, 0);
        }
        PUT(text, "%s", yaml);
        for (int i = 0; round && i < 1 + round % 20; i++) /* later rounds damage the text */
            text[next_random(&random) % (sizeof text - 1)] = (char) next_random(&random);
        lms_gradescope(&class, text);
        CU_ASSERT_TRUE(class.count <= 2 + 64);
        if (!round) {
            CU_ASSERT_EQUAL_FATAL(class.count, 3);
            CU_ASSERT_STRING_EQUAL(class.list[0]->student, "Jane \"J\" Doe");
            CU_ASSERT_STRING_EQUAL(class.list[0]->number, "4711");
            CU_ASSERT_EQUAL(class.list[0]->sent, 1790850600); /* 10:30 UTC */
            CU_ASSERT_STRING_EQUAL(class.list[2]->student, "Ann");
            CU_ASSERT_STRING_EQUAL(class.list[2]->number, "4712");
            CU_ASSERT_EQUAL(class.list[2]->count, 1);
            CU_ASSERT_STRING_EQUAL(class.list[1]->student, "Bo");
        }
        class_free(&class);
    }
}

/* Names in the forms that YAML allows. */
static void names_in_yaml(void)
{
    static const struct {
        const char *name, *student;
    } rows[] = {
        { "Jane Doe", "Jane Doe" },
        { "'O''Hara, Jo'", "O'Hara, Jo" },
        { "\"Jos\\xE9 \\\"J\\\" N\"", "Jos\xc3\xa9 \"J\" N" },
        { "\"Anna\n      Maria\"", "Anna Maria" },
        { "Jane # a comment", "Jane" },
        { "[a list]", "submission_1" }, /* no name */
        { "'not closed", "submission_1" },
    };
    char text[200];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Class class = { 0 };
        Submission *submission = class_submission(&class, "submission_1");
        submission->layout = "gradescope";
        PUT(submission->student, "submission_1");
        lms_gradescope(&class,
                       PUT(text, "submission_1:\n  :submitters:\n  - :name: %s\n", rows[i].name));
        CU_ASSERT_STRING_EQUAL(submission->student, rows[i].student);
        CU_ASSERT_EQUAL(class.remark_count, i + 1 == COUNT(rows));
        class_free(&class);
    }
}

/* Earlier, two students called No Sid, neither with a number, counted as one student, and the later
 * file won. */
static void people_of_one_name(void)
{
    static const char yaml[] =
        "submission_1:\n  :submitters:\n  - :name: No Sid\n    :email: a@x.org\n    :sid:\n"
        "submission_2:\n  :submitters:\n  - :name: No Sid\n    :email: b@x.org\n    :sid:\n"
        "submission_3:\n  :submitters:\n  - :name: No Sid\n"
        "submission_4:\n  :submitters:\n  - :name: Only One\n    :email: c@x.org\n";
    static const char *const numbers[] = { "a@x.org", "b@x.org", "submission_3", "" };
    Class class = { 0 };

    for (int i = 1; i <= 4; i++) {
        char source[32];
        class_submission(&class, PUT(source, "submission_%d", i))->layout = "gradescope";
    }
    lms_gradescope(&class, yaml);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_STRING_EQUAL(class.list[i]->number, numbers[i]);
    class_free(&class);
}

/* A class can be sent from one process to another, and any other bytes do no harm.
 */
static void parcels(void)
{
    Class class = { 0 }, arrived;
    Submission *submission = class_submission(&class, "jane.zip");
    char *bytes = NULL, *damaged;
    size_t size = 0;
    uint64_t random = 4712;
    int refused = 0;
    FILE *to = open_memstream(&bytes, &size), *from;

    PUT(submission->student, "Jane");
    PUT(submission->number, "4711");
    submission->layout = "moodle";
    submission->sent = -5;
    submission->late = true;
    submission_file(submission, "transpose.cu", "x\0y", 3, 77, 1234);
    submission_file(submission, "large.bin", NULL, 1 << 20, 78, 0);
    REMARK(submission, "refused", "a", "b");
    for (int i = 0; i < 2 * SUBMISSION_REMARKS; i++)
        REMARK(&class, "extra", "c", "%d", i);
    class_submission(&class, "empty")->layout = "plain";
    CU_ASSERT_TRUE(serialize(&class, to));
    fclose(to);
    from = fmemopen(bytes, size, "r");
    CU_ASSERT_TRUE(deserialize(from, &arrived));
    fclose(from);
    CU_ASSERT_EQUAL_FATAL(arrived.count, 2);
    CU_ASSERT_EQUAL(arrived.remark_count, 2 * SUBMISSION_REMARKS);
    CU_ASSERT_STRING_EQUAL(arrived.list[0]->student, "Jane");
    CU_ASSERT_STRING_EQUAL(arrived.list[0]->layout, "moodle");
    CU_ASSERT_EQUAL(arrived.list[0]->sent, -5);
    CU_ASSERT_TRUE(arrived.list[0]->late);
    CU_ASSERT_EQUAL_FATAL(arrived.list[0]->count, 2);
    CU_ASSERT_EQUAL(memcmp(arrived.list[0]->files[0].text, "x\0y", 4), 0);
    CU_ASSERT_EQUAL(arrived.list[0]->files[1].hash, 78);
    CU_ASSERT_EQUAL(arrived.list[0]->files[0].changed, 1234);
    CU_ASSERT_EQUAL(arrived.list[0]->remark_count, 1);
    class_free(&arrived);
    damaged = xmalloc(size);
    for (int round = 0; round < 5000; round++) {
        size_t cut = round % 3 ? size : 1 + next_random(&random) % size;
        memcpy(damaged, bytes, size);
        for (int i = 0; i <= round % 4; i++)
            damaged[next_random(&random) % size] = (char) next_random(&random);
        from = fmemopen(damaged, cut, "r");
        refused += !deserialize(from, &arrived);
        fclose(from);
        class_free(&arrived);
    }
    CU_ASSERT_TRUE(refused > 1000);
    free(damaged);
    free(bytes);
    class_free(&class);
}

CU_SuiteInfo test_gradebook_names = {
    "gradebook names",
    .pTests =
        (CU_TestInfo[]){
            { "owners", owners },
            { "paths", paths },
            { "names of Gradescope", gradescope_names },
            { "names in YAML", names_in_yaml },
            { "people with the same name", people_of_one_name },
            { "serialized classes", parcels },
            { "kernels are found", kernels_found },
            { "limits of a submission", limits_of_a_hand_in },
            CU_TEST_INFO_NULL,
        },
};
