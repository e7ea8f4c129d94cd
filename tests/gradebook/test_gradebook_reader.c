/* test_gradebook_reader.c - one student's submission must not prevent reading the others. */
#include "gradebook/import/reader.h"
#include "rows.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

/* Earlier, one student's zips of 36 MB unpacked to more than the reader accepts for a class, and
 * the message did not name the student. */
static void kept_text_has_a_limit(void)
{
    Class class = { 0 };
    Submission *submission = class_submission(&class, "doe");
    char *text = xcalloc(1, KERNEL_BYTES), path[40];
    size_t kept = 0;

    for (int i = 0; i < SUBMISSION_TEXT_BYTES / KERNEL_BYTES; i++)
        submission_file(submission, PUT(path, "%d/kernel.cu", i), text, KERNEL_BYTES, 1, 0);
    CU_ASSERT_FALSE(submission->refused);
    CU_ASSERT_PTR_NOT_NULL(submission->files[0].text);
    submission_file(submission, "one/more.cu", "x", 1, 1, 0);
    CU_ASSERT_TRUE(submission->refused);
    for (int i = 0; i < submission->count; i++)
        kept += submission->files[i].text != NULL;
    CU_ASSERT_EQUAL(kept, 0);
    free(text);
    class_free(&class);
}

static void write_kernel(const char *path)
{
    FILE *file = fopen(path, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "int x;\n");
    fclose(file);
}

/* Creates two students, one of whom submits many archives, all invalid. */
static void hand_ins_of_a_student_have_a_limit(void)
{
    char folder[] = "/tmp/intake-XXXXXX", path[100], why[300], command[100];
    Class class;
    int refused_late = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    mkdir(PUT(path, "%s/doe", folder), 0700);
    mkdir(PUT(path, "%s/roe", folder), 0700);
    write_kernel(PUT(path, "%s/roe/kernel.cu", folder));
    for (int i = 0; i < SUBMISSIONS_PER_STUDENT + 5; i++)
        write_kernel(PUT(path, "%s/doe/%03d.zip", folder, i));
    CU_ASSERT_TRUE(reader_read(folder, &class, why, sizeof why));
    for (int i = 0; i < class.count; i++) {
        const Submission *submission = class.list[i];
        if (!strcmp(submission->student, "roe"))
            CU_ASSERT_FALSE(submission->refused);
        if (submission->remark_count && strstr(submission->remarks[0].sentence, "64 submissions"))
            refused_late++;
    }
    CU_ASSERT_EQUAL(refused_late, 5);
    class_free(&class);
    CU_ASSERT_EQUAL(system(PUT(command, "rm -r %s", folder)), 0);
}

static int by_source(const void *a, const void *b)
{
    return strcmp((*(Submission *const *) a)->source, (*(Submission *const *) b)->source);
}

static char top[] = "/tmp/intake-XXXXXX";

static void write_file_of(const char *path)
{
    char whole[300], *slash;

    PUT(whole, "%s/%s", top, path);
    slash = strrchr(whole, '/');
    *slash = 0;
    CU_ASSERT_TRUE_FATAL(make_folders(whole));
    *slash = '/';
    write_kernel(whole);
}

/* Files, and what is read: "export:student(number) files refused;" in the order of their
 * sources. */
