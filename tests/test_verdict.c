/* test_verdict.c - words and marks. */
#include "verdict.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

static void words_there_and_back(void)
{
    for (int v = 0; v < VERDICT_COUNT; v++) {
        Verdict back = VERDICT_COUNT;
        CU_ASSERT(strlen(verdict_word((Verdict) v)) > 0);
        CU_ASSERT(strlen(verdict_meaning((Verdict) v)) > 10);
        CU_ASSERT_TRUE(verdict_from_word(verdict_word((Verdict) v), &back));
        CU_ASSERT_EQUAL(back, v);
        for (int other = 0; other < v; other++)
            CU_ASSERT_STRING_NOT_EQUAL(verdict_word((Verdict) v), verdict_word((Verdict) other));
    }
    CU_ASSERT_STRING_EQUAL(verdict_word(CORRECT_ONLY), "correct");
}

static void other_words_are_none(void)
{
    static const char *const words[] = { "", "PASS", "passed", "pas", " pass", "correct_only" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        Verdict verdict = SUSPECT;
        CU_ASSERT_FALSE(verdict_from_word(words[i], &verdict));
        CU_ASSERT_EQUAL(verdict, SUSPECT);
    }
}

static void only_pass_and_close_pass(void)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        CU_ASSERT_EQUAL(verdict_passed((Verdict) v), v == PASS || v == CLOSE);
}

static void marks(void)
{
    static const struct {
        double ratio, floor, bar, marks;
    } rows[] = {
        { 0.75, 0.25, 0.75, 100 },     /* at the bar */
        { 1.30, 0.25, 0.75, 100 },     /* above: capped */
        { INFINITY, 0.25, 0.75, 100 }, /* suspect, but that is not decided here */
        { 0.50, 0.25, 0.75, 75 },      /* half way: base and half of the rest */
        { 0.35, 0.25, 0.75, 60 },      /* 0.10 above rung 1: the whole base */
        { 0.34, 0.25, 0.75, 34 },      /* less: half the base, 9/50 of the rest */
        { 0.25, 0.25, 0.75, 25 },      /* no faster than rung 1 */
        { 0.10, 0.25, 0.75, 25 },      /* slower than rung 1, still right */
        { 0.50, 0, 1, 75 },            /* rung 1 not measured */
        { 0.05, 0, 1, 27.5 },          /* the same */
        { 0.50, NAN, 1, 75 },          /* the same */
        { 0.50, -1, 1, 75 },           /* the same */
        { 0.79, 0.80, 0.75, 100 },     /* rung 1 above the bar: pass, */
        { 0.70, 0.80, 0.75, 25 },      /* or not */
        { 0.70, 0.75, 0.75, 25 },
        { 0.74, 0.70, 0.75, 65 }, /* bar within 0.10 of rung 1: half the base below it */
        { 0.50, 0.25, NAN, 50 },  /* a bar that is none: the base */
        { 0, 0.25, 0.75, 0 },     /* not measured */
        { -1, 0.25, 0.75, 0 },
        { NAN, 0.25, 0.75, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_DOUBLE_EQUAL(marks_for_speed(rows[i].ratio, rows[i].floor, rows[i].bar),
                               rows[i].marks, 1e-9);
}

static void faster_is_never_worth_less(void)
{
    for (double floor = 0; floor < 1; floor += 0.17) {
        double before = 0;
        for (int i = 0; i <= 1500; i++) {
            double now = marks_for_speed(i / 1000.0, floor, 0.8);
            CU_ASSERT(before <= now && now <= 100);
            before = now;
        }
        CU_ASSERT_EQUAL(before, 100);
    }
}

CU_SuiteInfo test_verdict = {
    "verdict",
    .pTests =
        (CU_TestInfo[]){
            { "words there and back", words_there_and_back },
            { "other words are none", other_words_are_none },
            { "only pass and close pass", only_pass_and_close_pass },
            { "marks", marks },
            { "faster is never worth less", faster_is_never_worth_less },
            CU_TEST_INFO_NULL,
        },
};
