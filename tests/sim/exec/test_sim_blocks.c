/* test_sim_blocks.c - blocks of a launch: their order, barriers in them, and blocks that wait for
 * each other. */
#include "rows.h"
#include "sim/sim_time.h"

/* ---- Blocks, warps, schedules ---- */

#define SUM_OF_BLOCK                                                                               \
    ".shared .align 4 .b8 s[4096];\nmov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\n"                     \
    "add.s32 %r10, %r10, %r11;\nst.shared.u32 [%r10], %r6;\nbar.sync 0;\n"                         \
    "shr.u32 %r12, %r5, 1;\nLOOP: setp.ge.u32 %p1, %r1, %r12;\n@%p1 bra SKIP;\n"                   \
    "shl.b32 %r13, %r12, 2;\nadd.s32 %r14, %r10, %r13;\nld.shared.u32 %r15, [%r14];\n"             \
    "ld.shared.u32 %r16, [%r10];\nadd.s32 %r16, %r16, %r15;\nst.shared.u32 [%r10], %r16;\n"        \
    "SKIP: bar.sync 0;\nshr.u32 %r12, %r12, 1;\nsetp.ne.u32 %p2, %r12, 0;\n@%p2 bra LOOP;\n"       \
    "ld.shared.u32 %r0, [s];\n"

static void barriers_in_any_order(void)
{
    static const Schedule schedules[] = { SCHEDULE_FORWARD, SCHEDULE_REVERSE, SCHEDULE_RANDOM };

    for (int i = 0; i < 12; i++) {
        Trial trial = { .ptx = KERNEL(SUM_OF_BLOCK),
                        .threads = 256,
                        .blocks = 7,
                        .schedule = schedules[i % 3],
                        .seed = (uint64_t) i,
                        .cooperative = i >= 6 };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT_TRUE(trial.well);
        CU_ASSERT_EQUAL(finding_count(), 0);
        for (uint32_t t = 0; t < 7 * 256; t++) {
            uint32_t first = t / 256 * 256;
            CU_ASSERT_EQUAL(trial.out[t], 256 * first + 255 * 256 / 2);
        }
        trial_close(&trial);
    }
}

/* Each block writes its turn, drawn from an atomic counter. */
#define TURN                                                                                       \
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra SKIP;\nadd.s64 %rd4, %rd1, 40000;\n"                       \
    "atom.global.add.u32 %r0, [%rd4], 1;\nSKIP:\n"

static void blocks_in_their_order(void)
{
    enum { BLOCKS = 100 };

    for (int s = SCHEDULE_FORWARD; s <= SCHEDULE_RANDOM; s++) {
        Trial trial = {
            .ptx = KERNEL(TURN), .blocks = BLOCKS, .schedule = (Schedule) s, .seed = 5
        };
        bool seen[BLOCKS] = { false };
        int in_place = 0;
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        for (uint32_t b = 0; b < BLOCKS; b++) {
            uint32_t turn = trial.out[b * 32];
            CU_ASSERT_FATAL(turn < BLOCKS && !seen[turn]);
            seen[turn] = true;
            in_place += turn == b;
            if (s == SCHEDULE_REVERSE)
                CU_ASSERT_EQUAL(turn, BLOCKS - 1 - b);
        }
        CU_ASSERT(s == SCHEDULE_FORWARD ? in_place == BLOCKS : in_place < BLOCKS / 4);
        trial_close(&trial);
    }
}

/* The first lane of each warp draws pieces of work, 400 in all, of which the first takes 500 times
 * as long. It writes how many it had. */
#define PIECES                                                                                     \
    "add.s64 %rd4, %rd1, 40000;\nsetp.ne.u32 %p4, %r2, 0;\n@%p4 bra DONE;\n"                       \
    "DRAW: atom.global.add.u32 %r10, [%rd4], 1;\n"                                                 \
    "setp.ge.u32 %p1, %r10, 400;\n@%p1 bra DONE;\nadd.u32 %r0, %r0, 1;\n"                          \
    "setp.eq.u32 %p2, %r10, 0;\nselp.u32 %r12, 5000, 10, %p2;\n"                                   \
    "WORK: sub.u32 %r12, %r12, 1;\nsetp.ne.u32 %p3, %r12, 0;\n@%p3 bra WORK;\nbra DRAW;\nDONE:\n"

