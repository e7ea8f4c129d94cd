/* test_decide.c - verdicts from modelled times, and from measured ones. */
#include "judge/decide.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Case flat = { "flat", .kind = TIMED, .bar = 0.75 };
static const Case square = { "square", .kind = TIMED, .bar = 0.6 };
static const Case row = { "one row", .kind = CONTROL };

/* A ratio of 0: not measured; below 0: not even rung 1 would be slow. */
static CaseSpeed speed(const Case *lab_case, double ratio)
{
    CaseSpeed s = { .lab_case = lab_case, .bar = lab_case->bar, .measured = ratio > 0 };

    s.ratio = (Interval){ ratio, ratio, ratio };
    s.gbps = 80 * ratio;
    s.reference_gbps = 80;
    s.blind = ratio < 0;
    if (!s.measured)
        PUT(s.why_not, s.blind ? "not even the naive one" : "the model cannot tell");
    return s;
}

static void verdicts(void)
{
    static const struct {
        double flat, square, row;
        Verdict verdict;
        bool decided;
        const char *why; /* its beginning */
    } rows[] = {
        { 1.0, 1.0, 1.0, PASS, true, "" },
        { 0.75, 0.6, 1.0, PASS, true, "" }, /* at the bar: nothing is too close to tell */
        { nextafter(0.75, 0), 1.0, 1.0, SLOW, true, "case flat runs at 0.74" },
        { 0.9, 0.5, 1.0, SLOW, true, "case square runs at 0.50" },
        { 0.5, 0.1, 1.0, SLOW, true, "case square runs at 0.10" }, /* the slowest is named */
        { 0.1, 0.5, 1.0, SLOW, true, "case flat runs at 0.10" },
        { 1.0, 1.0, 0.01, PASS, true, "" }, /* a control decides nothing */
        { 1.0, 1.0, 0, PASS, true, "" },
        { 0, 1.0, 1.0, CORRECT_ONLY, false, "case flat: the model cannot tell" },
        { 1.0, 0, 1.0, CORRECT_ONLY, false, "case square: the model cannot tell" },
        { 0, 0, 1.0, CORRECT_ONLY, false, "case flat: the model cannot tell" },
        { 0, 0.5, 1.0, SLOW, true, "case square runs at 0.50" }, /* slow is slow */
        { -1, 1.0, 1.0, PASS, true, "" },                        /* left out: the other decides */
        { -1, 0.5, 1.0, SLOW, true, "case square runs at 0.50" },
        { 1.0, -1, 1.0, PASS, true, "" },
        { -1, -1, 1.0, CORRECT_ONLY, false, "case flat: not even the naive one" },
        { -1, 0, 1.0, CORRECT_ONLY, false, "case square: the model cannot tell" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static Result result;
        static const Reason reasons[GRADE_CASES];
        result = (Result){ .speeds = 3 };
        result.speed[0] = speed(&flat, rows[i].flat);
        result.speed[1] = speed(&square, rows[i].square);
        result.speed[2] = speed(&row, rows[i].row);
        CU_ASSERT_EQUAL(decide_modelled(&result, reasons), rows[i].decided);
        CU_ASSERT_EQUAL(result.verdict, rows[i].verdict);
        CU_ASSERT_NSTRING_EQUAL(result.why, rows[i].why, strlen(rows[i].why));
        if (!*rows[i].why)
            CU_ASSERT_STRING_EQUAL(result.why, "");
    }
}

/* Who was slow in one case and could not be measured in another was told of the noise alone. */
static void measured_verdicts(void)
{
    static const struct {
        Interval flat, square; /* median 0: not measured */
        Verdict verdict;
        const char *why;
    } rows[] = {
        { { 1.0, 0.99, 1.01 }, { 1.0, 0.99, 1.01 }, PASS, "" },
        { { 0.5, 0.49, 0.51 }, { 1.0, 0.99, 1.01 }, SLOW, "case flat runs at 0.50" },
        { { 0.5, 0.49, 0.51 }, { 0.1, 0.09, 0.11 }, SLOW, "case square runs at 0.10" },
        { { 0.74, 0.73, 0.76 }, { 1.0, 0.99, 1.01 }, CLOSE, "too close" },
        { { 0.74, 0.73, 0.76 }, { 0.5, 0.49, 0.51 }, SLOW, "case square runs at 0.50" },
        { { 0.5, 0.49, 0.51 }, { 0 }, SLOW, "case flat runs at 0.50" },
        { { 0 }, { 0.5, 0.49, 0.51 }, SLOW, "case square runs at 0.50" },
        { { 1.0, 0.99, 1.01 }, { 0 }, CORRECT_ONLY, "case square: the model" },
        { { 0.74, 0.73, 0.76 }, { 0 }, CORRECT_ONLY, "case square: the model" },
        { { 0 }, { 0 }, CORRECT_ONLY, "case flat: the model" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static Result result;
        result = (Result){ .speeds = 3 };
        result.speed[0] = speed(&flat, rows[i].flat.median);
        result.speed[0].ratio = rows[i].flat;
        result.speed[1] = speed(&square, rows[i].square.median);
        result.speed[1].ratio = rows[i].square;
        result.speed[2] = speed(&row, 0.01);
        decide_measured(&result);
        CU_ASSERT_EQUAL(result.verdict, rows[i].verdict);
        CU_ASSERT_NSTRING_EQUAL(result.why, rows[i].why, strlen(rows[i].why) + !*rows[i].why);
    }
}

/* Of the case that is slow, not of another. */
static void a_bound_explains(void)
{
    static const Reason reasons[GRADE_CASES] = {
        { .diagnosis = { .saw = SAW(SAW_SECTORS_READ) }, .text = "flat's line" },
        { .diagnosis = { .saw = SAW(SAW_SECTORS_WRITTEN) }, .text = "square's line" },
    };
    Result *result = xcalloc(1, sizeof *result);

    result->speeds = 2;
    result->speed[0] = speed(&flat, 1);
    result->speed[1] = speed(&square, 0.3);
    CU_ASSERT_TRUE(decide_modelled(result, reasons));
    CU_ASSERT_STRING_EQUAL(result->why,
                           "case square runs at 0.30 of the reference's speed (simulated: 24 of 80 "
                           "GB/s), the bar is 0.60; square's line");
    free(result);
}

static void without_timed_cases_right_is_enough(void)
{
    static const Reason reasons[GRADE_CASES];
    Result *result = xcalloc(1, sizeof *result);

    result->speeds = 1;
    result->speed[0] = speed(&row, 0);
    CU_ASSERT_TRUE(decide_modelled(result, reasons));
    CU_ASSERT_EQUAL(result->verdict, PASS);
    free(result);
}

CU_SuiteInfo test_decide = {
    "judge_modelled",
    .pTests =
        (CU_TestInfo[]){
            { "verdicts", verdicts },
            { "measured verdicts", measured_verdicts },
            { "a bound explains", a_bound_explains },
            { "without timed cases right is enough", without_timed_cases_right_is_enough },
            CU_TEST_INFO_NULL,
        },
};
