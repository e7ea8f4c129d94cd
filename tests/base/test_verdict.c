/* test_verdict.c - verdicts and their words. */
#include "base/verdict.h"

#include <CUnit/CUnit.h>
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

static void other_words_are_invalid(void)
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

CU_SuiteInfo test_verdict = {
    "verdict",
    .pTests =
        (CU_TestInfo[]){
            { "words there and back", words_there_and_back },
            { "other words are invalid", other_words_are_invalid },
            { "only pass and close pass", only_pass_and_close_pass },
            CU_TEST_INFO_NULL,
        },
};
