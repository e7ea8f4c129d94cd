/* test_sim_time_memory.c - the L2 and the DRAM of the timing model, without SMs. */
#include <CUnit/CUnit.h>

#include "sim/sim_time.h"
#include "sim/time/l2.h"

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

    device.l2_store_gbps = device.l2_store_sector_gbps = device.l2_store_part_gbps = 16;
    /* one sector per 2 cycles */
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
    memory_store(&memory, 0, 1, 1, SECTOR_BYTES, 1000);
    for (int half = 0; half < 2; half++)
        memory_load(&memory, half, 1, 3, 2000);
    CU_ASSERT_EQUAL(memory.l2_misses, 2); /* only the first two sectors ever */
    memory_model_close(&memory);
}

/* Sectors missed by SMs of half 0 that copy `lines` lines, the second time. */
static uint64_t copied_again(const Device *device, int lines, int half_of_stores)
{
    const unsigned all = (1u << SECTORS) - 1;
    Memory memory;
    uint64_t missed = 0;

    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, device, false));
    memory_model_begin(&memory);
    for (int i = 0; i < 2 * lines; i++) {
        if (i == lines)
            missed = memory.l2_misses;
        memory_load(&memory, 0, (uint64_t) (i % lines), all, (uint64_t) i);
        memory_store(&memory, half_of_stores, (uint64_t) (lines + i % lines), all, SECTOR_BYTES,
                     (uint64_t) i);
    }
    missed = memory.l2_misses - missed;
    memory_model_close(&memory);
    return missed;
}

/* Copies that an H200 repeats fit into its L2 of 60 MiB up to 16 MiB, and up to 24 if only what is
 * read were there twice (tests/sim/time/mechanisms, again). Here 2500 lines that are read and 2500
 * that are stored take 7500 of 8192 places, and more than there are in many sets; 6250 if what is
 * stored is only at home. */
static void lines_that_are_stored_take_places_in_both_halves(void)
{
    Device halves = plain;

    halves.l2_halves = 2;
    CU_ASSERT_EQUAL(copied_again(&halves, 1500, 0), 0);
    CU_ASSERT(copied_again(&halves, 2500, 0) > 2500);
    CU_ASSERT_EQUAL(copied_again(&halves, 2500, NO_HALF), 0);
    CU_ASSERT_EQUAL(copied_again(&plain, 2500, 0), 0);
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

/* ---- Lines that arrive later, and reads that wait ---- */

/* The latency of a line that was read before by SMs of this half, or -1: not in the L2. */
static uint64_t latency_after(const Device *device, int reader, int half, uint64_t line)
{
    Memory memory;
    uint64_t there;

    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, device, false));
    memory_model_begin(&memory);
    if (reader >= 0)
        memory_load(&memory, reader, line, 1, 0);
    there = memory_load(&memory, half, line, 1, 100000) - 100000;
    memory_model_close(&memory);
    return there;
}

/* The first read by an SM of the other half takes longer, on an H200 by 86 ns; then there is a copy
 * nearby (tests/sim/time/mechanisms, share.l2). */
static void lines_of_the_other_half_are_farther(void)
{
    Device device = plain;
    int farther = 0;

    device.l2_halves = 2;
    device.l2_far_latency = 170;
    for (uint64_t line = 0; line < 100; line++) {
        const uint64_t one = latency_after(&device, 0, 1, line);
        const uint64_t other = latency_after(&device, 1, 0, line);
        CU_ASSERT_EQUAL(latency_after(&device, 0, 0, line), latency_after(&device, 1, 1, line));
        CU_ASSERT_EQUAL(one > other ? one - other : other - one, 170);
        farther += one > other;
    }
    CU_ASSERT(farther > 30 && farther < 70);
}

/* A loop that waited for two lines of an H200's memory took longer than one that waited for one,
 * although few were in flight (flight.add, flight.read): each row has its own delay. Lines of a row
 * arrive together: blocks that copied a row each were modelled at 0.85 of an H200's rate when each
 * line had its own. */
