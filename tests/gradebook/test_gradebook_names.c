/* test_gradebook_names.c - the owner and the lab of a file, from names that students choose. */
#include "gradebook/import/extract.h"
#include "gradebook/import/lab_names.h"
#include "gradebook/import/lms.h"
#include "gradebook/import/serialize.h"
#include "base/util.h"
#include "golden.h"

#include "rows.h"
#include <stdlib.h>
#include <string.h>

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
        { "anon_aB3dE_907_kernel.cu", false, "canvas", "anon_aB3dE", "", "kernel.cu", false },
        { "anon_12345_LATE_907_k.cu", false, "canvas", "anon_12345", "", "k.cu", true },
        { "anon_4711_907_k.cu", false, "canvas", "anon", "4711", "k.cu", false },
        /* Text typed into Moodle is the same student's. */
        { "Jo_1_assignsubmission_onlinetext_", true, "moodle", "Jo", "1", "", false },
        { "Jo_1_assignsubmission_onlinetext_onlinetext.html", false, "moodle", "Jo", "1",
          "onlinetext.html", false },
        { "Jo_1_assignsubmission_comments_", true, "plain", "Jo_1_assignsubmission_comments_", "",
          "", false },
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
        { "jane.rar", false, "plain", "jane", "", "jane.rar", false },
        { "jane.7Z", false, "plain", "jane", "", "jane.7Z", false },
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
        { "Mu\xcc\x88ller", "M\xc3\xbcller" }, /* macOS: u and a combining mark */
        { "S\xcc\x8cimek", "\xc5\xa0imek" },
        { "x\xcc\x88", "x\xcc\x88" },
        { "M\xf6ller", "M\xc3\xb6ller" },
        { "over\xc0\xaflong", "over\xc3\x80\xc2\xaflong" },
        { "half\xed\xa0\x80", "half\xc3\xad\xc2\xa0{80}" },   /* half of a UTF-16 pair */
        { "far\xf4\x90\x80\x80", "far\xc3\xb4{90}{80}{80}" }, /* beyond U+10FFFF */
        { "a\tb", "a\xe2\x90\x89"
                  "b" }, /* different from "a\nb" */
        { "turn\xe2\x80\xaered", "turn{202e}red" },
        { "turn\xe2\x81\xa6red", "turn{2066}red" },
        { "next\xc2\x85line", "next{85}line" },
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
        { { "transpose/kernel.cu" }, NULL, "transpose", "transpose/kernel.cu" },
        { { "kernel.cu" }, NULL, "transpose", NULL },
        { { "kernel.cu" }, "transpose", "transpose", "kernel.cu" },
        { { "kernel-2.cu" }, "transpose", "transpose", "kernel-2.cu" },
        { { "x/kernel.cu" }, "transpose", "transpose", "x/kernel.cu" },
        { { "x/y/kernel.cu" }, "transpose", "transpose", NULL },
        { { "Lab 12/kernel.cu" }, "transpose", "transpose", NULL },
        { { "07_reduction/kernel.cu" }, "transpose", "transpose", NULL },
        /* Nearly right names */
        { { "Lab 6/kernel.cu" }, NULL, "transpose", "Lab 6/kernel.cu" },
        { { "lab06/Kernel.cu" }, NULL, "transpose", "lab06/Kernel.cu" },
        { { "06 transpose/kernel.cu" }, NULL, "transpose", "06 transpose/kernel.cu" },
        { { "a/06_Transpose (1)/kernel.cu" }, NULL, "transpose", "a/06_Transpose (1)/kernel.cu" },
        { { "06/kernel.cu" }, NULL, "transpose", "06/kernel.cu" },
        { { "6/kernel.cu" }, NULL, "transpose", NULL },
        { { "2 bank conflicts/kernel.cu" }, NULL, "bank_conflicts", "2 bank conflicts/kernel.cu" },
        { { "06 reduction/kernel.cu" }, NULL, "transpose", NULL }, /* 06, or reduction? */
        { { "06_transpose/KERNEL.CU" }, NULL, "transpose", "06_transpose/KERNEL.CU" },
        { { "06_transpose/kernel (1).cu" }, NULL, "transpose", "06_transpose/kernel (1).cu" },
        { { "06_transpose/kernel - Copy.cu" }, NULL, "transpose", "06_transpose/kernel - Copy.cu" },
        { { "06_transpose/kernel copy 2.cu" }, NULL, "transpose", "06_transpose/kernel copy 2.cu" },
        { { "06_transpose/kernel.cu.txt" }, NULL, "transpose", "06_transpose/kernel.cu.txt" },
        { { "06_transpose/kernel.cpp" }, NULL, "transpose", "06_transpose/kernel.cpp" },
        { { "06_transpose/my_kernel.cu" }, NULL, "transpose", NULL },
        { { "06_transpose/kernels.cu" }, NULL, "transpose", NULL },
        { { "transpose (1).cu" }, NULL, "transpose", "transpose (1).cu" },
        { { "Transpose.cu" }, NULL, "transpose", "Transpose.cu" },
        { { "Lab 6.cu" }, NULL, "transpose", "Lab 6.cu" },
        { { "06.cu" }, NULL, "transpose", NULL },
        { { "Kernel.cu" }, "transpose", "transpose", "Kernel.cu" },
        { { "kernel_2.cu" }, "transpose", "transpose", "kernel_2.cu" },
        { { "()).cu", "(.cu", ".cu" }, "transpose", "transpose", NULL },
        /* An exact name wins, however deep it is; two nearly right ones do not decide. */
        { { "06_transpose/kernel (1).cu", "a/06_transpose/kernel.cu" },
          NULL,
          "transpose",
          "a/06_transpose/kernel.cu" },
        { { "06_transpose/kernel (1).cu", "06_transpose/Kernel.cu" }, NULL, "transpose", NULL },
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

