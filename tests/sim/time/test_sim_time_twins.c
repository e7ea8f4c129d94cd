/* test_sim_time_twins.c - of each group of SMs one is played, and the others repeat it.
 *
 * Most tests compare the time with that of the same launch if all SMs are played. */
#include "sim/sim_time.h"
#include "sim/time/twins.h"

enum { MANY = 1000000000 }; /* instructions, of which no launch here has so many */

/* %r7: 1 in blocks from number `n` on, 0 in others. All threads write the same word. */
#define LATE                "mov.u64 %rd2, %rd1;\nsetp.ge.u32 %p2, %r4, %r3;\nselp.u32 %r7, 1, 0, %p2;\n"
#define ROUNDS(count, body) "mov.u32 %r10, 0;\nLOOP:\n" body "add.u32 %r10, %r10, 1;\n" count
#define WHILE_BELOW(limit)  "setp.lt.u32 %p1, %r10, " limit ";\n@%p1 bra LOOP;\n"
/* A line of an array of 4096, of each block and round its own. */
#define OWN_LINE                                                                                   \
    "mad.lo.u32 %r11, %r4, 8, %r10;\nand.b32 %r11, %r11, 511;\nmul.wide.u32 %rd4, %r11, 128;\n"    \
    "add.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r12, [%rd5];\nadd.u32 %r0, %r0, %r12;\n"

static const char equal[] = KERNEL(LATE ROUNDS(WHILE_BELOW("40"), INDEPENDENT));
/* Late blocks go round the loop ten times as often, or 1.1 times. */
static const char heavy[] =
    KERNEL(LATE "mad.lo.u32 %r8, %r7, 360, 40;\n" ROUNDS(WHILE_BELOW("%r8"), INDEPENDENT));
static const char slightly[] =
    KERNEL(LATE "mad.lo.u32 %r8, %r7, 4, 40;\n" ROUNDS(WHILE_BELOW("%r8"), INDEPENDENT));
static const char loads[] = KERNEL(LATE ROUNDS(WHILE_BELOW("8"), OWN_LINE));

static Device with_sms(int sms)
{
    Device device = plain;

    device.sms = sms;
    device.l2_bytes = 16 << 10; /* 128 lines */
    device.l1_bytes = 4 << 10;
    return device;
}

typedef struct Both {
    TimingResult all, some;
    int played; /* SMs that were played, for `some` */
} Both;

/* Only an SM that is played has had warps. */
static int played_sms(const Gpu *gpu)
{
    int count = 0;

    for (int i = 0; i < gpu->device.sms; i++)
        count += gpu->sms[i].spare != NULL;
    return count;
}

static Both both(const char *ptx, int sms, int blocks, uint32_t n)
{
    const Device device = with_sms(sms);
    Gpu *gpu = gpu_open(&device);
    Trial trial = { .ptx = ptx, .threads = 64, .blocks = blocks, .blocks_an_sm = 2, .n = n };
    Both both = { .all = play(&device, trial) };

    trial.most_played = MANY;
    trial.gpu = gpu;
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    both.some = trial.time;
    both.played = played_sms(gpu);
    CU_ASSERT_EQUAL(both.some.timed, blocks);
    trial_close(&trial);
    gpu_close(gpu);
    return both;
}

static double ratio(const Both *both)
{
    return both->some.cycles / both->all.cycles;
}

/* ---- Groups ---- */

static void each_sm_is_in_a_group_of_at_most_four(void)
{
    for (int sms = 1; sms <= 150; sms++) {
        Gpu gpu = { .device = with_sms(sms) };
        Twins twins;
        int played = 0;
        twins_begin(&twins, &gpu, 0);
        for (int i = 0; i < sms; i++) {
            const Group g = twins_group(&twins, i);
            CU_ASSERT(g.first <= i && i < g.end && g.end - g.first <= GROUP_SMS);
            CU_ASSERT(g.first <= g.played && g.played < g.end);
            CU_ASSERT_EQUAL(twins_group(&twins, g.first).end, g.end);
            played += twins_is_played(&twins, i);
        }
        CU_ASSERT_EQUAL(played, sms < 2 ? sms : sms <= 2 * GROUP_SMS ? 2 : (sms + 3) / 4);
    }
}

