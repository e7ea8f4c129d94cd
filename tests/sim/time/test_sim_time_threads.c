/* test_sim_time_threads.c - the modelled time is the same on any number of threads. */
#include "sim/sim_time.h"

#include <string.h>

/* Rounds of a loop around `body`; %r10 counts them. Long enough for threads. */
#define ROUNDS(n, body)                                                                            \
    KERNEL("mov.u32 %r10, 0;\nLOOP:\n" body "add.u32 %r10, %r10, 1;\n"                             \
           "setp.lt.u32 %p1, %r10, " #n ";\n@%p1 bra LOOP;\n")
/* %rd5: the address of a word that depends on the thread and the round. */
#define SOME_WORD                                                                                  \
    "mad.lo.u32 %r11, %r10, 997, %r6;\nmul.lo.u32 %r11, %r11, %r11;\n"                             \
    "and.b32 %r11, %r11, 8191;\nmul.wide.u32 %rd4, %r11, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"

static const char loads[] = ROUNDS(40, SOME_WORD "ld.global.u32 %r12, [%rd5];\n"
                                                 "ld.global.u32 %r13, [%rd5+32768];\n"
                                                 "min.u32 %r14, %r12, %r13;\nmov.b32 %r15, %r14;\n"
                                                 "add.u32 %r0, %r0, %r15;\n");
static const char stores[] = ROUNDS(40, SOME_WORD "st.global.u32 [%rd5], %r10;\nmembar.gl;\n"
                                                  "ld.global.u32 %r12, [%rd5+4];\n"
                                                  "bar.sync 0;\nadd.u32 %r0, %r0, %r12;\n");
static const char atomics[] = ROUNDS(40, SOME_WORD "atom.global.add.u32 %r12, [%rd5], 1;\n"
                                                   "red.global.add.f32 [%rd5+32768], 0f3F800000;\n"
                                                   "add.u32 %r0, %r0, %r12;\n");
static const char copies[] = HEAD BEGIN
    ".shared .align 16 .b8 s[4096];\nmov.u32 %r20, s;\nshl.b32 %r21, %r1, 2;\n"
    "add.u32 %r20, %r20, %r21;\nmov.u32 %r10, 0;\nLOOP:\n" SOME_WORD
    "cp.async.ca.shared.global [%r20], [%rd5], 4;\ncp.async.commit_group;\n"
    "cp.async.wait_group 2;\nbar.sync 0;\nld.shared.u32 %r12, [%r20];\nadd.u32 %r0, %r0, %r12;\n"
    "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 40;\n@%p1 bra LOOP;\n" END;
static const char clocks[] = ROUNDS(40, SOME_WORD "mov.u64 %rd10, %clock64;\n"
                                                  "ld.global.u32 %r12, [%rd5];\n"
                                                  "add.u32 %r0, %r0, %r12;\n"
                                                  "mov.u64 %rd11, %clock64;\n"
                                                  "sub.u64 %rd12, %rd11, %rd10;\n"
                                                  "cvt.u32.u64 %r13, %rd12;\n"
                                                  "add.u32 %r0, %r0, %r13;\n");

/* Blocks from number 45 on have three times the work, so all SMs are played from then on. */
static const char unequal[] =
    KERNEL("setp.ge.u32 %p2, %r4, 45;\nselp.u32 %r7, 120, 40, %p2;\nmov.u32 %r10, 0;\n"
           "LOOP:\n" SOME_WORD "ld.global.u32 %r12, [%rd5];\nadd.u32 %r0, %r0, %r12;\n"
           "st.global.u32 [%rd5+32768], %r10;\nadd.u32 %r10, %r10, 1;\n"
           "setp.lt.u32 %p1, %r10, %r7;\n@%p1 bra LOOP;\n");

typedef struct Outcome {
    TimingResult time;
    uint32_t out[OUT_WORDS];
} Outcome;

/* 120 blocks, 8 per SM; or if most_played is not 0, 70 blocks, 2 per SM. */
static void run(const char *ptx, int threads, uint64_t most_played, Outcome *outcome)
{
    Trial trial = { .ptx = ptx,
                    .threads = 128,
                    .blocks = most_played ? 70 : 120,
                    .blocks_an_sm = most_played ? 2 : 8 };
    Device device = plain;

    device.sms = 5;
    device.l2_bytes = 32 << 10; /* less than the array */
    device.memory_queue = 100;
    trial.gpu = gpu_open(&device);
    trial.most_played = most_played;
    gpu_use_threads(trial.gpu, threads);
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    outcome->time = trial.time;
    outcome->time.steps = NULL;
    memcpy(outcome->out, trial.out, sizeof outcome->out);
    trial_close(&trial);
    gpu_close(trial.gpu);
}

static void compare(const char *ptx, uint64_t most_played)
{
    static Outcome one, other;
    static const int threads[] = { 2, 3, 6 };

    run(ptx, 1, most_played, &one);
    CU_ASSERT(one.time.cycles > 1000);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        run(ptx, threads[i], most_played, &other);
        CU_ASSERT_EQUAL(memcmp(&one.time, &other.time, sizeof one.time), 0);
        CU_ASSERT_EQUAL(memcmp(one.out, other.out, sizeof one.out), 0);
    }
}

static void accesses_are_the_same(void)
{
    compare(loads, 0);
    compare(stores, 0);
    compare(atomics, 0);
    compare(copies, 0);
}

static void clocks_are_the_same(void)
{
    compare(clocks, 0);
}

/* After 6 waves of 10 blocks the last wave is left out. */
static void waves_that_are_left_out_are_the_same(void)
{
    compare(loads, 1000);
}

/* A twin that begins to be played still has blocks whose accesses another SM makes. */
static void twins_that_are_played_from_some_block_on_are_the_same(void)
{
    enum { MANY = 1000000000 };

    compare(loads, MANY);
    compare(unequal, MANY);
}

static CU_TestInfo tests[] = {
    { "accesses are the same on any number of threads", accesses_are_the_same },
    { "clocks are the same", clocks_are_the_same },
    { "waves that are left out are the same", waves_that_are_left_out_are_the_same },
    { "twins that are played from some block on are the same",
      twins_that_are_played_from_some_block_on_are_the_same },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_threads = { "test_sim_time_threads", NULL, NULL, NULL, NULL, tests };
