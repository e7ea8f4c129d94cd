/* test_sim_ahead.c - blocks that run ahead of their turn, on several threads, leave everything as
 * if they had run one after another; and those run ahead that can. */
#include "sim/exec/ahead.h"
#include "sim/exec/loops.h"
#include "sim/sim_launch.h"

enum { BLOCKS = 120, THREADS = 72, OTHERS = BLOCKS - 1 /* than the first one */ };

typedef enum Blocks { NONE, SOME, ALL } Blocks;
typedef enum Ending { CLEAN, WARNS, FAILS } Ending;

/* ---- Kernels ---- */

#define TABLE      ".global .align 16 .b8 table[32768];\n"
#define WITH(body) HEAD TABLE BEGIN body END
#define ROUNDS(a)                                                                                  \
    "mov.u32 %r10, 0;\nLOOP:\n" a "add.u32 %r10, %r10, 1;\n"                                       \
    "setp.lt.u32 %p1, %r10, 40;\n@%p1 bra LOOP;\n"
/* %r0 becomes a sum of words of `table`, which holds zeros; then it is not zero. */
#define READS                                                                                      \
    "mov.u64 %rd10, table;\n" ROUNDS(                                                              \
        "mad.lo.u32 %r11, %r10, 997, %r6;\nand.b32 %r11, %r11, 8191;\n"                            \
        "mul.wide.u32 %rd4, %r11, 4;\nadd.s64 %rd5, %rd10, %rd4;\nld.global.u32 %r12, [%rd5];\n"   \
        "add.u32 %r0, %r0, %r12;\n") "mad.lo.u32 %r0, %r6, 3, %r0;\n"
/* %p2: in block n. */
#define IN_BLOCK(n) "setp.eq.u32 %p2, %r4, " #n ";\n"

typedef struct Kernel {
    const char *name;
    Blocks ahead;
    const char *ptx;
    uint64_t budget;
    FindingKind finding; /* if it ends with one */
    Ending ending;
} Kernel;

