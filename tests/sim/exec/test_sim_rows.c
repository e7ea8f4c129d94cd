/* test_sim_rows.c - what is special about rows of steps: steps that run once per launch, elements
 * found by one handler, loops that go round within a row, shuffles and branches that no lane takes.
 */
#include "sim/exec/loops.h"
#include "sim/sim_launch.h"

enum { THREADS = 72, BLOCKS = 3 }; /* the last warp of a block is a part */

static Trial trial;

/* Runs the kernel; then trial.out has its results, one per thread of all blocks. */
static void run(const char *ptx, uint32_t n)
{
    trial = (Trial){ .ptx = ptx, .threads = THREADS, .blocks = BLOCKS, .n = n, .unwritten = 0x5a };
    CU_ASSERT_FATAL(trial_run(&trial));
    CU_ASSERT(trial.well);
    CU_ASSERT_EQUAL(finding_count(), 0);
}

static uint32_t executed(Op op)
{
    uint64_t sum = 0;

    for (int i = 0; i < trial.code->step_count; i++)
        if (trial.code->steps[i].in->op == op)
            sum += trial.launch.counts[i].executed;
    return (uint32_t) sum;
}

/* ---- Fixed registers ---- */

static void fixed_registers_keep_their_values(void)
{
    run(KERNEL("shl.b32 %r10, %r1, 3;\nadd.s32 %r11, %r10, %r3;\nsetp.lt.u32 %p1, %r1, 5;\n"
               "@%p1 bra small;\nmul.lo.s32 %r12, %r3, 100;\nadd.s32 %r0, %r11, %r12;\nsmall:\n"
               "mad.lo.s32 %r0, %r4, 10000, %r0;\n"),
        7);
    CU_ASSERT_EQUAL(trial.code->fixed_count > 6, true);
    for (uint32_t i = 0; i < THREADS * BLOCKS; i++) {
        const uint32_t thread = i % THREADS;
        CU_ASSERT_EQUAL(trial.out[i],
                        i / THREADS * 10000 + (thread < 5 ? 0 : thread * 8 + 7 + 700));
    }
    CU_ASSERT_EQUAL(executed(OP_shl), 3 * BLOCKS);
    trial_close(&trial);
}

/* Lanes for which a jump leads around the instruction must read what the register held before. */
static void a_register_that_may_be_unset_is_not_fixed(void)
{
    run(KERNEL("setp.lt.u32 %p1, %r1, 5;\n@%p1 bra over;\nadd.s32 %r10, %r3, 1;\nover:\n"
               "mov.u32 %r0, %r10;\n"),
        7);
    for (uint32_t i = 0; i < THREADS * BLOCKS; i++)
        CU_ASSERT_EQUAL(trial.out[i], i % THREADS < 5 ? 0x5a5a5a5a : 8);
    trial_close(&trial);
}

/* A loop's first round reads the register before the instruction writes it. */
static void a_register_that_is_read_before_is_not_fixed(void)
{
    run(KERNEL("mov.u32 %r11, 0;\nagain:\nadd.s32 %r0, %r0, %r10;\nadd.s32 %r10, %r3, 1;\n"
               "add.s32 %r11, %r11, 1;\nsetp.lt.u32 %p1, %r11, 3;\n@%p1 bra again;\n"),
        7);
    for (uint32_t i = 0; i < THREADS * BLOCKS; i++)
        CU_ASSERT_EQUAL(trial.out[i], 0x5a5a5a5au + 8 + 8);
    trial_close(&trial);
}

/* ---- Elements ---- */

/* Each thread stores to element `index` of the upper half, where signed indices may be negative,
 * and block 2's have another pattern; then it loads the element. */
#define ELEMENTS(type)                                                                             \
    KERNEL("add.s64 %rd8, %rd1, 32768;\nsetp.eq.u32 %p1, %r4, 2;\nselp.u32 %r10, 3, 1, %p1;\n"     \
           "mul.lo.s32 %r11, %r6, %r10;\nsub.s32 %r12, %r11, %r3;\n"                               \
           "mul.wide." type " %rd10, %r12, 4;\nadd.s64 %rd11, %rd8, %rd10;\n"                      \
           "st.global.u32 [%rd11+8], %r6;\n"                                                       \
           "mul.wide." type " %rd12, %r12, 4;\nadd.s64 %rd13, %rd12, %rd8;\n"                      \
           "ld.global.u32 %r13, [%rd13+8];\nadd.s32 %r0, %r13, 1;\n")