static void the_latest_of_several_rows_counts(void)
{
    enum { TRIALS = 5000, LINES = 8 };
    Device device = plain;
    double all = 0, latest_of_four = 0;
    uint64_t latest = 0;

    device.memory_spread = 100;
    for (uint64_t row = 0; row < TRIALS; row++) {
        const uint64_t there = latency_after(&device, -1, 0, row * LINES);
        CU_ASSERT_EQUAL(latency_after(&device, -1, 0, row * LINES + row % LINES), there);
        latest = row % 4 ? later(latest, there) : there;
        all += (double) there / TRIALS;
        latest_of_four += row % 4 == 3 ? (double) latest / TRIALS * 4 : 0;
    }
    /* The mean of the latest of four is 1 + 1/2 + 1/3 + 1/4 means of one. */
    CU_ASSERT_DOUBLE_EQUAL(all - (double) latency_after(&plain, -1, 0, 0), 100, 4);
    CU_ASSERT_DOUBLE_EQUAL(latest_of_four - all, 108, 8);
    CU_ASSERT_EQUAL(latency_after(&device, -1, 0, 7), latency_after(&device, -1, 0, 7));
}

/* An H200's reads take hardly longer if it reads much else, but longer if it writes. */
static void reads_wait_while_memory_is_written(void)
{
    Device device = plain;
    Memory memory;

    device.memory_queue = 400;
    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, &device, false));
    memory_model_begin(&memory);
    const double alone = memory_beyond(&memory, 1, 1000);
    memory_read_atoms(&memory, 1, 250, 0); /* a quarter of the time */
    CU_ASSERT_EQUAL(memory_beyond(&memory, 1, 1000), alone);
    memory_write_atoms(&memory, 1, 250, 0);
    CU_ASSERT_DOUBLE_EQUAL(memory_beyond(&memory, 1, 1000), alone + 400 * 0.25 / 0.5, 1e-9);
    memory_model_close(&memory);
}

/* The cycles until a read has arrived that is made at `now`, after a line was displaced that needs
 * to be written. Until then the DRAM was idle. */
static double read_behind_a_write(bool dirtied, double now)
{
    const unsigned all = (1u << SECTORS) - 1;
    Memory memory;
    double there;

    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, &plain, false));
    memory_model_begin(&memory);
    if (dirtied)
        memory_store(&memory, 0, 1, all, SECTOR_BYTES, 0);
    memory_read_atoms(&memory, 2, 1, now);
    memory_write_atoms(&memory, 1, memory.atoms[all], now);
    there = memory_read_atoms(&memory, 3, 1, now) - now;
    CU_ASSERT_DOUBLE_EQUAL(memory.dram_busy, /* the same work, whenever it is done */
                           2 * memory.read_cycles + memory.atoms[all] * memory.write_cycles, 1e-9);
    memory_model_close(&memory);
    return there;
}

/* Writes once began only when a read displaced a line, never while the DRAM was idle. So blocks
 * that all read at the same time stayed in step: lab 10's compaction took 154 to 172 us on a
 * simulated H200, depending on its input. Only what the launch has dirtied is written ahead. */
static void an_idle_memory_writes_ahead(void)
{
    const double waits = read_behind_a_write(true, 0);

    CU_ASSERT(read_behind_a_write(true, 1000) < waits);
    CU_ASSERT_DOUBLE_EQUAL(read_behind_a_write(false, 1000), waits, 1e-9);
}

/* An H200 reads two sectors in the time of one, but writes each by itself, and slower if lanes
 * write it in part (fetch.16.1.132 and fetch.16.2.132, store.16.1.132 and store.16.2.132). */
static void single_sectors_take_longer_than_their_share(void)
{
    const unsigned one = 1, two = 3, far_apart = 5;
    Device device = plain;
    Memory memory;

    device.l2_pass_bytes = 64;        /* in 2 cycles */
    device.l2_store_gbps = 16;        /* a line in 8 cycles */
    device.l2_store_sector_gbps = 10; /* a sector in 3.2 */
    device.l2_store_part_gbps = 12.8; /* a line of which a part is written in 10 */
    CU_ASSERT_TRUE_FATAL(memory_model_open(&memory, &device, false));
    memory_model_begin(&memory);
    CU_ASSERT_EQUAL(memory.passes[one], 1);
    CU_ASSERT_EQUAL(memory.passes[two], 1);
    CU_ASSERT_EQUAL(memory.passes[far_apart], 2);
    CU_ASSERT_DOUBLE_EQUAL(memory_pass(&memory, 1, 0), 2, 1e-9);
    memory_pass_stores(&memory, (StoredParts){ 1, 1, 1, true }, 0);
    CU_ASSERT_DOUBLE_EQUAL(memory.store_free, 3.2, 1e-9);
    memory_pass_stores(&memory, (StoredParts){ 1, 2, 4, true }, 0);
    CU_ASSERT_DOUBLE_EQUAL(memory.store_free, 3.2 + 8, 1e-9);
    memory_pass_stores(&memory, (StoredParts){ 1, 2, 4, false }, 0);
    CU_ASSERT_DOUBLE_EQUAL(memory.store_free, 3.2 + 8 + 10, 1e-9);
    memory_model_close(&memory);
}

