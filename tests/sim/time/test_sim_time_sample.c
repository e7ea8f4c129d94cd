/* test_sim_time_sample.c - stretches of a launch that repeat are left out, and only those.
 *
 * Each test compares the time with that of the same launch if all blocks are played. */
#include "sim/sim_time.h"

enum { MANY = 1000000000 }; /* instructions, of which no launch here has so many */

/* %r7: 1 in blocks from number `n` on, 0 in others. All threads write the same word. */
#define LATE                "mov.u64 %rd2, %rd1;\nsetp.ge.u32 %p2, %r4, %r3;\nselp.u32 %r7, 1, 0, %p2;\n"
#define ROUNDS(count, body) "mov.u32 %r10, 0;\nLOOP:\n" body "add.u32 %r10, %r10, 1;\n" count
#define WHILE_BELOW(limit)  "setp.lt.u32 %p1, %r10, " limit ";\n@%p1 bra LOOP;\n"

static const char steady[] = KERNEL(LATE ROUNDS(WHILE_BELOW("40"), INDEPENDENT));
/* Late blocks go round the loop twice as often. */
static const char longer[] =
    KERNEL(LATE "mad.lo.u32 %r8, %r7, 40, 40;\n" ROUNDS(WHILE_BELOW("%r8"), INDEPENDENT));
/* Each round loads one of 512 lines: late blocks the next one each, the others always the same one.
 */
static const char apart[] = KERNEL(
    LATE ROUNDS(WHILE_BELOW("4"), "mad.lo.u32 %r11, %r4, 4, %r10;\nand.b32 %r11, %r11, 511;\n"
                                  "mul.lo.u32 %r11, %r11, %r7;\n"
                                  "mul.wide.u32 %rd4, %r11, 128;\nadd.s64 %rd5, %rd1, %rd4;\n"
                                  "ld.global.u32 %r12, [%rd5];\nadd.u32 %r0, %r0, %r12;\n"));
static const char clock[] =
    KERNEL(LATE "setp.eq.u32 %p3, %r7, 0;\n@%p3 bra WORK;\nmov.u64 %rd10, %clock64;\n"
                "cvt.u32.u64 %r0, %rd10;\nWORK:\n" ROUNDS(WHILE_BELOW("40"), INDEPENDENT));

static Device two_sms(void)
{
    Device device = plain;

    device.sms = 2;
    device.l2_bytes = 16 << 10; /* 128 lines */
    device.l1_bytes = 4 << 10;
    return device;
}

typedef struct Both {
    TimingResult all, some;
} Both;

static Both both(const char *ptx, int blocks, uint32_t n)
{
    const Device device = two_sms();
    Trial trial = { .ptx = ptx, .threads = 64, .blocks = blocks, .blocks_an_sm = 2, .n = n };
    Both both = { .all = play(&device, trial) };

    trial.most_played = MANY;
    both.some = play(&device, trial);
    CU_ASSERT_EQUAL(both.all.timed, blocks);
    CU_ASSERT_EQUAL(both.some.blocks, blocks);
    return both;
}

static bool is_close(const Both *both, double most)
{
    const double ratio = both->some.cycles / both->all.cycles;

    return ratio > 1 - most && ratio < 1 + most;
}

/* ---- Launches ---- */

static void waves_that_are_alike_are_left_out(void)
{
    static const struct {
        int blocks; /* four of them are a wave */
        bool samples;
    } rows[] = { { 4, false }, { 23, false }, { 40, true }, { 203, true }, { 1600, true } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Both times = both(steady, rows[i].blocks, 0);
        CU_ASSERT_EQUAL(times.some.timed < rows[i].blocks, rows[i].samples);
        CU_ASSERT_TRUE(is_close(&times, 0.01));
        if (!rows[i].samples)
            CU_ASSERT_EQUAL(times.some.cycles, times.all.cycles);
    }
}

static void at_most_a_third_of_a_steady_launch_is_played(void)
{
    const Both times = both(steady, 1600, 0);

    CU_ASSERT(times.some.timed * 3 <= times.some.blocks);
}

static void blocks_with_more_instructions_are_played(void)
{
    const Both times = both(longer, 640, 320), none = both(longer, 640, 640);

    CU_ASSERT(times.some.timed > none.some.timed);
    CU_ASSERT_TRUE(is_close(&times, 0.01));
}

static void blocks_that_miss_the_l2_are_played(void)
{
    const Both times = both(apart, 640, 320), none = both(apart, 640, 640);

    CU_ASSERT(times.all.cycles > 1.5 * none.all.cycles);
    CU_ASSERT(times.some.timed > none.some.timed);
    CU_ASSERT_TRUE(is_close(&times, 0.01));
}

static void a_launch_that_reads_a_clock_is_played_from_there_on(void)
{
    const Both times = both(clock, 640, 320), none = both(clock, 640, 640);

    CU_ASSERT(times.some.timed >= none.some.timed + 300);
    CU_ASSERT_TRUE(is_close(&times, 0.01));
}

/* Bytes per block played, of which there are enough for all blocks. */
static void bytes_of_memory_are_those_of_all_blocks(void)
{
    const Both times = both(apart, 640, 320);
    const double blocks = times.some.blocks, timed = times.some.timed;

    CU_ASSERT(times.some.timed < times.some.blocks);
    CU_ASSERT_DOUBLE_EQUAL(
        times.some.memory_read_bytes * blocks / timed / times.all.memory_read_bytes, 1, 0.01);
}

/* ---- What they leave ---- */

enum { LAST = 16 };

/* The time of a launch that loads the lines which the last blocks of another one have loaded. */
static double second_launch(uint64_t most_played, long *timed)
{
    const Device device = two_sms();
    Gpu *gpu = gpu_open(&device);
    Trial trial = { .ptx = apart,
                    .threads = 64,
                    .blocks = 640,
                    .blocks_an_sm = 2,
                    .gpu = gpu,
                    .most_played = most_played };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    *timed = trial.time.timed;
    launch_free(&trial.launch);
    trial.most_played = 0;
    trial.blocks = LAST;
    memcpy(trial.params, &(uint64_t){ trial.array->base + (512 - 4 * LAST) * 128 }, 8);
    trial_launch(&trial);
    trial_close(&trial);
    gpu_close(gpu);
    return trial.time.cycles;
}

static void the_l2_holds_what_left_out_blocks_loaded(void)
{
    long all, some;
    const double after_all = second_launch(0, &all), after_some = second_launch(MANY, &some);

    CU_ASSERT(some < all);
    CU_ASSERT_DOUBLE_EQUAL(after_some / after_all, 1, 0.02);
}

static CU_TestInfo tests[] = {
    { "waves that are alike are left out", waves_that_are_alike_are_left_out },
    { "at most a third of a steady launch is played",
      at_most_a_third_of_a_steady_launch_is_played },
    { "blocks with more instructions are played", blocks_with_more_instructions_are_played },
    { "blocks that miss the L2 are played", blocks_that_miss_the_l2_are_played },
    { "a launch that reads a clock is played from there on",
      a_launch_that_reads_a_clock_is_played_from_there_on },
    { "bytes of memory are those of all blocks", bytes_of_memory_are_those_of_all_blocks },
    { "the L2 holds what left-out blocks loaded", the_l2_holds_what_left_out_blocks_loaded },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_sample = { "test_sim_time_sample", NULL, NULL, NULL, NULL, tests };