static const Kernel kernels[] = {
    { "words", ALL, WITH(READS), 0, 0, CLEAN },
    { "bytes and vectors", ALL,
      WITH(READS
           "cvt.u16.u32 %rs1, %r0;\nst.global.u8 [%rd1+40001], %rs1;\n"
           "and.b32 %r13, %r6, 1023;\nmul.wide.u32 %rd6, %r13, 16;\nadd.s64 %rd7, %rd1, %rd6;\n"
           "st.global.v4.u32 [%rd7+40016], {%r0, %r1, %r2, %r4};\n"),
      0, 0, CLEAN },
    { "generic addresses", ALL,
      HEAD TABLE BEGIN READS ".local .align 4 .b8 own[64];\ncvta.local.u64 %rd8, own;\n"
                             "st.u32 [%rd8+4], %r0;\nld.u32 %r0, [%rd8+4];\nst.u32 [%rd2], %r0;\n"
                             "ret;\n}\n",
      0, 0, CLEAN },
    { "one word for all blocks", ALL, WITH(READS "st.global.u32 [%rd1+60000], %r4;\n"), 0, 0,
      CLEAN },
    { "sums that depend on the order", ALL,
      WITH(READS "cvt.rn.f32.u32 %f1, %r0;\nrcp.rn.f32 %f2, %f1;\n"
                 "red.global.add.f32 [%rd1+60004], %f2;\nmul.f32 %f3, %f2, 0f4B000000;\n"
                 "atom.global.add.f32 %f4, [%rd1+60004], %f3;\n"),
      0, 0, CLEAN },
    { "updates that depend on the order", ALL,
      WITH(READS "atom.global.exch.b32 %r13, [%rd1+60008], %r0;\n"
                 "red.global.inc.u32 [%rd1+60012], 77;\nred.global.xor.b32 [%rd1+60008], %r6;\n"
                 "cvt.u64.u32 %rd9, %r6;\nred.global.max.u64 [%rd1+60016], %rd9;\n"),
      0, 0, CLEAN },
    { "shared memory", ALL,
      HEAD TABLE BEGIN
      ".shared .align 16 .b8 s[512];\n" READS
      "mov.u32 %r20, s;\nshl.b32 %r21, %r1, 2;\nadd.u32 %r21, %r20, %r21;\n"
      "st.shared.u32 [%r21], %r0;\ncp.async.ca.shared.global [%r20+496], [%rd10], 16;\n"
      "cp.async.commit_group;\ncp.async.wait_all;\nbar.sync 0;\n"
      "atom.shared.add.u32 %r22, [%r20+4], %r1;\nbar.sync 0;\nld.shared.u32 %r0, [%r20+4];\n"
      "ld.shared.u32 %r23, [%r20+496];\nadd.u32 %r0, %r0, %r23;\n" END,
      0, 0, CLEAN },
    { "lanes that part", ALL,
      WITH(READS "mov.u32 %r10, %r2;\nAGAIN:\nadd.u32 %r0, %r0, %r10;\nsetp.gt.u32 %p3, %r10, 9;\n"
                 "@%p3 add.u32 %r0, %r0, 5;\nsub.u32 %r10, %r10, 1;\nsetp.gt.s32 %p1, %r10, 3;\n"
                 "@%p1 bra AGAIN;\nshfl.sync.bfly.b32 %r13, %r0, 1, 31, -1;\n"
                 "add.u32 %r0, %r0, %r13;\n"),
      0, 0, CLEAN },
    { "shuffles", ALL, /* of different lanes in each block */
      WITH("mov.u64 %rd10, table;\n" ROUNDS(
          "add.u32 %r13, %r10, %r4;\nand.b32 %r13, %r13, 7;\n"
          "shfl.sync.idx.b32 %r14, %r6, %r13, 31, -1;\nadd.u32 %r15, %r13, %r1;\nand.b32 %r15, "
          "%r15, 7;\n"
          "shfl.sync.bfly.b32 %r16, %r14, %r15, 31, -1;\nmad.lo.u32 %r0, %r0, 3, %r16;\n"
          "add.u32 %r0, %r0, %r14;\n")),
      0, 0, CLEAN },
    { "what it has written", NONE,
      WITH(READS "ld.global.u32 %r13, [%rd2];\nadd.u32 %r0, %r0, %r13;\n"), 0, 0, CLEAN },
    { "what an earlier block has written", SOME,
      WITH(READS IN_BLOCK(60) "@%p2 ld.global.u32 %r0, [%rd1+20];\n"), 0, 0, CLEAN },
    { "a table that a block changes", SOME,
      WITH("mov.u64 %rd10, table;\n" IN_BLOCK(
          60) "@!%p2 bra READ;\nmov.u32 %r10, 0;\nWRITE:\n"
              "mul.wide.u32 %rd4, %r10, 4;\nadd.s64 %rd5, %rd10, %rd4;\nst.global.u32 [%rd5], "
              "%r10;\n"
              "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 8192;\n@%p1 bra WRITE;\nbra OVER;\n"
              "READ:\n" READS "OVER:\n"),
      0, 0, CLEAN },
    { "a table that an early, long block has written", SOME,
      WITH("mov.u64 %rd10, table;\n" IN_BLOCK(
          3) "selp.u32 %r14, 20000, 40, %p2;\n"
             "setp.ge.u32 %p3, %r4, 14;\n@%p3 bra READ;\nmov.u32 %r10, 0;\nLONG:\n"
             "add.u32 %r0, %r0, %r10;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, %r14;\n"
             "@%p1 bra LONG;\n@%p2 st.global.u32 [%rd10+400], %r5;\nbra OVER;\n"
             "READ:\nmov.u32 %r10, 0;\nMORE:\nld.global.u32 %r12, [%rd10+400];\n"
             "add.u32 %r0, %r0, %r12;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 100;\n"
             "@%p1 bra MORE;\nOVER:\n"),
      0, 0, CLEAN },
    { "the result of an atomic", NONE,
      WITH(READS "atom.global.add.u32 %r13, [%rd1+60000], 1;\nadd.u32 %r0, %r0, %r13;\n"), 0, 0,
      CLEAN },
    { "volatile words", NONE, WITH(READS "ld.volatile.global.u32 %r13, [%rd10];\n"), 0, 0, CLEAN },
    { "a fence", NONE, WITH(READS "membar.gl;\n"), 0, 0, CLEAN },
    { "a clock", NONE, WITH(READS "mov.u32 %r13, %clock;\n"), 0, 0, CLEAN },
    { "a fault", SOME, WITH(READS IN_BLOCK(60) "@%p2 add.s64 %rd2, %rd2, 100000;\n"), 0,
      FINDING_OUT_OF_BOUNDS, FAILS },
    { "a warning", SOME,
      WITH(READS IN_BLOCK(
          60) "selp.u32 %r13, 20, 0, %p2;\nmov.u32 %r15, 255;\n"
              "setp.lt.u32 %p3, %r2, 8;\n@%p3 shfl.sync.idx.b32 %r0, %r0, %r13, 31, %r15;\n"),
      0, FINDING_SHUFFLE, WARNS },
    { "a trap", NONE, WITH(READS IN_BLOCK(60) "@%p2 trap;\n"), 0, FINDING_TRAP, FAILS },
    { "a barrier that some do not reach", SOME,
      WITH(READS IN_BLOCK(60) "setp.lt.and.u32 %p3, %r1, 32, %p2;\n@%p3 bra OVER;\nbar.sync 0;\n"
                              "OVER:\n@%p3 bar.sync 1;\n"),
      0, FINDING_BARRIER, FAILS },
    { "a block without end", SOME,
      WITH(READS IN_BLOCK(60) "FOREVER:\nadd.u32 %r0, %r0, 1;\n@%p2 bra FOREVER;\n"), 300000,
      FINDING_ENDLESS, FAILS },
    { "too many instructions in all", SOME, WITH(READS), 80000, FINDING_ENDLESS, FAILS },
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- An observer that takes blocks over ---- */

static int threads, later_threads; /* the latter when CHANGE_AT blocks have been taken over */
static int taken_over;
enum { CHANGE_AT = 50 };

static int use_threads(const Launch *launch)
{
    (void) launch;
    return taken_over < CHANGE_AT ? threads : later_threads;
}

static long as_many(const Launch *launch, long block)
{
    (void) launch;
    return 7 - block % 7;
}

static BlockTrace *no_trace(Launch *launch)
{
    (void) launch;
    return NULL;
}

static void ran(BlockTrace *trace)
{
    (void) trace;
}

static BlockTrace *begin(Launch *launch, long block, BlockTrace *trace)
{
    (void) launch, (void) trace;
    taken_over++;
    CU_ASSERT(block > 0 && block < BLOCKS);
    return NULL;
}

static void end(Launch *launch, BlockTrace *trace)
{
    (void) launch, (void) trace;
}

static const AheadCalls calls = { .threads = use_threads,
                                  .together = as_many,
                                  .trace = no_trace,
                                  .ran = ran,
                                  .began = begin,
                                  .ended = end,
                                  .drop = end };
static const Observer observer = { .ahead = &calls };

/* ---- Comparing ---- */

static Trial trial_of(const Kernel *kernel)
{
    return (Trial){ .ptx = kernel->ptx,
                    .threads = THREADS,
                    .blocks = BLOCKS,
                    .budget = kernel->budget,
                    .observer = &observer };
}

static void run(const Kernel *kernel, int on, Trial *trial)
{
    *trial = trial_of(kernel);
    threads = later_threads = on;
    taken_over = 0;
    CU_ASSERT_TRUE_FATAL(trial_run(trial));
}

static bool same_counts(const Launch *one, const Launch *other)
{
    for (int i = 0; i <= one->kernel->step_count; i++)
        if (memcmp(&one->counts[i], &other->counts[i], offsetof(Count, array_of)))
            return false;
    return !memcmp(one->loops, other->loops,
                   (size_t) one->kernel->loop_count * sizeof *one->loops) &&
           one->executed == other->executed && one->clock == other->clock;
}

static bool same_arrays(const Launch *one, const Launch *other)
{
    return one->array_count == other->array_count &&
           !memcmp(one->arrays, other->arrays, (size_t) one->array_count * sizeof *one->arrays);
}

static bool is_as_expected(Blocks extent, int blocks)
{
    return extent == NONE  ? blocks == 0
           : extent == ALL ? blocks == OTHERS
                           : blocks > 0 && blocks < OTHERS;
}

/* A number for where the launch's finding is; 0: it has none. */
static int place_of(const Kernel *kernel)
{
    const Finding *finding = kernel->ending == CLEAN ? NULL : found(kernel->finding);

    return finding ? 1 + finding->place.line * BLOCKS + finding->place.block[0] : 0;
}

static void compare(const Kernel *kernel, int on)
{
    static Trial one, other;

    run(kernel, 1, &one);
    const int findings = finding_count(), place = place_of(kernel);
    CU_ASSERT_EQUAL(one.well, kernel->ending != FAILS);
    CU_ASSERT_EQUAL(taken_over, 0);
    CU_ASSERT_EQUAL(place > 0, kernel->ending != CLEAN);
    memory_close();
    run(kernel, on, &other);
    const bool well = is_as_expected(kernel->ahead, taken_over) && one.well == other.well &&
                      findings == finding_count() && place == place_of(kernel) &&
                      same_counts(&one.launch, &other.launch) &&
                      same_arrays(&one.launch, &other.launch) &&
                      !memcmp(one.out, other.out, OUT_WORDS * sizeof *one.out);
    if (!well)
        printf("\n    %s, %d threads: %d blocks ran ahead\n", kernel->name, on, taken_over);
    CU_ASSERT_TRUE(well);
    trial_close(&other);
    trial_close(&one);
}

static void everything_is_as_in_turn(void)
{
    for (int i = 0; i < KERNELS; i++) {
        compare(&kernels[i], 2);
        compare(&kernels[i], 7);
    }
}

/* A launch that repeats an earlier one has all threads; when it no longer does, some play it. */
static void threads_come_and_go(void)
{
    static const struct {
        int threads, later;
        bool all; /* blocks run ahead */
    } rows[] = { { 7, 3, true }, { 2, 9, true }, { 3, 1, false }, { 9, 0, false } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static Trial one, other;
        run(&kernels[0], 1, &one);
        other = trial_of(&kernels[0]);
        threads = rows[i].threads;
        later_threads = rows[i].later;
        taken_over = 0;
        CU_ASSERT_TRUE_FATAL(trial_run(&other));
        CU_ASSERT_EQUAL(taken_over == OTHERS, rows[i].all);
        CU_ASSERT(taken_over >= CHANGE_AT);
        CU_ASSERT_TRUE(same_counts(&one.launch, &other.launch));
        CU_ASSERT_TRUE(!memcmp(one.out, other.out, OUT_WORDS * sizeof *one.out));
        trial_close(&other);
        trial_close(&one);
    }
}

static void other_launches_run_in_turn(void)
{
    const Trial launches[] = {
        { .schedule = SCHEDULE_RANDOM, .seed = 1 },
        { .cooperative = true },
        { .check_races = true },
        { .sample = 1 },
    };

    threads = later_threads = 6;
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        Trial trial = launches[i];
        trial.ptx = kernels[0].ptx;
        trial.threads = THREADS;
        trial.blocks = BLOCKS;
        trial.observer = &observer;
        taken_over = 0;
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT_EQUAL(taken_over, 0);
        trial_close(&trial);
    }
}

static CU_TestInfo tests[] = {
    { "everything is as if blocks had run in their turn", everything_is_as_in_turn },
    { "threads come and go", threads_come_and_go },
    { "launches with an order or checks run in turn", other_launches_run_in_turn },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_ahead = { "test_sim_ahead", NULL, NULL, NULL, NULL, tests };