/* ---- Launches ---- */

static void equal_blocks_take_the_same_time(void)
{
    static const struct {
        int sms, blocks, played;
    } rows[] = { { 2, 9, 2 },  { 8, 1, 1 },   { 8, 8, 2 },    { 8, 9, 8 },   { 8, 16, 2 },
                 { 8, 33, 2 }, { 11, 33, 3 }, { 11, 34, 11 }, { 12, 60, 3 }, { 16, 100, 4 } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Both times = both(equal, rows[i].sms, rows[i].blocks, 0);
        CU_ASSERT_EQUAL(times.played, rows[i].played);
        CU_ASSERT_DOUBLE_EQUAL(ratio(&times), 1, 0.01);
        CU_ASSERT_EQUAL(times.some.instructions, times.all.instructions);
    }
}

/* Twins request from the L2 what their own blocks load. */
static void memory_serves_the_accesses_of_all_blocks(void)
{
    const Both times = both(loads, 8, 40, 0);

    CU_ASSERT_EQUAL(times.played, 2);
    CU_ASSERT_EQUAL(times.some.l1_hits + times.some.l1_misses,
                    times.all.l1_hits + times.all.l1_misses);
    CU_ASSERT_EQUAL(times.some.l2_hits + times.some.l2_misses,
                    times.all.l2_hits + times.all.l2_misses);
    CU_ASSERT_EQUAL(times.some.memory_read_bytes, times.all.memory_read_bytes);
    CU_ASSERT_DOUBLE_EQUAL(ratio(&times), 1, 0.02);
}

static void a_heavy_block_of_the_first_wave_has_all_sms_played(void)
{
    const Both times = both(heavy, 8, 16, 15);

    CU_ASSERT_EQUAL(times.played, 8);
    CU_ASSERT_EQUAL(times.some.cycles, times.all.cycles);
}

static void heavy_blocks_of_a_later_wave_have_all_sms_played(void)
{
    const Both times = both(heavy, 8, 64, 45);

    CU_ASSERT_EQUAL(times.played, 8);
    CU_ASSERT_DOUBLE_EQUAL(ratio(&times), 1, 0.05);
}

/* A block with 10 % more work is on an SM that is played. */
static void the_block_with_the_most_work_is_played(void)
{
    const Both times = both(slightly, 8, 16, 15);

    CU_ASSERT_EQUAL(times.played, 2);
    CU_ASSERT_DOUBLE_EQUAL(ratio(&times), 1, 0.01);
}

/* The time of each limit includes that of the twins. */
static void limits_are_those_of_all_sms(void)
{
    const Both times = both(equal, 8, 40, 0);

    for (int i = 0; i < LIMITS; i++)
        CU_ASSERT_DOUBLE_EQUAL(times.some.spent.at[i], times.all.spent.at[i],
                               0.02 * spent_sum(&times.all.spent));
}

static CU_TestInfo tests[] = {
    { "each SM is in a group of at most four", each_sm_is_in_a_group_of_at_most_four },
    { "equal blocks take the same time", equal_blocks_take_the_same_time },
    { "memory serves the accesses of all blocks", memory_serves_the_accesses_of_all_blocks },
    { "a heavy block of the first wave has all SMs played",
      a_heavy_block_of_the_first_wave_has_all_sms_played },
    { "heavy blocks of a later wave have all SMs played",
      heavy_blocks_of_a_later_wave_have_all_sms_played },
    { "the block with the most work is played", the_block_with_the_most_work_is_played },
    { "limits are those of all SMs", limits_are_those_of_all_sms },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_twins = { "test_sim_time_twins", NULL, NULL, NULL, NULL, tests };
