/* test_whatif.c - which causes of slowness are tried, and which are shown. */
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

static CU_TestInfo tests[] = {
    { "counts exclude causes", counts_exclude_causes },
    { "the most valuable comes first", the_most_valuable_comes_first },
    { "the sentence fits a line", the_sentence_fits_a_line },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_whatif = { "test_whatif", NULL, NULL, NULL, NULL, tests };