static void check_elements(const char *ptx, int32_t less)
{
    run(ptx, (uint32_t) less);
    for (int32_t i = 0; i < THREADS * BLOCKS; i++) {
        const int32_t index = i * (i / THREADS == 2 ? 3 : 1) - less;
        CU_ASSERT_EQUAL(trial.out[i], (uint32_t) i + 1);
        CU_ASSERT_EQUAL(trial.out[8192 + 2 + index], (uint32_t) i);
    }
    CU_ASSERT_EQUAL(executed(OP_ld), 3 * BLOCKS * 3);
    trial_close(&trial);
}

static void elements_are_found(void)
{
    check_elements(ELEMENTS("s32"), 40);
    check_elements(ELEMENTS("u32"), 0);
}

/* ---- Branches ---- */

/* More rounds than a slice has steps, so that warps take turns within the loop. */
static void loops_go_round(void)
{
    enum { ROUNDS = 30000, WARPS = 3 * BLOCKS };

    run(KERNEL("mov.u32 %r10, 0;\nagain:\nadd.s32 %r0, %r0, %r10;\nadd.s32 %r10, %r10, 1;\n"
               "setp.lt.u32 %p1, %r10, %r3;\n@%p1 bra again;\n"),
        ROUNDS);
    for (uint32_t i = 0; i < THREADS * BLOCKS; i++)
        CU_ASSERT_EQUAL(trial.out[i], (uint32_t) ((uint64_t) ROUNDS * (ROUNDS - 1) / 2));
    CU_ASSERT_EQUAL(executed(OP_setp), ROUNDS * WARPS);
    CU_ASSERT_EQUAL(executed(OP_bra), (ROUNDS - 1) * WARPS); /* the last is skipped */
    CU_ASSERT_EQUAL(trial.launch.executed, (uint64_t) (11 + 4 * ROUNDS + 2) * WARPS);
    CU_ASSERT_EQUAL(trial.launch.clock, trial.launch.executed);
    CU_ASSERT_EQUAL(trial.launch.loops[0].visits, WARPS);
    CU_ASSERT_EQUAL(trial.launch.loops[0].groups[0], ROUNDS * WARPS);
    trial_close(&trial);
}

/* Warp 0 of each block takes the branch, warp 1 does not, and warp 2 is a part. */
static void rows_pass_branches(void)
{
    run(KERNEL("add.s32 %r10, %r6, 1;\nsetp.lt.u32 %p1, %r1, 32;\nmov.u32 %r0, 5;\n"
               "@%p1 bra over;\nadd.s32 %r0, %r10, %r10;\nover:\nadd.s32 %r0, %r0, 1;\n"),
        0);
    for (uint32_t i = 0; i < THREADS * BLOCKS; i++)
        CU_ASSERT_EQUAL(trial.out[i], i % THREADS < 32 ? 6 : 2 * (i + 1) + 1);
    CU_ASSERT_EQUAL(executed(OP_bra), BLOCKS);
    for (int i = 0; i < trial.code->step_count; i++)
        if (trial.code->steps[i].in->op == OP_bra)
            CU_ASSERT_EQUAL(trial.launch.counts[i].skipped, 2 * BLOCKS);
    trial_close(&trial);
}

/* Two rounds, so that the second one repeats the pattern of the first: lanes of a tile of eight
 * columns load its row's words and one word each, from all rows. */
