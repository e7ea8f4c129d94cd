/* test_report_lines.c - key:value lines of a result: which numbers accompany what was seen. */
#include "capture.h"
#include "learner/report.h"

#include <CUnit/CUnit.h>

static const Lab lab = { .title = "a lab" };
static const LabEntry entry = { .folder = "01_lab", .lab = &lab };

/* A 1 x 1 output has no pattern, so nothing but its numbers says what was wrong. They were missing
 * then, because only a diagnosis with a word was printed. */
static const struct {
    const char *name;
    Diagnosis diagnosis;
    const char *has, *lacks; /* NULL: nothing of that kind */
} rows[] = {
    { "nothing seen", { .saw = 0 }, NULL, "\nsaw" },
    { "a pattern",
      { .saw = SAW(SAW_UNWRITTEN), .wrong = 2, .compared = 9, .element = 7, .want = 1 },
      "saw:unwritten\nsaw.element:7\nsaw.wrong:2\nsaw.compared:9\nsaw.got:0\nsaw.want:1\n",
      NULL },
    { "no pattern",
      { .wrong = 1, .compared = 1, .got = 0, .want = 3 },
      "saw.element:0\nsaw.wrong:1\nsaw.compared:1\nsaw.got:0\nsaw.want:3\n",
      "\nsaw:" },
};

static void numbers_accompany_what_was_seen(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Result result = { .entry = &entry, .verdict = WRONG, .diagnosis = rows[i].diagnosis };
        Capture capture;

        capture_begin(&capture, stdout);
        report_lines(&result);
        const char *text = capture_end(&capture);
        bool right = (!rows[i].has || strstr(text, rows[i].has)) &&
                     (!rows[i].lacks || !strstr(text, rows[i].lacks));
        CU_ASSERT_TRUE(right);
        if (!right)
            printf("\n    %s:\n%s", rows[i].name, text);
    }
}

CU_SuiteInfo test_report_lines = {
    "report_lines",
    .pTests =
        (CU_TestInfo[]){
            { "numbers accompany what was seen", numbers_accompany_what_was_seen },
            CU_TEST_INFO_NULL,
        },
};
