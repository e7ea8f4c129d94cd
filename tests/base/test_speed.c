/* test_speed.c - verdicts from stored speeds when a bar changes. */
#include "base/speed.h"
#include "rows.h"

/* A measured case: its bar; the ratio with its interval; blocks and pairs of processes. */
#define MEASURED(bar_, ratio_, low, high, blocks_, pairs_)                                         \
    {                                                                                              \
        .bar = bar_, .measured = true, .ratio = { ratio_, low, high }, .blocks = blocks_,          \
        .pairs = pairs_                                                                            \
    }

/* A case that was graded at `was`, and whether it still decides at `bar`. */
static void another_bar(void)
{
    static const struct {
        TimedCase timed;
        double bar;
        bool decides;
        Verdict verdict; /* of a kernel with only this case */
    } rows[] = {
        /* measured on a GPU, at 0.75 */
        { MEASURED(0.75, 0.60, 0.58, 0.62, 30, 1), 0.75, true, SLOW },
        { MEASURED(0.75, 0.60, 0.58, 0.62, 30, 1), 0.55, true, PASS },
        { MEASURED(0.75, 0.60, 0.58, 0.62, 30, 1), 0.90, true, SLOW },
        { MEASURED(0.75, 0.60, 0.58, 0.62, 30, 1), 0.59, false, CLOSE },
        { MEASURED(0.75, 0.60, 0.599, 0.601, 30, 1), 0.597, false,
          PASS }, /* within 1 %: six pairs of processes decide */
        { MEASURED(0.59, 0.60, 0.599, 0.601, 180, 6), 0.597, true, PASS },
        { MEASURED(0.75, 0.75, 0.74, 0.76, 180, 6), 0.75, true, CLOSE },
        { MEASURED(0.75, 0.75, 0.74, 0.76, 180, 6), 0.70, true, PASS },
        { MEASURED(0.75, 0.75, 0.74, 0.76, 180, 6), 0.8, true, SLOW },
        /* stopped early, because it was far below */
        { MEASURED(0.75, 0.10, 0.09, 0.11, 3, 1), 0.5, true, SLOW },
        { MEASURED(0.75, 0.30, 0.29, 0.31, 3, 1), 0.5, false, SLOW },
        { MEASURED(0.75, 0.05, 0.05, 0.05, 1, 1), 0.3, false, SLOW },
        { MEASURED(0.75, 0.05, 0.05, 0.05, 1, 1), 0.9, true, SLOW },
        /* modelled: one number */
        { { .bar = 0.75, .measured = true, .ratio = { 0.6, 0.6, 0.6 }, .rung1 = 0.2 },
          0.6,
          true,
          PASS },
        { { .bar = 0.75, .measured = true, .ratio = { 0.6, 0.6, 0.6 }, .rung1 = 0.2 },
          0.61,
          true,
          SLOW },
        { { .bar = 0.75, .measured = true, .ratio = { 0.6, 0.6, 0.6 }, .rung1 = 0.2 },
          0.24,
          true,
          CORRECT_ONLY }, /* rung 1 is no longer slow */
        { { .bar = 0.75,
            .measured = true,
            .ratio = { 0.6, 0.6, 0.6 },
            .rung1 = 0.9,
            .spares_rung1 = true },
          0.5,
          true,
          PASS },
        { { .bar = 0.75, .blind = true }, 0.75, true, CORRECT_ONLY },
        { { .bar = 0.75, .blind = true }, 0.9, false, CORRECT_ONLY }, /* it was never timed */
        { { .bar = 0.75 }, 0.9, true, CORRECT_ONLY },                 /* too noisy, at any bar */
        { { .bar = 0.75, .measured = true, .ratio = { 0.6, 0.6, 0.6 } },
          0.75004,
          true,
          SLOW }, /* four decimals are stored */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        TimedCase timed = rows[i].timed;
        bool decides = speed_apply_bar(&timed, rows[i].bar);
        int which;
        Verdict verdict = speed_verdict(&timed, 1, &which);
        if (decides != rows[i].decides || verdict != rows[i].verdict)
            FAIL_SAYING("row %zu: %s, %s", i, decides ? "decides" : "does not decide",
                        verdict_word(verdict));
        CU_ASSERT_EQUAL(which, verdict == SLOW || verdict == CORRECT_ONLY ? 0 : -1);
    }
}

CU_SuiteInfo test_speed = {
    "speed",
    .pTests =
        (CU_TestInfo[]){
            { "another bar", another_bar },
            CU_TEST_INFO_NULL,
        },
};
