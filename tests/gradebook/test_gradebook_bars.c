/* test_gradebook_bars.c - a changed bar is applied to stored speeds. */
#include "gradebook/store/attempt.h"
#include "rig.h"
#include "gradebook/store/judged.h"
#include "gradebook/store/terms.h"
#include "gradebook/report/results_query.h"
#include "rows.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], file[80];
static Store store;
static bool requested[LABS];

/* Ann's kernel is graded as each row says; then the bars change. */
typedef struct Stored {
    const char *verdict, *bar, *figures; /* of the case flat; of square: far above its bar */
} Stored;

static const char *const cases = "case.1.label:flat\ncase.1.kind:timed\n"
                                 "case.2.label:square\ncase.2.kind:timed\ncase.2.bar:0.75\n"
                                 "case.2.ratio:0.95\ncase.2.ratio_lo:0.94\ncase.2.ratio_hi:0.96\n"
                                 "case.2.blocks:30\ncase.2.pairs:1\ncase.2.floor:0.21\n";

static int begin(void)
{
    memset(requested, 0, sizeof requested);
    requested[lab_find("transpose") - all_labs] = true;
    return rig_open(&store, folder, file);
}

static int end(void)
{
    return rig_close(&store, folder);
}

/* Starts with an empty gradebook of one student. */
static void start_again(void)
{
    Class class = { 0 };
    ImportCounts counts;
    Submission *submission;

    end();
    CU_ASSERT_EQUAL_FATAL(begin(), 0);
    submission = class_submission(&class, "ann");
    PUT(submission->student, "ann");
    submission->layout = "plain";
    submission_file(submission, "06_transpose/kernel.cu", "int a;", 6, 1, 0);
    import_plainly(&store, &class, requested, &counts);
    class_free(&class);
}

/* Records a grading, as it would have been under the current terms. */
static void record(const Stored *stored)
{
    char text[1000];
    Program program = { .out = { .fd = -1, .text = text, .size = 9999 },
                        .errors = { .fd = -1, .text = "" },
                        .began_s = now_s() };
    Task task = { .kernel = 1, .lab = (int) (lab_find("transpose") - all_labs) };
    Attempt attempt;

    PUT(text,
        "format:1\ndevice:A GPU\nlab:06_transpose\nverdict:%s\nratio:0.5\n"
        "why:as graded\n%scase.1.bar:%s\n%send:06_transpose\n",
        stored->verdict, cases, stored->bar, stored->figures);
    task.number = 1 + (int) store_number(&store, 0, "SELECT count(*) FROM attempts", "");
    program.out.used = program.out.bytes = strlen(text);
    attempt_of(&program, "06_transpose", "0", &attempt);
    CU_ASSERT_STRING_EQUAL(attempt.outcome, "graded");
    attempt_record(&store, &task, &attempt);
    attempt_free(&attempt);
}

static void set_bar(const char *bar)
{
    char text[100], *reported;

    PUT(text, "[6]\nbar = 0.75\nbar of flat = %s\n", bar);
    CU_ASSERT_TRUE_FATAL(write_file(file, text, strlen(text)));
    CU_ASSERT_TRUE_FATAL(terms_load(&store, file, &reported));
}

/* What the report says about ann. */
static double report(char state[20], char why[200])
{
    sqlite3_stmt *rows = rows_ask(&store);
    double marks = -1;
    Row row;

    put(state, 20, "no row");
    while (rows_next(&store, rows, &row)) {
        put(state, 20, "%s", row.state);
        put(why, 200, "%s", row.why);
        if (row.has_marks)
            marks = row.marks;
    }
    return marks;
}

/* What `gradebook grade` would do: the number of kernels to grade. */
static int grade(void)
{
    Queue queue;
    int count;

    terms_keep(&store);
    judged_find(&store);
    judged_request(&store, "06_transpose");
    queue_read(&store, requested, 0, &queue);
    count = queue.count;
    queue_free(&queue);
    return count;
}

#define RATIO(median, lo, hi, more)                                                                \
    "case.1.ratio:" median "\ncase.1.ratio_lo:" lo "\ncase.1.ratio_hi:" hi "\n" more
#define MEASURED "case.1.blocks:30\ncase.1.pairs:1\n"

static const Stored slow = { "slow", "0.75",
                             RATIO("0.6", "0.58", "0.62", MEASURED "case.1.floor:0.2\n") };
