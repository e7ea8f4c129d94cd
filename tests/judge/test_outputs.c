/* test_outputs.c - how many of a case's outputs are compared. */
#include "judge/outputs.h"
#include "base/registry.h"

#include <CUnit/CUnit.h>

/* The dims of lab 05's cases are n, capacity, rounds; a round takes six operations per word. */
static const struct {
    CaseKind kind;
    long n, rounds;
    size_t one_in;
} rows[] = {
    { CORRECT, 300007, 65537, 1 },  { TIMED, 1 << 24, 397, 1 }, /* on an H200 */
    { TIMED, 1 << 24, 5173, 1 }, /* affects the verdict, so all of it is compared */
    { CONTROL, 1 << 18, 5173, 1 },  { CONTROL, 1 << 24, 99, 1 }, { CONTROL, 1 << 24, 100, 2 },
    { CONTROL, 1 << 24, 5173, 53 }, /* on an H200: comparing all would take 4 s on 16 cores */
};

static void each_row(void)
{
    const LabEntry *entry = lab_find("streams");

    CU_ASSERT_FATAL(entry != NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case c = { .kind = rows[i].kind, .dim = { rows[i].n, 1 << 22, rows[i].rounds } };
        CU_ASSERT_EQUAL(outputs_one_in(entry->lab, &c), rows[i].one_in);
    }
}

/* Most labs count bytes, and computing the expected sum takes no longer than reading the data. */
static void all_where_little_is_counted(void)
{
    Case c = { .kind = CONTROL, .dim = { 1 << 28, 1, 1, 1 } };

    CU_ASSERT_EQUAL(outputs_one_in(lab_find("reduction")->lab, &c), 1);
}

/* Lab 06's one-row case on an H200 has 126 million elements: half a second on 16 cores. */
static void not_all_of_a_large_output(void)
{
    const LabEntry *entry = lab_find("transpose");
    Case c = { .kind = CONTROL, .dim = { 1, 1 << 24 } };

    CU_ASSERT_EQUAL(outputs_one_in(entry->lab, &c), 1);
    c.dim[1] = 125829120;
    CU_ASSERT_EQUAL(outputs_one_in(entry->lab, &c), 8);
    c.kind = TIMED;
    CU_ASSERT_EQUAL(outputs_one_in(entry->lab, &c), 1);
}

CU_SuiteInfo test_outputs = {
    "outputs",
    .pTests =
        (CU_TestInfo[]){
            { "only a control case of very many operations is compared in part", each_row },
            { "outputs that are quick to compute are compared whole", all_where_little_is_counted },
            { "a control case's large output is compared in part", not_all_of_a_large_output },
            CU_TEST_INFO_NULL,
        },
};
