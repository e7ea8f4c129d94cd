/* test_whatif.c - which causes of slowness are tried, and which are shown. */
#include "learner/explain/explain.h"
#include "learner/whatif.h"

#include <CUnit/CUnit.h>
#include <string.h>

#define ONLY(cause) (1u << (cause))

static CauseSet chosen(const Limits *limits)
{
    WhatIf rows[CAUSES];
    CauseSet all = 0;

    for (int i = whatif_choose(limits, rows) - 1; i >= 0; i--)
        all |= rows[i].without;
    return all;
}

static void counts_exclude_causes(void)
{
    const CauseSet always = ONLY(CAUSE_LATENCY) | ONLY(CAUSE_TAIL) | ONLY(CAUSE_OCCUPANCY);
    const struct {
        Limits limits;
        CauseSet more;
    } rows[] = {
        { { .lanes = 32 }, 0 },
        { { .lanes = 32, .wavefronts = 10, .least_shared = 10 }, 0 },
        { { .lanes = 32, .wavefronts = 20, .least_shared = 10 }, ONLY(CAUSE_CONFLICTS) },
        { { .lanes = 32, .sectors = 400, .least_sectors = 400 }, 0 },
        { { .lanes = 32, .sectors = 800, .least_sectors = 400 }, ONLY(CAUSE_SECTORS) },
        { { .lanes = 31 }, ONLY(CAUSE_DIVERGENCE) },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(chosen(&rows[i].limits), always | rows[i].more);
}

static void the_most_valuable_comes_first(void)
{
    const WhatIf rows[] = {
        { ONLY(CAUSE_CONFLICTS), 8, AT_DRAM },
        { ONLY(CAUSE_SECTORS), 2, AT_L2 },
        { ONLY(CAUSE_DIVERGENCE), 9.9, AT_DRAM }, /* worth too little */
        { ONLY(CAUSE_LATENCY), 4, AT_ISSUE },
        { ONLY(CAUSE_TAIL), 11, AT_DRAM },     /* slower than before */
        { ONLY(CAUSE_OCCUPANCY), 0, AT_DRAM }, /* not run */
    };
    WhatIf worth[CAUSES];

    CU_ASSERT_EQUAL_FATAL(whatif_worth(rows, CAUSES, 10, worth), 3);
    CU_ASSERT_EQUAL(worth[0].without, ONLY(CAUSE_SECTORS));
    CU_ASSERT_EQUAL(worth[1].without, ONLY(CAUSE_LATENCY));
    CU_ASSERT_EQUAL(worth[2].without, ONLY(CAUSE_CONFLICTS));
}

static void the_sentence_fits_a_line(void)
{
    char text[200];

    for (int cause = 0; cause < CAUSES; cause++)
        for (int limit = 0; limit < LIMITS; limit++) {
            const WhatIf row = { 1u << cause, 1, (Limit) limit };
            whatif_sentence(&row, 20, text, sizeof text);
            CU_ASSERT(strlen(text) <= 78);
            CU_ASSERT_PTR_NOT_NULL(strstr(text, "at most 20.00x"));
            CU_ASSERT_PTR_NOT_NULL(strstr(text, cause_words[cause]));
            CU_ASSERT_PTR_NULL(strstr(text, "(null)"));
        }
}

/* ---- Two kernels with the same limit ---- */

static Limits limited_by(double dram, double issue, double l2)
{
    return (Limits){ .spent = { { [AT_DRAM] = dram, [AT_ISSUE] = issue, [AT_L2] = l2 } },
                     .busy = { [AT_DRAM] = dram },
                     .lanes = 32 };
}

static void two_kernels_with_one_limit_have_one_sentence(void)
{
    const Limits memory = limited_by(80, 20, 0), other = limited_by(80, 10, 10);
    const Limits issue = limited_by(20, 80, 0);
    char text[500];

    CU_ASSERT(explain_both(&memory, 1, &memory, 1, "rung 2", text, sizeof text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Both: the device's memory is busy 80 %"));
    CU_ASSERT_PTR_NULL(strstr(text, " us "));
    CU_ASSERT(explain_both(&memory, 1, &other, 1.2, "rung 2", text, sizeof text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "DRAM: 800.00 us of your call, 960.00 us of rung 2's"));
    CU_ASSERT_FALSE(explain_both(&memory, 1, &issue, 1, "rung 2", text, sizeof text));
}

/* The same limit, but one of them moves more sectors than its data fills, or more of them. */
static void kernels_with_different_sentences_have_both(void)
{
    const Limits fine = limited_by(90, 10, 0);
    Limits wasteful = fine, worse;
    char text[500];

    wasteful.sectors = 800;
    wasteful.least_sectors = 100;
    CU_ASSERT_FALSE(explain_both(&wasteful, 1, &fine, 1, "rung 2", text, sizeof text));
    CU_ASSERT(explain_both(&wasteful, 1, &wasteful, 1, "rung 2", text, sizeof text));
    worse = wasteful;
    worse.sectors = 1600;
    CU_ASSERT_FALSE(explain_both(&wasteful, 1, &worse, 1, "rung 2", text, sizeof text));
}

static CU_TestInfo tests[] = {
    { "counts exclude causes", counts_exclude_causes },
    { "the most valuable comes first", the_most_valuable_comes_first },
    { "the sentence fits a line", the_sentence_fits_a_line },
    { "two kernels with one limit have one sentence",
      two_kernels_with_one_limit_have_one_sentence },
    { "kernels with different sentences have both", kernels_with_different_sentences_have_both },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_whatif = { "test_whatif", NULL, NULL, NULL, NULL, tests };