static int remarks_of(const Submission *submission, const char *kind)
{
    int count = 0;

    for (int i = 0; i < submission->remark_count; i++)
        count += !strcmp(submission->remarks[i].kind, kind);
    return count;
}

static void near_names_are_said(void)
{
    static const struct {
        const char *path;
        int matched;
    } rows[] = {
        { "06_transpose/kernel.cu", 0 },
        { "transpose-1.cu", 0 },
        { "06_transpose/kernel (1).cu", 1 },
        { "Lab 6/kernel.cu", 1 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Class class = { 0 };
        Submission *submission = class_submission(&class, "x");
        Extracted found;
        submission_file(submission, rows[i].path, "x", 1, 1, 0);
        extract_files(submission, NULL, -1, &found);
        CU_ASSERT_EQUAL(remarks_of(submission, "matched"), rows[i].matched);
        class_free(&class);
    }
}

/* Earlier, kernel.cu and kernel-1.cu of one student were ambiguous, although Canvas numbers files
 * in the order in which they arrive. */
static void the_later_file_counts(void)
{
    static const struct {
        int64_t order[2];
        int taken; /* -1: neither */
    } rows[] = { { { 900, 901 }, 1 }, { { 901, 900 }, 0 }, { { 0, 0 }, -1 }, { { 900, 0 }, -1 } };
    int lab = (int) (lab_find("transpose") - all_labs);

    for (size_t i = 0; i < COUNT(rows); i++) {
        Class class = { 0 };
        Submission *submission = class_submission(&class, "x");
        Extracted found;
        submission_file(submission, "kernel.cu", "a", 1, 1, 0);
        submission_file(submission, "kernel-1.cu", "b", 1, 2, 0);
        for (int k = 0; k < 2; k++)
            submission->files[k].order = rows[i].order[k];
        extract_files(submission, NULL, lab, &found);
        CU_ASSERT_PTR_EQUAL(found.kernel[lab],
                            rows[i].taken < 0 ? NULL : &submission->files[rows[i].taken]);
        class_free(&class);
    }
}

static void labs_in_a_text(void)
{
    static const struct {
        const char *text, *lab;
    } rows[] = {
        { "Lab 6", "transpose" },
        { "CS 101-Lab 6-12345", "transpose" },
        { "moodle_lab1", "coalescing" },
        { "transpose, 2nd try", "transpose" },
        { "02 Bank Conflicts", "bank_conflicts" },
        { "Lab 1 and Lab 6", NULL },
        { "the first week", NULL },
        { "week 6", NULL },
        { "lab 99", NULL },
        { "", NULL },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int lab = lab_in_text(rows[i].text);
        CU_ASSERT_STRING_EQUAL(lab < 0 ? "none" : lab_name(&all_labs[lab]),
                               rows[i].lab ? rows[i].lab : "none");
    }
}

/* Names of random parts cause no fault, and what they become is bounded, printable and the same
 * each time. */
static void random_names(void)
{
    static const char *const parts[] = { "kernel",
                                         "Lab",
                                         "6",
                                         "06",
                                         "_",
                                         "-",
                                         " ",
                                         "(1)",
                                         ")",
                                         "(",
                                         " - Copy",
                                         ".cu",
                                         ".CU",
                                         "/",
                                         ".txt",
                                         ".cpp",
                                         "copy",
                                         "transpose",
                                         "_assignsubmission_",
                                         "file",
                                         "onlinetext",
                                         "anon_",
                                         "aB3dE",
                                         "_907_",
                                         "LATE_",
                                         "\xff",
                                         "\xc3",
                                         "\xe2\x80\xae",
                                         "\t",
                                         "999999999999999999999",
                                         ".rar",
                                         "submission_" };
    uint64_t random = 4713;

    for (int round = 0; round < 20000; round++) {
        char name[400] = "", shown[SUBMISSION_PATH], again[SUBMISSION_PATH];
        Owner owner;
        LabFile file;
        for (int i = 0; i < (int) (next_random(&random) % 12); i++)
            APPEND(name, "%s", parts[next_random(&random) % COUNT(parts)]);
        CU_ASSERT_TRUE(show_apart(name, shown, sizeof shown));
        PUT(again, "%s", shown);
        if (strcmp(show(again), shown))
            FAIL_SAYING("not printable: %s", shown);
        lms_owner(shown, round % 2, &owner);
        CU_ASSERT_PTR_NOT_NULL(strstr(shown, owner.file));
        file = lab_of_file(shown, round % 3 - 1);
        CU_ASSERT_TRUE(file.lab >= -1 && file.lab < LABS);
        lab_in_text(shown);
        path_foreign_archive(shown);
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
    PUT(submission->email, "j@x.org");
    PUT(submission->export, "Lab 6");
    submission->layout = "moodle";
    submission->sent = -5;
    submission->late = true;
    submission_file(submission, "transpose.cu", "x\0y", 3, 77, 1234);
    submission->files[0].order = 901;
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
    CU_ASSERT_STRING_EQUAL(arrived.list[0]->email, "j@x.org");
    CU_ASSERT_STRING_EQUAL(arrived.list[0]->export, "Lab 6");
    CU_ASSERT_EQUAL(arrived.list[0]->files[0].order, 901);
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
            { "nearly right names are said", near_names_are_said },
            { "Canvas's later file counts", the_later_file_counts },
            { "labs in a text", labs_in_a_text },
            { "random names", random_names },
            CU_TEST_INFO_NULL,
        },
};
