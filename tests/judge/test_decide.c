/* test_decide.c - verdicts from modelled times and from measured ones. */
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
    if (!s.measured)
        s.unjudged = (Diagnosis){ .saw = ratio < 0 ? SAW(SAW_BLIND) : SAW(SAW_UNTIMED),
                                  .lab_case = lab_case };
    return s;
}

static void verdicts(void)
{
    static const struct {
        double flat, square, row;
        Verdict verdict;
        bool decided;
        const Case *named; /* the case that decides */
        uint64_t saw;      /* why its speed is not judged */
    } rows[] = {
        { 1.0, 1.0, 1.0, PASS, true, NULL },
        { 0.75, 0.6, 1.0, PASS, true, NULL }, /* at the bar: no result is too close to decide */
        { nextafter(0.75, 0), 1.0, 1.0, SLOW, true, &flat },
        { 0.9, 0.5, 1.0, SLOW, true, &square },
        { 0.5, 0.1, 1.0, SLOW, true, &square }, /* the slowest case is named */
        { 0.1, 0.5, 1.0, SLOW, true, &flat },
        { 1.0, 1.0, 0.01, PASS, true, NULL }, /* a control case does not decide */
        { 1.0, 1.0, 0, PASS, true, NULL },
        { 0, 1.0, 1.0, CORRECT_ONLY, false, &flat, SAW(SAW_UNTIMED) },
        { 1.0, 0, 1.0, CORRECT_ONLY, false, &square, SAW(SAW_UNTIMED) },
        { 0, 0, 1.0, CORRECT_ONLY, false, &flat, SAW(SAW_UNTIMED) },
        { 0, 0.5, 1.0, SLOW, true, &square }, /* one slow case is enough */
        { -1, 1.0, 1.0, PASS, true, NULL },   /* left out, so the other one decides */
        { -1, 0.5, 1.0, SLOW, true, &square },
        { 1.0, -1, 1.0, PASS, true, NULL },
        { -1, -1, 1.0, CORRECT_ONLY, false, &flat, SAW(SAW_BLIND) },
        { -1, 0, 1.0, CORRECT_ONLY, false, &square, SAW(SAW_UNTIMED) },
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
        CU_ASSERT_PTR_EQUAL(result.diagnosis.lab_case, rows[i].named);
        CU_ASSERT_EQUAL(result.diagnosis.saw, rows[i].saw);
        CU_ASSERT_EQUAL(*result.why != 0, rows[i].named != NULL);
    }
}

/* A kernel that is slow in one case is slow, even if another case could not be measured. */
static void measured_verdicts(void)
{
    static const struct {
        Interval flat, square; /* median 0: not measured */
        Verdict verdict;
        const Case *named;
    } rows[] = {
        { { 1.0, 0.99, 1.01 }, { 1.0, 0.99, 1.01 }, PASS, NULL },
        { { 0.5, 0.49, 0.51 }, { 1.0, 0.99, 1.01 }, SLOW, &flat },
        { { 0.5, 0.49, 0.51 }, { 0.1, 0.09, 0.11 }, SLOW, &square },
        { { 0.74, 0.73, 0.76 }, { 1.0, 0.99, 1.01 }, CLOSE, NULL },
        { { 0.74, 0.73, 0.76 }, { 0.5, 0.49, 0.51 }, SLOW, &square },
        { { 0.5, 0.49, 0.51 }, { 0 }, SLOW, &flat },
        { { 0 }, { 0.5, 0.49, 0.51 }, SLOW, &square },
        { { 1.0, 0.99, 1.01 }, { 0 }, CORRECT_ONLY, &square },
        { { 0.74, 0.73, 0.76 }, { 0 }, CORRECT_ONLY, &square },
        { { 0 }, { 0 }, CORRECT_ONLY, &flat },
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
        CU_ASSERT_PTR_EQUAL(result.diagnosis.lab_case, rows[i].named);
    }
}

/* The bound of the slow case explains the verdict, not that of another case. */
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
    CU_ASSERT_EQUAL(result->diagnosis.saw, SAW(SAW_SECTORS_WRITTEN));
    CU_ASSERT_PTR_EQUAL(result->diagnosis.lab_case, &square);
    CU_ASSERT_PTR_NOT_NULL(strstr(result->why, "square's line"));
    free(result);
}

/* A lab's advice may depend on the other cases. */
static void slow_cases_are_known(void)
{
    static const Case cases[] = { { "1 x 1" },
                                  { "flat", .kind = TIMED, .bar = 0.75 },
                                  { "square", .kind = TIMED, .bar = 0.6 },
                                  { 0 } };
    static const Lab lab = { .cases = cases };
    static const LabEntry entry = { "01_first", &lab };
    static const Reason reasons[GRADE_CASES];
    static const struct {
        double flat, square;
        uint64_t slow;
    } rows[] = { { 0.5, 0.5, 6 }, { 0.5, 0.7, 2 }, { 0.8, 0.5, 4 }, { -1, 0.5, 4 }, { 1, 1, 0 } };
    Result *result = xcalloc(1, sizeof *result);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *result = (Result){ .entry = &entry, .speeds = 2 };
        result->speed[0] = speed(&cases[1], rows[i].flat);
        result->speed[1] = speed(&cases[2], rows[i].square);
        CU_ASSERT_TRUE(decide_modelled(result, reasons));
        CU_ASSERT_EQUAL(result->diagnosis.slow_cases, rows[i].slow);
        decide_measured(result);
        CU_ASSERT_EQUAL(result->diagnosis.slow_cases, rows[i].slow);
    }
    free(result);
}

/* Speed decides, and a pass says which limit its counters exceed. */
static void a_pass_names_its_bound(void)
{
    static const Reason reasons[GRADE_CASES] = {
        { .text = "" },
        { .diagnosis = { .saw = SAW(SAW_SECTORS_WRITTEN) }, .text = "square's line" },
    };
    static const Reason none[GRADE_CASES];
    Result *result = xcalloc(1, sizeof *result);

    for (int bounded = 0; bounded <= 1; bounded++) {
        *result = (Result){ .speeds = 2 };
        result->speed[0] = speed(&flat, 1);
        result->speed[1] = speed(&square, 1);
        CU_ASSERT_TRUE(decide_modelled(result, bounded ? none : reasons));
        CU_ASSERT_EQUAL(result->verdict, PASS);
        CU_ASSERT_EQUAL(result->diagnosis.saw, 0);
        CU_ASSERT_EQUAL(strstr(result->note, "square's line") != NULL, !bounded);
        CU_ASSERT_EQUAL(strstr(result->above, "square's line") != NULL, !bounded);
        CU_ASSERT_STRING_EQUAL(result->why, "");
    }
    free(result);
}

static void without_timed_cases_correct_is_enough(void)
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
    "decide",
    .pTests =
        (CU_TestInfo[]){
            { "verdicts", verdicts },
            { "measured verdicts", measured_verdicts },
            { "a bound explains", a_bound_explains },
            { "slow cases are known", slow_cases_are_known },
            { "a pass names its bound", a_pass_names_its_bound },
            { "without timed cases, correct is enough", without_timed_cases_correct_is_enough },
            CU_TEST_INFO_NULL,
        },
};
