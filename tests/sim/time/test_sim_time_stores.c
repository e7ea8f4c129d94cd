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
        last = later(last, memory_store(&memory, 0, (uint64_t) (i % lines), 1, bytes, 0));
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
static double cycles_of_stores(const Device *device, const char *store, int threads)
{
    const char *ptx = repeat("", store, 200, DIVISIONS);

    return play(device, (Trial){ .ptx = ptx, .threads = threads }).cycles;
}

/* The cycles by which they take longer with 96 slices, of which each accepts its own lines. */
static double cycles_held_up(const char *store, int threads, int merging_lines)
{
    Device device = plain;

    device.l1_merging_lines = merging_lines;
    const double without = cycles_of_stores(&device, store, threads);
    device.l2_slices = 96;
    return cycles_of_stores(&device, store, threads) - without;
}

/* Stores to a slice that is behind wait in the SM, so a warp continues only when the slice has
 * nearly caught up. */
static void slices_that_are_behind_hold_up_an_sm(void)
{
    static const struct {
        const char *store;
        int threads, merging_lines, waits; /* for how many stores to one slice */
    } rows[] = {
        { STORE_WORD, 1, 0, 200 },
        { STORE_WORD, 1, 16, 0 },
        { STORE_WORD "add.s64 %rd2, %rd2, 128;\n", 1, 0, 0 }, /* a line each */
        { STORE_WORD, 32, 0, 0 },                             /* whole sectors */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double more = cycles_held_up(rows[i].store, rows[i].threads, rows[i].merging_lines);
        const double waits = rows[i].waits * 96 * 0.95;
        /* The queue of a slice takes 300 cycles of work, and stores begin 4 cycles apart anyway. */
        const double hidden = waits > 0 ? 300 + 4 * 200 : 0;
        CU_ASSERT_DOUBLE_EQUAL(more, waits - hidden, 200);
    }
}

/* ---- Stores that an SM sends together ---- */

#define FIRST_LANE             "setp.eq.u32 %p2, %r2, 0;\n"
#define STORE_AT(byte)         "@%p2 st.global.u32 [%rd1+" #byte "], %r3;\n"
#define FOUR_LINES(a, b, c, d) STORE_AT(a) STORE_AT(b) STORE_AT(c) STORE_AT(d)
#define SIXTEEN_LINES                                                                              \
    FOUR_LINES(1024, 1152, 1280, 1408)                                                             \
    FOUR_LINES(1536, 1664, 1792, 1920)                                                             \
    FOUR_LINES(2048, 2176, 2304, 2432) FOUR_LINES(2560, 2688, 2816, 2944)
#define DIVISION "div.rn.f32 %f1, %f1, %f2;\n"

/* The path of stores is busy for two cycles if a sector written in part is sent, else for one. */
static double stores_merged(const char *stores, int times, int threads, int merging_lines)
{
    static const char ones[] = "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F800000;\n";
    char before[300];
    snprintf(before, sizeof before, "%s%s", FIRST_LANE, ones);
    const Trial trial = { .ptx = repeat(before, stores, times, ""), .threads = threads };
    Device device = plain;

    device.l1_merging_lines = merging_lines;
    return play(&plain, trial).busy[AT_L1] - play(&device, trial).busy[AT_L1];
}

/* The model sent each store to the L2, but 132 SMs of an H200 store to 16 lines in turn six times
 * as fast as to 32 (tests/sim/time/mechanisms, own). Then it merged those of several warps, too,
 * but the counters of an H100 show that such stores are sent. */
static void a_warps_stores_to_few_lines_are_merged(void)
{
    static const struct {
        const char *stores;
        int times, threads, merging_lines, merged;
    } rows[] = {
        { STORE_AT(1024), 20, 32, 16, 19 },
        { STORE_AT(1024), 20, 32, 0, 0 },
        { STORE_AT(1024) STORE_AT(1028), 20, 32, 16, 39 }, /* one sector */
        { STORE_AT(1024) STORE_AT(1056), 1, 32, 16, 0 },   /* two of one line */
        { STORE_AT(1024) STORE_AT(1056), 20, 32, 16, 38 },
        { SIXTEEN_LINES, 20, 32, 16, 16 * 19 },
        { SIXTEEN_LINES, 20, 32, 8, 0 },
        { STORE_AT(1024) DIVISION, 20, 32, 16, 19 },
        { STORE_AT(1024) DIVISION DIVISION DIVISION DIVISION, 20, 32, 16, 0 }, /* too late */
        { STORE_AT(1024), 20, 64, 16, 0 },                                     /* two warps */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(
            stores_merged(rows[i].stores, rows[i].times, rows[i].threads, rows[i].merging_lines),
            rows[i].merged);
}

static CU_TestInfo tests[] = {
    { "stores keep sectors of the L1", stores_keep_sectors_of_the_l1 },
    { "sectors written in part wait for their slice",
      sectors_written_in_part_wait_for_their_slice },
    { "slices that are behind hold up an SM", slices_that_are_behind_hold_up_an_sm },
    { "a warp's stores to few lines are merged", a_warps_stores_to_few_lines_are_merged },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_stores = { "test_sim_time_stores", NULL, NULL, NULL, NULL, tests };
