/* test_sim_moved.c - moved registers: kernels give the same results and the same counts whether the
 * values of registers that move with the block are written or not. */
#include "sim/exec/moved.h"
#include "sim/exec/ops/handlers.h"
#include "sim/sim_launch.h"

enum { THREADS = 72, BLOCKS = 20 }; /* the last warp of a block is a part */

/* With an index %r7 that also counts rows of blocks, and %rd2 its word. */
#define ROWS                                                                                       \
    "mov.u32 %r7, %ctaid.y;\nmov.u32 %r8, %nctaid.x;\nmad.lo.s32 %r9, %r7, %r8, %r4;\n"            \
    "mad.lo.s32 %r10, %r9, %r5, %r1;\nmul.wide.s32 %rd4, %r10, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"

typedef struct Kernel {
    const char *name, *ptx;
    uint32_t n;
    int rows;
    int moved; /* registers, at least */
} Kernel;

static const Kernel kernels[] = {
    { "signed order",
      KERNEL("setp.lt.s32 %p1, %r6, %r3;\n@%p1 st.global.u32 [%rd2+8000], %r6;\n"
             "setp.ge.s32 %p2, %r6, 1000;\nselp.u32 %r0, 3, 5, %p2;\n"),
      701, 1, 2 },
    { "the register second",
      KERNEL("setp.lt.s32 %p1, %r3, %r6;\nselp.u32 %r10, 1, 2, %p1;\nsetp.le.s32 %p2, 5, %r6;\n"
             "selp.u32 %r11, 4, 8, %p2;\nadd.s32 %r0, %r10, %r11;\n"),
      701, 1, 2 },
    { "equal",
      KERNEL("setp.eq.s32 %p1, %r6, %r3;\nselp.u32 %r10, 1, 2, %p1;\n"
             "setp.ne.u32 %p2, %r6, 100;\nselp.u32 %r11, 4, 8, %p2;\n"
             "add.s32 %r0, %r10, %r11;\n"),
      701, 1, 2 },
    { "unsigned, below zero",
      KERNEL("sub.s32 %r10, %r6, %r3;\nsetp.lt.u32 %p1, %r10, 100;\n"
             "selp.u32 %r0, 1, 2, %p1;\n"),
      701, 1, 2 },
    { "signed, wraps around",
      KERNEL("add.s32 %r10, %r6, %r3;\nsetp.lt.s32 %p1, %r10, 5;\n"
             "selp.u32 %r0, 1, 2, %p1;\n"),
      0x7fffffff - 701, 1, 2 },
    { "a factor that wraps around", /* in most blocks, the sum is a small number */
      KERNEL("add.s32 %r10, %r6, %r3;\nsetp.lt.s32 %p1, %r6, 101;\n@%p1 bra over;\n"
             "mul.wide.u32 %rd6, %r10, 4;\nadd.s64 %rd7, %rd1, %rd6;\n"
             "st.global.u32 [%rd7+12000], %r6;\nover:\n"),
      (uint32_t) -101, 1, 2 },
    { "products and shifts",
      KERNEL(
          "mul.lo.s32 %r10, %r6, %r3;\nshl.b32 %r11, %r6, 1;\nmad.lo.s32 %r12, %r3, %r11, %r10;\n"
          "sub.s32 %r13, %r12, %r1;\nadd.s32 %r14, %r13, %r1;\ncvt.s64.s32 %rd6, %r14;\n"
          "add.s64 %rd7, %rd1, %rd6;\nst.global.u32 [%rd7+8192], %r6;\n"
          "ld.global.u32 %r0, [%rd7+8192];\n"),
      4, 1, 4 },
    { "a value is needed",
      KERNEL("cvt.rn.f32.s32 %f1, %r6;\nst.global.f32 [%rd2+8000], %f1;\n"
             "setp.gt.s32 %p1, %r6, %r3;\nselp.u32 %r0, %r6, 2, %p1;\n"),
      701, 1, 2 },
    { "read in a loop",
      KERNEL("mov.u32 %r10, 0;\nagain:\nadd.s32 %r10, %r10, 1;\nsetp.lt.s32 %p1, %r6, 500;\n"
             "@%p1 ld.global.u32 %r11, [%rd2+16];\nst.global.u32 [%rd2+8000], %r10;\n"
             "selp.u32 %r12, %r10, 1, %p1;\nadd.s32 %r0, %r0, %r12;\n"
             "setp.lt.u32 %p2, %r10, %r3;\n@%p2 bra again;\n"),
      3, 1, 2 },
    { "rows of blocks",
      KERNEL(ROWS
             "setp.lt.s32 %p1, %r7, 3;\nsetp.gt.s32 %p3, %r10, 700;\nselp.u32 %r0, 1, 2, %p1;\n"
             "@%p3 ld.global.u32 %r0, [%rd5];\nst.global.u32 [%rd5], %r0;\nmov.u32 %r0, 9;\n"),
      0, 5, 3 },
    { "the edges of rows", /* of 36: lanes are missing before and after */
      KERNEL(
          ROWS
          "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra over;\nsetp.gt.u32 %p2, %r1, 60;\n@%p2 bra over;\n"
          "ld.global.u32 %r11, [%rd5+-4];\nld.global.u32 %r12, [%rd5+4];\n"
          "add.s32 %r13, %r11, %r12;\nadd.s32 %r14, %r13, 1;\nst.global.u32 [%rd5], %r14;\nover:\n"
          "mov.u32 %r0, 9;\n"),
      0, 5, 3 },
    { "bytes and double words",
      KERNEL("st.global.u8 [%rd2+8001], %r6;\nld.global.u8 %r10, [%rd2+8001];\n"
             "mul.wide.u32 %rd6, %r6, 8;\nadd.s64 %rd7, %rd1, %rd6;\nst.global.u64 [%rd7+16384], "
             "%rd6;\n"
             "mov.u32 %r0, %r10;\n"),
      0, 1, 1 },
};