static const Stored pass = { "pass", "0.75", RATIO("0.9", "0.88", "0.92", MEASURED) };
static const Stored close_by = {
    "close", "0.75", RATIO("0.75", "0.74", "0.76", "case.1.blocks:180\ncase.1.pairs:6\n")
};
static const Stored too_noisy = { "correct", "0.75", "case.1.saw:noisy\n" };
static const Stored wrong = { "wrong", "0.75", "" };
static const Stored modelled = {
    "pass", "0.75", RATIO("0.9", "0.9", "0.9", "case.1.clock:modelled\ncase.1.floor:0.2\n")
};

static void one_changed_bar(void)
{
    static const struct {
        const Stored *stored;
        const char *bar, *state, *why;
        double marks; /* the mean of two cases, the other one with 100; -1: open */
        int to_grade;
    } rows[] = {
        { &slow, "0.75", "slow", "as graded", 93.182, 0 },
        { &slow, "0.55", "pass", "", 100, 0 },                   /* down */
        { &slow, "0.90", "slow", "the bar is 0.90", 89.286, 0 }, /* up */
        { &slow, "0.59", "queued", "cannot decide", -1, 1 },     /* in its interval */
        { &pass, "0.95", "queued", "cannot decide", -1, 1 },     /* rung 1 is unknown */
        { &pass, "0.85", "pass", "", 100, 0 },
        { &close_by, "0.75", "close", "as graded", 100, 0 },
        { &close_by, "0.7", "pass", "", 100, 0 },
        { &close_by, "0.755", "queued", "cannot decide", -1, 1 },
        { &too_noisy, "0.5", "correct", "its speed was not judged", 50, 0 },
        { &wrong, "0.5", "wrong", "as graded", 0, 0 },
        { &modelled, "0.95", "slow", "0.90 of the reference's speed, the bar is 0.95", 98.333, 0 },
        { &modelled, "0.9", "pass", "", 100, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char state[20], why[200];
        double marks;
        start_again();
        set_bar("0.75");
        terms_keep(&store);
        record(rows[i].stored);
        set_bar(rows[i].bar);
        marks = report(state, why); /* before it is stored: `report --course` */
        if (strcmp(state, rows[i].state) || !strstr(why, rows[i].why) ||
            fabs(marks - rows[i].marks) > 0.001)
            FAIL_SAYING("row %zu: %s, %s, %.3f", i, state, why, marks);
        CU_ASSERT_EQUAL(grade(), rows[i].to_grade);
        CU_ASSERT_EQUAL(grade(), rows[i].to_grade); /* requested once */
        CU_ASSERT_EQUAL(store_number(&store, -1, "SELECT count(*) FROM regrades", ""),
                        rows[i].to_grade);
    }
}

/* One student over a term: the bar changes, and changes back. */
static void back_again(void)
{
    static const Stored again = { "pass", "0.59", RATIO("0.605", "0.60", "0.61", MEASURED) };
    char state[20], why[200];
    double before;

    start_again();
    set_bar("0.75");
    CU_ASSERT_EQUAL(grade(), 1);
    record(&slow);
    CU_ASSERT_EQUAL(grade(), 0);
    before = report(state, why);
    CU_ASSERT_STRING_EQUAL(state, "slow");
    set_bar("0.59");
    CU_ASSERT_EQUAL(grade(), 1);
    set_bar("0.75"); /* before it was graded again */
    CU_ASSERT_EQUAL(grade(), 0);
    CU_ASSERT_DOUBLE_EQUAL(report(state, why), before, 1e-9);
    CU_ASSERT_STRING_EQUAL(why, "as graded");
    set_bar("0.59");
    CU_ASSERT_EQUAL(grade(), 1);
    record(&again);
    CU_ASSERT_EQUAL(grade(), 0);
    CU_ASSERT_EQUAL(report(state, why), 100);
    set_bar("0.75"); /* the newest grading decides here, too; rung 1 is known from the first */
    CU_ASSERT_EQUAL(grade(), 0);
    CU_ASSERT_TRUE(report(state, why) > 50);
    CU_ASSERT_STRING_EQUAL(state, "slow");
    set_bar("0.603"); /* within 1 % of the newest, but clear of the first */
    CU_ASSERT_EQUAL(grade(), 0 + 1);
    set_bar("0.625"); /* as before, and above the first */
    CU_ASSERT_EQUAL(grade(), 0);
    CU_ASSERT_TRUE(report(state, why) > 50);
    CU_ASSERT_STRING_EQUAL(state, "slow");
}

CU_SuiteInfo test_gradebook_bars = {
    "gradebook bars",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "one changed bar", one_changed_bar },
            { "back again", back_again },
            CU_TEST_INFO_NULL,
        },
};
