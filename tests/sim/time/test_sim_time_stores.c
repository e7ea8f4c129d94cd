/* test_sim_time_stores.c - what stores leave in the L1, and slices of the L2 that accept them. */
#include <CUnit/CUnit.h>

#include "sim/sim_time.h"
#include "sim/time/model.h"

#define LOAD_WORD  "ld.global.u32 %r20, [%rd2];\n"
#define STORE_WORD "st.global.u32 [%rd2], %r3;\n"

/* ---- The L1 ---- */

/* Only the last load may find its sector in the L1. A thread that updates a counter of its own
 * loads it from there each time (rows.update). */
static void stores_keep_sectors_of_the_l1(void)
{
    static const struct {
        const char *ptx;
        int threads; /* 8 write a whole sector, 1 writes a part */
        unsigned hits;
    } rows[] = {
        { KERNEL(STORE_WORD LOAD_WORD), 8, 1 },
        { KERNEL(STORE_WORD LOAD_WORD), 1, 0 },
        { KERNEL(LOAD_WORD STORE_WORD LOAD_WORD), 1, 1 },
        { KERNEL(LOAD_WORD "red.global.add.u32 [%rd2], 1;\n" LOAD_WORD), 1, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(
            play(&plain, (Trial){ .ptx = rows[i].ptx, .threads = rows[i].threads }).l1_hits,
            rows[i].hits);
}

/* ---- Slices of the L2 ---- */

/* When the last of 1000 stores of one sector each has been accepted, all queued at cycle 0. */
static double last_store(int slices, unsigned bytes, int lines)
{
    Device device = plain;
    uint64_t last = 0;
    Memory memory;

    device.l2_slices = slices;
    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, &device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < 1000; i++)
        last = later(last, memory_store(&memory, (uint64_t) (i % lines), 1, bytes, 0));
    memory_model_close(&memory);
    return (double) last - plain.store_latency;
}

/* All slices together accept a sector per cycle here, so one slice needs 0.95 * 96 cycles for it.
 * Rows that threads write by themselves return to few slices (own). */
static void sectors_written_in_part_wait_for_their_slice(void)
{
    static const struct {
        int slices;
        unsigned bytes;
        int lines;
        double cycles;
    } rows[] = {
        { 0, 4, 1, 1000 },
        { 0, 4, 1000, 1000 },
        { 96, SECTOR_BYTES, 1, 1000 },
        { 96, SECTOR_BYTES, 1000, 1000 },
        { 96, 4, 1, 1000 * 96 * 0.95 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_DOUBLE_EQUAL(last_store(rows[i].slices, rows[i].bytes, rows[i].lines),
                               rows[i].cycles, 2);
    /* Some slices have more of 1000 lines than others. */
    CU_ASSERT(last_store(96, 4, 1000) > 1000 && last_store(96, 4, 1000) < 3000);
}

#define DIVISIONS                                                                                  \
    "mov.u32 %r7, 0;\nROUND:\ndiv.rn.f32 %f1, %f1, %f2;\nadd.s32 %r7, %r7, 1;\n"                   \
    "setp.lt.s32 %p1, %r7, 300;\n@%p1 bra ROUND;\n"

/* The cycles of 200 stores by these threads, and of divisions after them. */
static double cycles_of_stores(int slices, const char *store, int threads)
{
    const char *ptx = repeat("", store, 200, DIVISIONS);
    Device device = plain;

    device.l2_slices = slices;
    return play(&device, (Trial){ .ptx = ptx, .threads = threads }).cycles;
}

/* Stores to a slice that is behind wait in the SM, so a warp continues only when the slice has
 * nearly caught up. */
static void slices_that_are_behind_hold_up_an_sm(void)
{
    static const struct {
        const char *store;
        int threads, waits; /* for how many stores to one slice */
    } rows[] = {
        { STORE_WORD, 1, 200 },
        { STORE_WORD "add.s64 %rd2, %rd2, 128;\n", 1, 0 }, /* a line each */
        { STORE_WORD, 32, 0 },                             /* whole sectors */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double more = cycles_of_stores(96, rows[i].store, rows[i].threads) -
                            cycles_of_stores(0, rows[i].store, rows[i].threads);
        CU_ASSERT_DOUBLE_EQUAL(more, rows[i].waits * 96 * 0.95, 1000);
    }
}

static CU_TestInfo tests[] = {
    { "stores keep sectors of the L1", stores_keep_sectors_of_the_l1 },
    { "sectors written in part wait for their slice",
      sectors_written_in_part_wait_for_their_slice },
    { "slices that are behind hold up an SM", slices_that_are_behind_hold_up_an_sm },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_stores = { "test_sim_time_stores", NULL, NULL, NULL, NULL, tests };
