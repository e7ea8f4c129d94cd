/* test_sim_time_memory.c - the L2 and the DRAM of the timing model, without SMs. */
#include <CUnit/CUnit.h>

#include "sim/sim_time.h"
#include "sim/time/model.h"

/* When the last of `count` atomics of one warp each has returned, all queued at cycle 0. */
static uint64_t last_update(const Device *device, int count)
{
    const uint64_t word = trace_line(1, 1, 1, 1);
    uint64_t last = 0;
    Memory memory;

    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < count; i++)
        last = later(last, memory_atomic(&memory, TRACE_INTEGER_ATOMIC, word, 0));
    memory_model_close(&memory);
    return last;
}

/* The end of each update was once rounded up to a whole cycle. Where updates take 2.04 cycles, as
 * those of an H200 were said to, a counter in global memory was modelled 1.9 times too slow. */
static void updates_take_parts_of_cycles(void)
{
    Device device = plain;

    device.integer_atomic_ns = 2.25;
    CU_ASSERT_EQUAL(last_update(&device, 1001) - last_update(&device, 1), 2250);
}

/* The cycles per update of addresses in `kilobytes` consecutive kilobytes, one per piece of 256
 * bytes, of which the first is at `base` kilobytes. A pass takes 100 cycles here, longer than its
 * way to the L2. */
static double cycles_per_update(int base, int kilobytes)
{
    enum { ROUNDS = 200, PIECES = 4 };
    const int pieces = PIECES * kilobytes;
    Device device = plain;
    uint64_t first = 0, last = 0;
    Memory memory;

    device.atomic_pass_ns = 100;
    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, &device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < ROUNDS * pieces; i++) {
        const uint64_t word = trace_line((uint64_t) (base * PIECES + i % pieces) * 2, 1, 1, 1);
        last = later(last, memory_atomic(&memory, TRACE_INTEGER_ATOMIC, word, 0));
        first = i < pieces ? last : first;
    }
    memory_model_close(&memory);
    return (double) (last - first) / ((ROUNDS - 1) * pieces);
}

/* Two units serve a kilobyte. Pairs were once chosen at random, so that two of 12 kilobytes shared
 * one, and labels_each and labels_match (tests/sim/blind) were modelled 1.4 times too slow. Now
 * they differ, wherever the data begins. But 24 units are not quite 24 times as fast as one. */
static void neighbouring_kilobytes_have_different_units(void)
{
    CU_ASSERT_DOUBLE_EQUAL(cycles_per_update(0, 1), 100 / 2.0, 0.5);
    for (int base = 0; base < 500; base += 7) {
        const double taken = cycles_per_update(base, 12);
        CU_ASSERT(taken > 100 / 24.0);
        CU_ASSERT_DOUBLE_EQUAL(taken, 100 / 24.0 * (1 + 23 / 264.0), 0.05);
    }
}

/* Each pass is a sector of its own in the L2: 32 lanes that update one address in turn move 32. */
static void each_pass_moves_a_sector(void)
{
    enum { UPDATES = 1000, PASSES = 32 };
    Device device = plain;
    Memory memory;

    device.l2_store_gbps = 16; /* one sector per 2 cycles */
    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, &device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < UPDATES; i++)
        memory_atomic(&memory, TRACE_INTEGER_ATOMIC,
                      trace_line((uint64_t) i * 8, 1, PASSES, PASSES), 0);
    CU_ASSERT_DOUBLE_EQUAL(memory.store_free, 2.0 * UPDATES * PASSES, 1);
    memory_model_close(&memory);
}

/* ---- The halves of the L2 ---- */

static uint64_t sectors_missed(const Device *device, int lines, int rounds, bool both)
{
    Memory memory;
    uint64_t missed;

    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < rounds * lines; i++)
        for (int half = 0; half < (both ? 2 : 1); half++)
            memory_load(&memory, half, (uint64_t) (i % lines), 1, (uint64_t) i);
    missed = memory.l2_misses;
    memory_model_close(&memory);
    return missed;
}

/* `plain` has an L2 of 8192 lines. An H200 answered random reads of 40 MiB from DRAM although its
 * L2 has 60 MiB (tests/sim/time/mechanisms, gather.40960): each half keeps what its SMs read. */
static void lines_that_all_sms_read_are_kept_twice(void)
{
    Device halves = plain;

    halves.l2_halves = 2;
    CU_ASSERT_EQUAL(sectors_missed(&plain, 6000, 3, true), 6000);
    CU_ASSERT_EQUAL(sectors_missed(&halves, 3000, 3, true), 3000);
    CU_ASSERT(sectors_missed(&halves, 6000, 3, true) > 12000);
}

static void a_store_replaces_both_copies(void)
{
    Device halves = plain;
    Memory memory;

    halves.l2_halves = 2;
    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, &halves, false));
    memory_model_begin(&memory);
    for (int half = 0; half < 2; half++)
        memory_load(&memory, half, 1, 3, 0);
    memory_store(&memory, 1, 1, SECTOR_BYTES, 1000);
    for (int half = 0; half < 2; half++)
        memory_load(&memory, half, 1, 3, 2000);
    CU_ASSERT_EQUAL(memory.l2_misses, 2); /* only the first two sectors ever */
    memory_model_close(&memory);
}

/* ---- Rows of the DRAM ---- */

/* The cycles that reading one sector of each `step`-th line takes if nothing else limits it. */
static double reading_lines(const Device *device, int step)
{
    enum { READS = 4000 };
    Memory memory;
    double last = 0;

    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < READS; i++)
        last = memory_read_atoms(&memory, (uint64_t) (i * step), 1, 0);
    memory_model_close(&memory);
    return last / READS;
}

/* An atom of 64 bytes takes `plain` a cycle; opening a row takes 4. A row has 8 lines. */
static void scattered_reads_wait_for_rows(void)
{
    Device device = plain;

    CU_ASSERT_DOUBLE_EQUAL(reading_lines(&device, 1000), 1, 0.01);
    device.memory_rows_per_ns = 0.25;
    CU_ASSERT_DOUBLE_EQUAL(reading_lines(&device, 1), 1, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(reading_lines(&device, 1000), 4, 0.01);
}

static CU_TestInfo tests[] = {
    { "updates take parts of cycles", updates_take_parts_of_cycles },
    { "neighbouring kilobytes have different units", neighbouring_kilobytes_have_different_units },
    { "each pass moves a sector", each_pass_moves_a_sector },
    { "lines that all SMs read are kept twice", lines_that_all_sms_read_are_kept_twice },
    { "a store replaces both copies", a_store_replaces_both_copies },
    { "scattered reads wait for rows", scattered_reads_wait_for_rows },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_memory = { "test_sim_time_memory", NULL, NULL, NULL, NULL, tests };