/* ---- Copies ---- */

/* What a copy reads takes room, too: after one of 32 MiB, nothing of it was left in an H200's L2 of
 * 60 MiB (left.copied). saxpy_grid_stride (tests/sim/blind) was modelled 1.4 times too fast. */
static void what_a_copy_reads_takes_room(void)
{
    const uint64_t from = memory_base() + 4096, to = from + ((uint64_t) 1 << 24);
    const size_t bytes = 768 << 10; /* of an L2 of 1 MiB */

    for (int reads = 0; reads < 2; reads++) {
        Gpu *gpu = gpu_open(&plain);
        int left = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
        gpu_written(gpu, to, reads ? from : 0, bytes);
        l2_play(gpu);
        for (uint64_t at = to - memory_base(); at < to - memory_base() + bytes; at += LINE_BYTES)
            left += cache_peek(&gpu->memory.l2, at / LINE_BYTES) != NULL;
        CU_ASSERT(reads ? left < 5000 && left > 3000 : left == 6144);
        gpu_close(gpu);
    }
}

/* The cycles of 20 loads of bytes in the L1, `apart` bytes apart. */
static double loads_of_bytes(int apart)
{
    char before[300];
    Device device = plain;
    double time[2];

    device.l1_lines = 8;
    snprintf(before, sizeof before, "mul.wide.u32 %%rd9, %%r1, %d;\nadd.s64 %%rd9, %%rd1, %%rd9;\n",
             apart);
    for (int i = 0; i < 2; i++)
        time[i] = play(&device, (Trial){ .ptx = repeat(before, "ld.global.u8 %r20, [%rd9];\n",
                                                       20 * (i + 1), "add.u32 %r0, %r0, %r20;\n"),
                                         .threads = 32 })
                      .cycles;
    return time[1] - time[0];
}

/* Banks deliver words, whichever lines they are in. Whole sectors were charged: names_bytes (blind
 * set), whose threads read records of 24 bytes, was 1.6 times too slow. */
static void sectors_of_a_load_do_not_count(void)
{
    const double near = loads_of_bytes(4), two_a_bank = loads_of_bytes(8);

    CU_ASSERT_EQUAL(two_a_bank - near, 20);
    CU_ASSERT_EQUAL(loads_of_bytes(24), two_a_bank);
}

static CU_TestInfo tests[] = {
    { "updates take parts of cycles", updates_take_parts_of_cycles },
    { "neighbouring kilobytes have different units", neighbouring_kilobytes_have_different_units },
    { "each pass moves a sector", each_pass_moves_a_sector },
    { "lines that all SMs read are kept twice", lines_that_all_sms_read_are_kept_twice },
    { "a store replaces both copies", a_store_replaces_both_copies },
    { "lines that are stored take places in both halves",
      lines_that_are_stored_take_places_in_both_halves },
    { "scattered reads wait for rows", scattered_reads_wait_for_rows },
    { "lines of the other half are farther", lines_of_the_other_half_are_farther },
    { "the latest of several rows counts", the_latest_of_several_rows_counts },
    { "reads wait while memory is written", reads_wait_while_memory_is_written },
    { "an idle memory writes ahead", an_idle_memory_writes_ahead },
    { "single sectors take longer than their share", single_sectors_take_longer_than_their_share },
    { "what a copy reads takes room", what_a_copy_reads_takes_room },
    { "sectors of a load do not count", sectors_of_a_load_do_not_count },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_memory = { "test_sim_time_memory", NULL, NULL, NULL, NULL, tests };