/* With time modelled, the block with the long piece once got as many as the others, and later its
 * other warps waited, too (tests/sim/blind: orchard_pick_tickets, bakery_orders_tickets). */
static void who_has_more_work_draws_less_often(void)
{
    enum { ALL = 400, WARPS = 4 };
    static const struct {
        int threads, blocks;
    } rows[] = { { 1, WARPS }, { WARPS * LANES, 1 } };

    for (int row = 0; row < 2; row++) {
        const int blocks = rows[row].blocks, each = rows[row].threads * blocks / WARPS;
        Trial trial = { .ptx = KERNEL(PIECES),
                        .threads = rows[row].threads,
                        .blocks = blocks,
                        .blocks_an_sm = 1,
                        .resident = blocks };
        Device device = plain;
        uint32_t sum = 0, least = ALL, most = 0;
        device.sms = blocks;
        trial.gpu = gpu_open(&device);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        for (int i = 0; i < WARPS; i++) {
            const uint32_t had = trial.out[i * each];
            sum += had;
            least = had < least ? had : least;
            most = had > most ? had : most;
        }
        CU_ASSERT_EQUAL(sum, ALL);
        CU_ASSERT(least <= 5);
        CU_ASSERT(most <= ALL / (WARPS - 1) + 5);
        trial_close(&trial);
        gpu_close(trial.gpu);
    }
}

/* ---- Checks in a few blocks of a launch that is too large to check fully ---- */

/* Each thread reads its neighbour's word without a barrier in between. */
#define NEIGHBOURS                                                                                 \
    ".shared .align 4 .b8 s[4096];\nmov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\n"                     \
    "add.s32 %r10, %r10, %r11;\nst.shared.u32 [%r10], %r6;\nxor.b32 %r11, %r11, 128;\n"            \
    "mov.u32 %r12, s;\nadd.s32 %r12, %r12, %r11;\nld.shared.u32 %r0, [%r12];\n"

/* A kernel that raced only in its timed cases, which ran without checks, used to pass. */
static void a_few_blocks_are_checked(void)
{
    uint64_t met = 0;

    for (uint64_t sample = 0; sample <= 40; sample++) {
        Trial trial = { .ptx = KERNEL(NEIGHBOURS), .threads = 64, .blocks = 20, .sample = sample };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        const Finding *race = found(FINDING_RACE);
        CU_ASSERT_EQUAL(race != NULL, sample != 0);
        if (race)
            met |= 1ull << race->place.block[0] / 5;
        trial_close(&trial);
    }
    CU_ASSERT_EQUAL(met, 0xf); /* the blocks vary */
}