static void groups_of_eight_lanes_load(void)
{
    run(KERNEL(
            ".shared .align 128 .b8 s[1024];\nmov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\n"
            "add.s32 %r12, %r10, %r11;\nst.shared.u32 [%r12], %r6;\nbar.sync 0;\n"
            "and.b32 %r13, %r11, 28;\nadd.s32 %r14, %r10, %r13;\nand.b32 %r15, %r11, 480;\n"
            "add.s32 %r16, %r10, %r15;\nmov.u32 %r20, 0;\nagain:\nld.shared.u32 %r17, [%r14+32];\n"
            "ld.shared.u32 %r18, [%r16];\nmul.lo.s32 %r18, %r18, 1000;\nadd.s32 %r0, %r0, %r17;\n"
            "add.s32 %r0, %r0, %r18;\nadd.s32 %r14, %r14, 32;\nadd.s32 %r20, %r20, 1;\n"
            "setp.lt.u32 %p1, %r20, 3;\n@%p1 bra again;\n"),
        0);
    for (uint32_t i = 0; i < THREADS * BLOCKS; i++) {
        const uint32_t first = i / THREADS * THREADS, thread = i % THREADS;
        const uint32_t row = first + thread % 8, column = first + thread / 8 * 8;
        CU_ASSERT_EQUAL(trial.out[i], 3 * row + 8 + 16 + 24 + 3 * 1000 * column);
    }
    trial_close(&trial);
}

/* Warp 2 is a part, whose mask names its lanes. */
static void rows_pass_shuffles(void)
{
    run(KERNEL("mov.u32 %r10, 1;\nmov.u32 %r11, 31;\nsetp.lt.u32 %p1, %r1, 64;\n"
               "selp.u32 %r12, 4294967295, 255, %p1;\nadd.s32 %r13, %r6, 5;\n"
               "@%p1 bra whole;\nshfl.sync.bfly.b32 %r0, %r13, %r10, %r11, %r12;\nbra over;\n"
               "whole:\nshfl.sync.bfly.b32 %r14, %r13, 1, 31, 4294967295;\nadd.s32 %r15, %r14, 1;\n"
               "shfl.sync.bfly.b32 %r16|%p2, %r15, 1, 31, 4294967295;\nadd.s32 %r0, %r16, %r14;\n"
               "over:\n"),
        0);
    for (uint32_t i = 0; i < THREADS * BLOCKS; i++) {
        const uint32_t other = i % 2 ? i - 1 : i + 1;
        CU_ASSERT_EQUAL(trial.out[i], i % THREADS < 64 ? i + 5 + 1 + other + 5 : other + 5);
    }
    CU_ASSERT_EQUAL(executed(OP_shfl), (2 * 2 + 1) * BLOCKS);
    CU_ASSERT_EQUAL(trial.launch.clock, trial.launch.executed);
    trial_close(&trial);
}

/* ---- Checks ---- */

/* Two warps store to words of their own again and again, and in round n to the other warp's. */
static void stores_that_repeat_are_checked(void)
{
    for (uint32_t n = 3; n <= 9; n += 6) {
        trial = (Trial){ .ptx = KERNEL(
                             ".shared .align 128 .b8 s[256];\nmov.u32 %r10, s;\n"
                             "shl.b32 %r11, %r1, 2;\nadd.s32 %r12, %r10, %r11;\nmov.u32 %r13, 0;\n"
                             "again:\nadd.s32 %r14, %r13, %r1;\nst.shared.u32 [%r12], %r14;\n"
                             "add.s32 %r13, %r13, 1;\nsetp.eq.u32 %p2, %r13, %r3;\n"
                             "@%p2 xor.b32 %r12, %r12, 128;\nsetp.lt.u32 %p1, %r13, 6;\n"
                             "@%p1 bra again;\n"),
                         .threads = 64,
                         .check_races = true,
                         .n = n };
        CU_ASSERT_FATAL(trial_run(&trial));
        CU_ASSERT_EQUAL(found(FINDING_RACE) != NULL, n == 3);
        trial_close(&trial);
    }
}

static CU_TestInfo tests[] = {
    { "fixed registers keep their values", fixed_registers_keep_their_values },
    { "a register that may be unset is not fixed", a_register_that_may_be_unset_is_not_fixed },
    { "a register that is read before is not fixed", a_register_that_is_read_before_is_not_fixed },
    { "elements are found", elements_are_found },
    { "loops go round", loops_go_round },
    { "rows pass branches", rows_pass_branches },
    { "groups of eight lanes load", groups_of_eight_lanes_load },
    { "rows pass shuffles", rows_pass_shuffles },
    { "stores that repeat are checked", stores_that_repeat_are_checked },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_rows = { "test_sim_rows", NULL, NULL, NULL, NULL, tests };