typedef struct Result {
    uint32_t out[OUT_WORDS];
    Count counts[100];
    int steps;
} Result;

static Trial trial;

static void run(const Kernel *kernel, bool moves, Result *result)
{
    trial = (Trial){ .ptx = kernel->ptx,
                     .threads = THREADS,
                     .blocks = BLOCKS,
                     .rows = kernel->rows,
                     .n = kernel->n,
                     .unwritten = 0x5a };
    CU_ASSERT_FATAL(trial_open(&trial));
    CU_ASSERT_TRUE(trial.code->moved_count >= kernel->moved);
    if (!moves)
        trial.code->moved_count = 0;
    trial_launch(&trial);
    CU_ASSERT_TRUE(trial.well);
    CU_ASSERT_EQUAL(finding_count(), 0);
    result->steps = trial.code->step_count;
    memcpy(result->out, trial.out, sizeof result->out);
    memcpy(result->counts, trial.launch.counts, (size_t) result->steps * sizeof *result->counts);
    trial_close(&trial);
}

static bool same_counts(const Count *a, const Count *b)
{
    return a->executed == b->executed && a->skipped == b->skipped && a->lanes == b->lanes &&
           a->requests == b->requests && a->sectors == b->sectors && a->bytes == b->bytes &&
           a->divergent == b->divergent;
}

static void check(const Kernel *kernel)
{
    static Result with, without;
    bool same;

    run(kernel, true, &with);
    run(kernel, false, &without);
    same = !memcmp(with.out, without.out, sizeof with.out);
    for (int i = 0; i < with.steps; i++)
        same &= same_counts(&with.counts[i], &without.counts[i]);
    CU_ASSERT_TRUE(same);
    if (!same)
        printf("\n    %s\n", kernel->name);
}

static void values_need_not_be_written(void)
{
    for (simd_level = SIMD_PLAIN; simd_level <= cpu_simd_level(); simd_level++)
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            check(&kernels[i]);
    simd_level = -1;
}

/* Blocks of a launch with few blocks have their values. */
static void small_launches_write_values(void)
{
    trial = (Trial){ .ptx = kernels[0].ptx, .threads = THREADS, .blocks = 2, .n = 100 };
    CU_ASSERT_FATAL(trial_run(&trial));
    for (uint32_t i = 0; i < 2 * THREADS; i++)
        CU_ASSERT_EQUAL(trial.out[2000 + i], i < 100 ? i : 0);
    trial_close(&trial);
}

/* The finding names the lane and the address, which no plane holds. */
static void faults_have_addresses(void)
{
    trial = (Trial){ .ptx = KERNEL("st.global.u32 [%rd2+61000], %r6;\n"),
                     .threads = THREADS,
                     .blocks = BLOCKS };
    CU_ASSERT_FATAL(trial_open(&trial));
    trial_launch(&trial);
    CU_ASSERT_FALSE(trial.well);
    const Finding *finding = found(FINDING_OUT_OF_BOUNDS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(finding);
    CU_ASSERT_EQUAL(finding->place.block[0], (OUT_WORDS - 61000 / 4) / THREADS);
    CU_ASSERT_EQUAL(finding->place.thread[0], (OUT_WORDS - 61000 / 4) % THREADS);
    trial_close(&trial);
}

/* Of a chain of more registers than can be moved, those at its end have their values. Each stores
 * the sum of the preceding ones in a row of its own. */
static void long_chains_end(void)
{
    enum { CHAIN = MOST_MOVED + 10 };
    static char ptx[CHAIN * 200 + 2000];
    int at =
        snprintf(ptx, sizeof ptx, "%s.reg .b32 %%c<%d>;\n.reg .b64 %%w<%d>;\nmov.u32 %%c0, %%r6;\n",
                 HEAD BEGIN, CHAIN + 1, 2 * CHAIN + 2);

    for (int i = 1; i <= CHAIN; i++)
        at += snprintf(ptx + at, sizeof ptx - (size_t) at,
                       "add.s32 %%c%d, %%c%d, %%r3;\nmul.wide.s32 %%w%d, %%c%d, 4;\n"
                       "add.s64 %%w%d, %%rd1, %%w%d;\nst.global.u32 [%%w%d], %%r1;\n",
                       i, i - 1, 2 * i, i, 2 * i + 1, 2 * i, 2 * i + 1);
    snprintf(ptx + at, sizeof ptx - (size_t) at, "%s", END);
    trial = (Trial){ .ptx = ptx, .threads = 5, .blocks = BLOCKS, .n = 5 * BLOCKS };
    CU_ASSERT_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    for (uint32_t i = 5 * BLOCKS; i < 5 * BLOCKS * (CHAIN + 1); i++)
        CU_ASSERT_EQUAL(trial.out[i], i % 5);
    trial_close(&trial);
}

static CU_TestInfo tests[] = {
    { "values need not be written", values_need_not_be_written },
    { "small launches write values", small_launches_write_values },
    { "long chains end", long_chains_end },
    { "faults have addresses", faults_have_addresses },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_moved = { "test_sim_moved", NULL, NULL, NULL, NULL, tests };