/* Accesses with a barrier in between, and words that no thread writes. */
static void sampled_blocks_are_checked_rightly(void)
{
    static const struct {
        const char *ptx;
        bool unwritten;
    } rows[] = {
        { KERNEL(SUM_OF_BLOCK), false },
        { KERNEL(".shared .align 4 .b8 s[4096];\nld.shared.u32 %r0, [s];\nadd.s32 %r0, %r0, 1;\n"),
          true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Trial trial = { .ptx = rows[i].ptx, .threads = 256, .blocks = 40, .sample = 7 };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT_EQUAL(found(FINDING_UNINITIALISED) != NULL, rows[i].unwritten);
        CU_ASSERT_PTR_NULL(found(FINDING_RACE));
        trial_close(&trial);
    }
}

/* Unwritten registers and local memory used to be 0, so sums that began with them were correct. */
static void unwritten_registers_hold_the_pattern(void)
{
    static const char *const kernels[] = {
        KERNEL("add.u32 %r0, %r50, 0;\n"),
        KERNEL(".local .align 4 .b8 l[16];\nld.local.u32 %r0, [l+8];\n"),
    };

    for (size_t i = 0; i < COUNT(kernels); i++)
        for (int byte = 0; byte < 256; byte += 0x5a) {
            Trial trial = { .ptx = kernels[i], .blocks = 3, .unwritten = (uint8_t) byte };
            CU_ASSERT_TRUE_FATAL(trial_run(&trial));
            for (int t = 0; t < 96; t++)
                CU_ASSERT_EQUAL(trial.out[t], 0x01010101u * (uint32_t) byte);
            trial_close(&trial);
        }
}

/* ---- Blocks that wait for each other ---- */

/* The flag of block b is word b after the words of the threads. */
#define FLAGS                                                                                      \
    "add.s64 %rd4, %rd1, 40000;\nmul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd5, %rd4, %rd5;\n"          \
    "mov.u32 %r12, %nctaid.x;\nsub.u32 %r13, %r12, 1;\nmul.wide.u32 %rd6, %r13, 4;\n"              \
    "add.s64 %rd6, %rd4, %rd6;\nmov.u32 %r0, 9;\n"
#define SPIN(at) "SPIN: ld.volatile.global.u32 %r11, [" at "];\nsetp.eq.u32 %p2, %r11, 0;\n"
#define RAISE    "DONE: st.volatile.global.u32 [%rd5], 1;\n"

/* Each block increments a counter and waits until all have done so. */
#define GRID_SYNC                                                                                  \
    "bar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra SKIP;\nadd.s64 %rd4, %rd1, 40000;\n"          \
    "atom.global.add.u32 %r10, [%rd4], 1;\nmov.u32 %r12, %nctaid.x;\n"                             \
    "SPIN: ld.volatile.global.u32 %r11, [%rd4];\nsetp.lt.u32 %p2, %r11, %r12;\n@%p2 bra SPIN;\n"   \
    "SKIP: bar.sync 0;\nmov.u32 %r0, 9;\n"
/* Each block waits for the preceding one. */
#define CHAIN                                                                                      \
    FLAGS "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra DONE;\n" SPIN("%rd5+-4") "@%p2 bra SPIN;\n" RAISE
/* The first block, or all other blocks, wait for the last one. */
#define FIRST_FOR_LAST                                                                             \
    FLAGS "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra DONE;\n" SPIN("%rd6") "@%p2 bra SPIN;\n" RAISE
#define ALL_FOR_LAST                                                                               \
    FLAGS "setp.eq.u32 %p1, %r4, %r13;\n@%p1 bra DONE;\n" SPIN("%rd6") "@%p2 bra SPIN;\n" RAISE
/* The same, but gives up eventually, so no two rounds have the same state. */
#define TRIES(before_it, tries)                                                                    \
    FLAGS "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra DONE;\nmov.u32 %r14, 0;\n" SPIN("%rd6") before_it    \
        "add.u32 %r14, %r14, 1;\nsetp.lt.u32 %p3, %r14, " tries ";\n"                              \
        "and.pred %p4, %p2, %p3;\n@%p4 bra SPIN;\nselp.u32 %r0, 1, 9, %p2;\n" RAISE

/* The finding reports that `waits` blocks wait and `left` have not begun; 0: all blocks complete.
 */
typedef struct Wait {
    const char *name, *ptx;
    int blocks;
    long resident;
    bool cooperative;
    int waits, left;
} Wait;

static const Wait waits[] = {
    { "grid sync, cooperative", KERNEL(GRID_SYNC), 20, 20, true, 0, 0 },
    { "grid sync of all that fit", KERNEL(GRID_SYNC), 20, 20, false, 0, 0 },
    { "grid sync, one too many", KERNEL(GRID_SYNC), 20, 19, false, 19, 1 },
    { "grid sync of far too many", KERNEL(GRID_SYNC), 100, 7, false, 7, 93 },
    { "chain", KERNEL(CHAIN), 100, 100, false, 0, 0 },
    { "chain, few at once", KERNEL(CHAIN), 100, 7, false, 0, 0 },
    { "chain, one at once", KERNEL(CHAIN), 40, 1, false, 0, 0 },
    { "first for last", KERNEL(FIRST_FOR_LAST), 100, 100, false, 0, 0 },
    { "first for last, two at once", KERNEL(FIRST_FOR_LAST), 100, 2, false, 0, 0 },
    { "first for last, one at once", KERNEL(FIRST_FOR_LAST), 100, 1, false, 1, 99 },
    { "all for last", KERNEL(ALL_FOR_LAST), 30, 30, false, 0, 0 },
    { "all for last, one too many", KERNEL(ALL_FOR_LAST), 30, 29, false, 29, 1 },
    { "sleeps", KERNEL(TRIES("nanosleep.u32 20;\n", "1000000")), 50, 50, false, 0, 0 },
    { "reads a clock", KERNEL(TRIES("mov.u64 %rd9, %clock64;\n", "1000000")), 50, 50, false, 0, 0 },
};

static int line_of(const char *ptx, const char *text)
{
    int line = 1;

    for (const char *at = ptx, *end = strstr(ptx, text); at < end; at++)
        line += *at == '\n';
    return line;
}

static void see_told(const Trial *trial, const Wait *wait)
{
    const Finding *told = found(FINDING_ENDLESS) ? found(FINDING_ENDLESS) : found(FINDING_STUCK);
    const int loop = line_of(wait->ptx, "SPIN:");
    char want[100];

    CU_ASSERT_FALSE(trial->well);
    CU_ASSERT_PTR_NOT_NULL_FATAL(told);
    snprintf(want, sizeof want, "%d block%s as many as the GPU holds at once; %d ha", wait->waits,
             wait->waits == 1 ? " waits," : "s wait,", wait->left);
    CU_ASSERT_PTR_NOT_NULL(strstr(told->text, want));
    CU_ASSERT_EQUAL(told->place.line, loop);
    CU_ASSERT(told->place.instruction && !strncmp(told->place.instruction, "ld.volatile", 11));
    CU_ASSERT(trial->launch.executed < 10000000);
}

static void see_through(const Trial *trial, int blocks)
{
    int through = 0;

    CU_ASSERT_TRUE(trial->well);
    CU_ASSERT_EQUAL(finding_count(), 0);
    for (int t = 0; t < blocks * 32; t++)
        through += trial->out[t] == 9;
    CU_ASSERT_EQUAL(through, blocks * 32);
}

static void blocks_that_wait(void)
{
    for (size_t i = 0; i < COUNT(waits); i++)
        for (int s = SCHEDULE_FORWARD; s <= SCHEDULE_RANDOM; s++) {
            const Wait *wait = &waits[i];
            Trial trial = { .ptx = wait->ptx,
                            .blocks = wait->blocks,
                            .resident = wait->resident,
                            .cooperative = wait->cooperative,
                            .schedule = (Schedule) s,
                            .seed = 7 };
            CU_ASSERT_TRUE_FATAL(trial_run(&trial));
            if (trial.well != !wait->waits)
                show_findings(wait->name);
            if (wait->waits)
                see_told(&trial, wait);
            else
                see_through(&trial, wait->blocks);
            trial_close(&trial);
        }
}

/* ---- Blocks that pass data to other blocks ---- */

/* Block 0 writes or reads, block 1 waits for its flag, then reads or writes the same words. */
/* clang-format off */
#define HAND(first, fence, raise, look, second)                                                    \
    KERNEL("mul.wide.u32 %rd7, %r1, 4;\nadd.s64 %rd7, %rd1, %rd7;\nadd.s64 %rd7, %rd7, 50000;\n"   \
           "add.s64 %rd4, %rd1, 40000;\nmov.u32 %r0, 9;\nsetp.ne.u32 %p1, %r4, 0;\n"               \
           "setp.ne.u32 %p5, %r1, 0;\n@%p1 bra OTHER;\n" first fence "bar.sync 0;\n"               \
           "@%p5 bra END;\n" raise "bra END;\nOTHER: @%p5 bra SEEN;\nSPIN: " look                  \
           "setp.eq.u32 %p2, %r11, 0;\n@%p2 bra SPIN;\nSEEN: bar.sync 0;\n" second "END: \n")
#define WRITE    "st.global.u32 [%rd7], %r1;\n"
#define READ                                                                                       \
    "xor.b32 %r20, %r1, 1;\nmul.wide.u32 %rd8, %r20, 4;\nadd.s64 %rd8, %rd1, %rd8;\n"              \
    "ld.global.u32 %r21, [%rd8+50000];\n"
#define GPU      "membar.gl;\n"
#define ST(how)  "st." how ".u32 [%rd4], 1;\n"
#define LD(how)  "ld." how ".u32 %r11, [%rd4];\n"
#define ADD(how) "atom." how ".add.u32 %r11, [%rd4], "

static const struct HandOver {
    const char *name, *ptx;
    bool races;
} hand_overs[] = {
    { "volatile", HAND(WRITE, GPU, ST("volatile.global"), LD("volatile.global") GPU, READ), false },
    { "volatile, no fence", HAND(WRITE, "", ST("volatile.global"), LD("volatile.global"), READ),
      true },
    { "fence of the block", HAND(WRITE, "membar.cta;\n", ST("volatile.global"),
                                 LD("volatile.global") GPU, READ), true },
    { "relaxed", HAND(WRITE, "fence.acq_rel.gpu;\n", ST("relaxed.gpu.global"),
                      LD("relaxed.gpu.global") "fence.acq_rel.gpu;\n", READ), false },
    { "relaxed, no fence", HAND(WRITE, "", ST("relaxed.gpu.global"), LD("relaxed.gpu.global"),
                                READ), true },
    { "release, acquire", HAND(WRITE, "", ST("release.gpu.global"), LD("acquire.gpu.global"), READ),
      false },
    { "atomics", HAND(WRITE, GPU, ADD("global") "1;\n", ADD("global") "0;\n" GPU, READ), false },
    { "atomics, no fence", HAND(WRITE, "", ADD("global") "1;\n", ADD("global") "0;\n", READ),
      true },
    { "atomics that release", HAND(WRITE, "", ADD("release.gpu.global") "1;\n",
                                   ADD("acquire.gpu.global") "0;\n", READ), false },
    { "read, then written", HAND(READ, "", ST("relaxed.gpu.global"), LD("relaxed.gpu.global"),
                                 WRITE), false },
    { "both write, no fence", HAND(WRITE, "", ST("relaxed.gpu.global"), LD("relaxed.gpu.global"),
                                   "add.u32 %r1, %r1, 1;\n" WRITE), true },
    { "both write", HAND(WRITE, GPU, ST("relaxed.gpu.global"), LD("relaxed.gpu.global"),
                         "add.u32 %r1, %r1, 1;\n" WRITE), false },
};
/* clang-format on */

static void hand_overs_between_blocks(void)
{
    for (size_t i = 0; i < COUNT(hand_overs); i++)
        for (int s = SCHEDULE_FORWARD; s <= SCHEDULE_RANDOM; s++) {
            Trial trial = { .ptx = hand_overs[i].ptx,
                            .blocks = 2,
                            .threads = 64,
                            .check_races = true,
                            .schedule = (Schedule) s,
                            .seed = 7 };
            CU_ASSERT_TRUE_FATAL(trial_run(&trial));
            CU_ASSERT_TRUE(trial.well);
            CU_ASSERT_EQUAL(found(FINDING_RACE_BLOCKS) != NULL, hand_overs[i].races);
            CU_ASSERT_EQUAL(finding_count() > 0, hand_overs[i].races);
            if ((finding_count() > 0) != hand_overs[i].races)
                show_findings(hand_overs[i].name);
            trial_close(&trial);
        }
}

/* Blocks are reordered only within a batch of those that fit; no block overtakes an earlier batch.
 */
static void batches_in_their_order(void)
{
    for (int s = SCHEDULE_REVERSE; s <= SCHEDULE_RANDOM; s++) {
        Trial trial = {
            .ptx = KERNEL(TURN), .blocks = 100, .resident = 8, .schedule = (Schedule) s, .seed = 5
        };
        int in_place = 0;
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        for (uint32_t b = 0; b < 100; b++) {
            CU_ASSERT_EQUAL(trial.out[b * 32] / 8, b / 8);
            in_place += trial.out[b * 32] == b;
        }
        CU_ASSERT(in_place < 30);
        trial_close(&trial);
    }
}

/* ---- Named barriers, votes of blocks ---- */

static void barriers_of_kinds(void)
{
    static const struct {
        const char *name, *body;
        int threads;
        uint32_t want;
    } rows[] = {
        { "popc",
          "and.b32 %r10, %r1, 1;\nsetp.ne.u32 %p1, %r10, 0;\nbar.red.popc.u32 %r0, 0, %p1;\n", 100,
          50 },
        { "popc, not", "setp.lt.u32 %p1, %r1, 10;\nbar.red.popc.u32 %r0, 0, !%p1;\n", 100, 90 },
        { "or",
          "setp.eq.u32 %p1, %r1, 77;\nbar.red.or.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 5 },
        { "or, all false",
          "setp.eq.u32 %p1, %r1, 177;\nbar.red.or.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 6 },
        { "and",
          "setp.lt.u32 %p1, %r1, 100;\nbar.red.and.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 5 },
        { "and, all but one",
          "setp.ne.u32 %p1, %r1, 99;\nbar.red.and.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 6 },
        { "half of the warps at another barrier",
          "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra A;\nbar.sync 2, 64;\nbra J;\nA: bar.sync 1, 64;\n"
          "J: mov.u32 %r0, 3;\nbarrier.sync 0;\n",
          128, 3 },
        { "arrive and sync",
          "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.arrive 1, 64;\nbra J;\nA: bar.sync 1, 64;\n"
          "J: mov.u32 %r0, 4;\n",
          64, 4 },
        { "threads that have ended are not waited for",
          "mov.u32 %r0, 8;\nst.global.u32 [%rd2], %r0;\nsetp.ge.u32 %p1, %r1, 40;\n@%p1 "
          "exit;\nbar.sync 0;\n",
          96, 8 },
        { "threads that jump to the end are not waited for",
          "mov.u32 %r0, 8;\nst.global.u32 [%rd2], %r0;\nsetp.ge.u32 %p1, %r1, 40;\n@%p1 bra OVER;\n"
          "bar.sync 0;\nbar.sync 0;\nst.global.u32 [%rd2], %r0;\nOVER: ret;\n",
          96, 8 },
        { "barrier.sync in both branches, without .aligned",
          "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra A;\nbarrier.sync 0;\nbra J;\nA: barrier.sync 0;\n"
          "J: mov.u32 %r0, 3;\n",
          64, 3 },
        { "lanes of a warp that take turns",
          "mov.u32 %r0, 6;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra A;\nbar.warp.sync "
          "-1;\nbar.warp.sync -1;\n"
          "bra J;\nA: bar.warp.sync -1;\nbar.warp.sync -1;\nJ:\n",
          64, 6 },
        /* Once, all lanes waited for those that the first lane's mask names. */
        { "a warp barrier whose lanes have different masks",
          ".shared .align 4 .b8 sh[128];\nshl.b32 %r8, %r2, 2;\nmov.u32 %r9, sh;\n"
          "add.u32 %r8, %r8, %r9;\nand.b32 %r7, %r2, 8;\nsetp.ne.u32 %p2, %r7, 0;\n"
          "mov.u32 %r0, 6;\nsetp.lt.u32 %p1, %r2, 16;\nselp.u32 %r7, 0xff, 0xff0000, %p1;\n"
          "selp.u32 %r7, 0xff00ff00, %r7, %p2;\n@%p1 bra A;\n"
          "st.shared.u32 [%r8], 6;\nbar.warp.sync %r7;\n@%p2 ld.shared.u32 %r0, [%r8-64];\n"
          "bra J;\nA: st.shared.u32 [%r8], 6;\nbar.warp.sync %r7;\n"
          "@%p2 ld.shared.u32 %r0, [%r8+64];\nJ:\n",
          32, 6 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char ptx[4000];
        Trial trial = { .ptx = ptx, .threads = rows[i].threads };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, rows[i].body, END);
        bool well = trial_run(&trial) && trial.well && !finding_count();
        for (int t = 0; well && t < rows[i].threads; t++)
            well = trial.out[t] == rows[i].want;
        CU_ASSERT_TRUE(well);
        if (!well) {
            printf("\n    %s: %u\n", rows[i].name, trial.out ? trial.out[0] : 0);
            show_findings(rows[i].name);
        }
        trial_close(&trial);
    }
}

static CU_TestInfo tests[] = {
    { "barriers in any order of warps", barriers_in_any_order },
    { "blocks in their order", blocks_in_their_order },
    { "who has more work draws less often", who_has_more_work_draws_less_often },
    { "batches in their order", batches_in_their_order },
    { "a few blocks of a large launch are checked", a_few_blocks_are_checked },
    { "sampled blocks are checked correctly", sampled_blocks_are_checked_rightly },
    { "unwritten registers hold the launch's pattern", unwritten_registers_hold_the_pattern },
    { "blocks that wait for each other", blocks_that_wait },
    { "blocks that pass data to other blocks", hand_overs_between_blocks },
    { "named barriers and votes", barriers_of_kinds },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_blocks = { "test_sim_blocks", NULL, NULL, NULL, NULL, tests };
