/* test_selfcheck.c - what `make check` reads in the source of kernels. */
#include "judge/selfcheck.h"

#include <CUnit/CUnit.h>
#include <string.h>

static void first_lines_promise_a_verdict(void)
{
    static const struct {
        const char *source, *word; /* NULL: no expectation */
        bool simulated;
    } rows[] = {
        { "// rung: 3, expect: slow - idea\nint x;\n", "slow" },
        { "// expect: wrong\n", "wrong" },
        { "// expect:pass", "pass" },
        { "// rung: beyond, expect: device: hardware decides\n", "device" },
        { "int x; // expect: pass\n", NULL },
        { "// a kernel\n// expect: pass\n", NULL },
        { "// expect: \n", NULL },
        { "// expect: 7\n", NULL },
        { "// expect: averyveryverylongword\n", NULL },
        { "// expect: suspect, interference - why\n", "suspect" },
        { "", NULL },
        { "// expect: wrong (sim: unsafe) - why\n", "wrong" },
        { "// expect: wrong (sim: unsafe) - why\n", "unsafe", true },
        { "// expect: slow, clock (sim: skipped) - why\n", "skipped", true },
        { "// expect: wrong - why\n// (sim: unsafe)\n", "wrong", true },
        { "// (sim: unsafe)\n", NULL, true },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char word[16] = "";
        bool found = expectation(rows[i].source, rows[i].simulated, word, sizeof word);
        CU_ASSERT_EQUAL(found, rows[i].word != NULL);
        if (found && rows[i].word)
            CU_ASSERT_STRING_EQUAL(word, rows[i].word);
    }
}

/* Before compute capability 8.0, cp.async is an ordinary copy, so a kernel that does not wait for
 * it is correct there. */
static void some_files_need_newer_devices(void)
{
    static const struct {
        const char *source;
        int cc;
    } rows[] = {
        { "// expect: unsafe (from cc 8.0) - why\n", 80 },
        { "// rung: beyond, expect: pass (from cc 12.1) - idea\n", 121 },
        { "// expect: unsafe - why\n", 0 },
        { "// expect: unsafe - why\n// (from cc 8.0)\n", 0 },
        { "// expect: unsafe (from cc eight)\n", 0 },
        { "", 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(least_cc(rows[i].source), rows[i].cc);
}

static void learning_only_adds(void)
{
    static const char rung[] = "// rung: 1\nint f()\n{\n    int a = 1;\n\n    return a;\n}\n";
    static const struct {
        const char *starter;
        bool subsequence;
    } rows[] = {
        { "int f()\n{\n}\n", true },
        { "int f()\n{\n    // TODO: say what\n    return a;\n}\n", true },
        { "\n\nint f()\n\n{\n}", true },
        { "", true },
        { "int f()\n{\n    return a;\n    int a = 1;\n}\n", false }, /* different order */
        { "int f()\n{\n    int b;\n}\n", false },
        { "int f()\n{\n}\n}\n", false }, /* one line too many */
        { "int f() \n", false },         /* one blank too many */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(is_subsequence(rows[i].starter, rung), rows[i].subsequence);
}

enum { NORMAL, SPARING, OTHER, MOST_CASES = 4 };

/* Results of a lab with a bar of 0.80 in each timed case. A ratio of 0 ends the list; a negative
 * one means not measured. */
static void put_speeds(Result *result, const int *kind, const double *ratio)
{
    static const Case cases[] = {
        [NORMAL] = { "normal", .kind = TIMED, .bar = 0.80 },
        [SPARING] = { "sparing", .kind = TIMED, .bar = 0.80, .spares_rung1 = true },
        [OTHER] = { "control", .kind = CONTROL },
    };

    memset(result, 0, sizeof *result);
    result->entry = &all_labs[1];
    for (int i = 0; i < MOST_CASES && ratio[i] != 0; i++)
        result->speed[result->speeds++] = (CaseSpeed){ .lab_case = &cases[kind[i]],
                                                       .bar = cases[kind[i]].bar,
                                                       .floor = kind[i] == SPARING ? 1.00 : 0.10,
                                                       .measured = ratio[i] > 0,
                                                       .ratio = { .median = ratio[i] } };
}

/* Rung 1 must be far below every bar except in cases that spare it; the reference must be above
 * each bar. */
static void cases_may_spare_rung_1(void)
{
    static const struct {
        int kind[MOST_CASES];
        double ratio[MOST_CASES], under, over, marks;
    } rows[] = {
        { { NORMAL }, { 0.10 }, -0.70, -0.70, 0 },
        { { NORMAL, NORMAL }, { 0.10, 0.75 }, -0.05, -0.70, 96.43 / 2 },
        { { NORMAL, NORMAL }, { 1.00, 0.95 }, 0.20, 0.15, 100 },
        { { NORMAL, SPARING }, { 0.10, 1.00 }, -0.70, -0.70, 0 }, /* like rung 1 */
        { { SPARING, NORMAL }, { 1.00, 0.10 }, -0.70, -0.70, 0 },
        { { NORMAL, SPARING }, { 1.00, 0.10 }, 0.20, -0.70, 50 }, /* falls into the trap */
        { { NORMAL, SPARING }, { 1.00, 0.95 }, 0.20, 0.15, 100 },
        { { OTHER, NORMAL }, { 1.00, 0.10 }, -0.70, -0.70, 0 },
        { { NORMAL, NORMAL }, { -1, 0.10 }, -0.70, -0.70, 0 }, /* one not measured */
    };
    static Result result;
    Graded graded;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_speeds(&result, rows[i].kind, rows[i].ratio);
        CU_ASSERT_DOUBLE_EQUAL(distance_from_bar(&result, false), rows[i].under, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(distance_from_bar(&result, true), rows[i].over, 1e-9);
        graded_of(&result, &graded);
        CU_ASSERT_DOUBLE_EQUAL(marks_for_cases(&policy_default, graded.cases, graded.count),
                               rows[i].marks, 0.01);
    }
}

/* A control case must not show the flaw of the timed cases. */
static void control_cases_show_no_gap(void)
{
    static const struct {
        int kind[MOST_CASES];
        double ratio[MOST_CASES];
        bool fast;
    } rows[] = {
        { { NORMAL, OTHER }, { 0.10, 1.00 }, true },
        { { NORMAL, OTHER }, { 0.10, 0.32 }, true },
        { { NORMAL, OTHER }, { 0.10, 0.31 }, false },
        { { NORMAL, OTHER }, { 0.50, 0.71 }, true },
        { { NORMAL, OTHER }, { 0.50, 0.70 }, false },
        { { NORMAL, SPARING, OTHER }, { 0.10, 0.95, 0.65 }, true },
        { { NORMAL, NORMAL, OTHER }, { 0.10, 0.60, 0.65 }, false },
        { { NORMAL, OTHER }, { 0.10, -1 }, true }, /* not measured */
        { { NORMAL, OTHER }, { -1, 0.30 }, true },
    };
    static Result result;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_speeds(&result, rows[i].kind, rows[i].ratio);
        CU_ASSERT_EQUAL(control_is_fast(&result), rows[i].fast);
    }
}

CU_SuiteInfo test_selfcheck = {
    "selfcheck",
    .pTests =
        (CU_TestInfo[]){
            { "first lines promise a verdict", first_lines_promise_a_verdict },
            { "some files need newer devices", some_files_need_newer_devices },
            { "learning only adds", learning_only_adds },
            { "cases may spare rung 1", cases_may_spare_rung_1 },
            { "control cases show no gap", control_cases_show_no_gap },
            CU_TEST_INFO_NULL,
        },
};