static void layouts(void)
{
    static const struct {
        const char *files[5], *read;
    } rows[] = {
        { { "jane/06_transpose/kernel.cu", "joe/kernel.cu" }, ":jane() 1;:joe() 1;" },
        /* Archives of other kinds: the student is listed. */
        { { "jane.rar", "joe/lab.7z" }, ":jane() 0 refused;:joe() 0 refused;" },
        { { "jane.zip", "joe/kernel.cu" }, ":jane() 0 refused;:joe() 1;" }, /* damaged */
        { { "joe/kernel.cu", "joe/old.rar" }, ":joe() 1;:joe() 0 refused;" },
        { { "Jo_1_assignsubmission_file_/a.rar", "Al_2_assignsubmission_file_/k.cu" },
          ":Al(2) 1;:Jo(1) 0 refused;" },
        { { "joe_4711_900_k.rar", "al_4712_901_k.cu" }, ":al(4712) 1;:joe(4711) 0 refused;" },
        /* Text typed into Moodle is no other student. */
        { { "Jo_1_assignsubmission_file_/k.cu", "Jo_1_assignsubmission_onlinetext_/onlinetext.html",
            "Al_2_assignsubmission_file_/k.cu" },
          ":Al(2) 1;:Jo(1) 1;:Jo(1) 0;" },
        /* Several exports */
        { { "Lab 1/Jo_1_assignsubmission_file_/k.cu", "Lab 6/Jo_7_assignsubmission_file_/k.cu" },
          "Lab 1:Jo(1) 1;Lab 6:Jo(7) 1;" },
        { { "Lab 1/x/Jo_1_assignsubmission_file_/k.cu", "Lab 1/x/Al_2_assignsubmission_file_/k.cu",
            "roster.csv" },
          "Lab 1:Al(2) 1;Lab 1:Jo(1) 1;" },
        /* A student's folder that looks like an export is his own, among others' folders. */
        { { "jane/Jo_1_assignsubmission_file_/kernel.cu", "joe/kernel.cu" },
          ":jane() 1;:joe() 1;" },
        { { "jane/lab_6_2_new.cu", "joe/lab_6_3_new.cu" }, ":jane() 1;:joe() 1;" },
        /* Names that were one "M?ller", or one "a?b" */
        { { "M\xfcller/k.cu", "M\xf6ller/k.cu" }, ":M\xc3\xb6ller() 1;:M\xc3\xbcller() 1;" },
        { { "a\tb/k.cu", "a\nb/k.cu", "a\x80z/k.cu", "a\x81z/k.cu" },
          ":a{80}z() 1;:a{81}z() 1;:a\xe2\x90\x89"
          "b() 1;:a\xe2\x90\x8a"
          "b() 1;" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char why[300], text[600] = "";
        Class class;
        PUT(top, "/tmp/intake-XXXXXX");
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
        for (int k = 0; k < 5 && rows[i].files[k]; k++)
            write_file_of(rows[i].files[k]);
        if (!reader_read(top, &class, why, sizeof why))
            FAIL_SAYING("row %zu: %s", i, why);
        if (class.count)
            qsort(class.list, (size_t) class.count, sizeof *class.list, by_source);
        for (int k = 0; k < class.count; k++) {
            const Submission *s = class.list[k];
            APPEND(text, "%s:%s(%s) %d%s;", s->export, s->student, s->number, s->count,
                   s->refused ? " refused" : "");
        }
        CU_ASSERT_STRING_EQUAL(text, rows[i].read);
        if (strcmp(text, rows[i].read))
            FAIL_SAYING("row %zu: %s", i, text);
        class_free(&class);
        remove_tree(top);
    }
}

/* Earlier, a newer file next to the kernels made the whole folder late. */
static void neighbours_have_no_time(void)
{
    static const struct {
        const char *file;
        time_t time;
    } files[] = { { "jane/01_coalescing/kernel.cu", 1000 },
                  { "jane/06_transpose/kernel.cu", 3000 },
                  { "jane/a.txt", 9000 },
                  { "jane/z.txt", 9000 },
                  { "joe/report.pdf", 5000 } };
    char why[300], path[300];
    Class class;

    PUT(top, "/tmp/intake-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
    for (size_t i = 0; i < COUNT(files); i++) {
        write_file_of(files[i].file);
        utime(PUT(path, "%s/%s", top, files[i].file),
              &(struct utimbuf){ files[i].time, files[i].time });
    }
    CU_ASSERT_TRUE(reader_read(top, &class, why, sizeof why));
    CU_ASSERT_EQUAL_FATAL(class.count, 2);
    CU_ASSERT_EQUAL(class.list[0]->sent, 3000);
    CU_ASSERT_EQUAL(class.list[1]->sent, 5000);
    class_free(&class);
    remove_tree(top);
}

CU_SuiteInfo test_gradebook_reader = {
    "gradebook reader",
    .pTests =
        (CU_TestInfo[]){
            { "kept text has a limit", kept_text_has_a_limit },
            { "submissions per student have a limit", hand_ins_of_a_student_have_a_limit },
            { "layouts of a class", layouts },
            { "neighbours have no time", neighbours_have_no_time },
            CU_TEST_INFO_NULL,
        },
};
