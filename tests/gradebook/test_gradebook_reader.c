/* test_gradebook_reader.c - one student's submission must not prevent reading the others. */
#include "gradebook/import/reader.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

CU_SuiteInfo test_gradebook_reader = {
    "gradebook reader",
    .pTests =
        (CU_TestInfo[]){
            { "kept text has a limit", kept_text_has_a_limit },
            { "submissions per student have a limit", hand_ins_of_a_student_have_a_limit },
            CU_TEST_INFO_NULL,
        },
};
