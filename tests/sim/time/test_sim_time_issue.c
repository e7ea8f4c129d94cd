/* test_sim_time_issue.c - when a scheduler issues: latencies, pipes, register operands.
 *
 * Most tests compare two launches that differ in one respect, so that everything else cancels out.
 */
#include "sim/sim_time.h"

/* ---- One warp ---- */

static void dependent_instructions_wait(void)
{
    const double few = cycles(repeat("", DEPENDENT, 10, ""), 32);
    const double more = cycles(repeat("", DEPENDENT, 110, ""), 32);

    CU_ASSERT_EQUAL(more - few, 100 * plain.alu_latency);
}

/* Each of the two waits only for its own previous result. */
static void independent_instructions_overlap(void)
{
    const double few = cycles(repeat("", INDEPENDENT, 10, ""), 32);
    const double more = cycles(repeat("", INDEPENDENT, 110, ""), 32);

    CU_ASSERT_EQUAL(more - few, 100 * plain.alu_latency);
}

static void a_narrow_pipe_takes_more_cycles(void)
{
    static const char one[] = "fma.rn.f64 %fd1, %fd2, %fd3, %fd4;\n";
    /* 4 lanes per SM: 1 per scheduler, 32 cycles per warp. */
    const double few = cycles(repeat("", one, 10, ""), 32);
    const double more = cycles(repeat("", one, 20, ""), 32);

    CU_ASSERT_EQUAL(more - few, 10 * 32);
}

static void what_ptxas_removes_costs_nothing(void)
{
    static const char free_ones[] = "mov.u32 %r10, %r11;\ncvta.to.global.u64 %rd9, %rd1;\n"
                                    "cvt.u64.u32 %rd10, %r1;\nmov.u32 %r12, 7;\n";
    const double none = cycles(repeat("", "", 0, DEPENDENT), 32);
    const double many = cycles(repeat("", free_ones, 50, DEPENDENT), 32);

    CU_ASSERT_EQUAL(many, none);
}

/* A copy is ready when its source is, so the chain continues through it. */
static void copies_pass_on_when_a_value_is_there(void)
{
    static const char through[] = "fma.rn.f32 %f1, %f2, %f3, %f3;\nmov.f32 %f2, %f1;\n";
    const double few = cycles(repeat("", through, 10, ""), 32);
    const double more = cycles(repeat("", through, 30, ""), 32);

    CU_ASSERT_EQUAL(more - few, 20 * plain.alu_latency);
}

/* Cycles of one more of these instructions. All registers are 1: quotients of 0 take longer. */
static double each_of(const char *one)
{
    static const char ones[] =
        "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F800000;\nmov.f32 %f3, 0f3F800000;\n"
        "mov.f64 %fd2, 0d3FF0000000000000;\nmov.f64 %fd3, 0d3FF0000000000000;\n";
    const double few = cycles(repeat(ones, one, 10, ""), 32);

    return (cycles(repeat(ones, one, 60, ""), 32) - few) / 50;
}

/* A division was once as long as its instructions take to issue, and one of FP64 was an instruction
 * of the FP32 pipe: a kernel of divisions was modelled 2.04 times too fast. The instructions depend
 * on each other, and a warp continues only after the branch to the rare cases, so independent
 * divisions do not overlap either. */
static void exact_fractions_take_a_chain(void)
{
    const double whole = plain.sfu_latency + 10 * plain.alu_latency;

    CU_ASSERT_EQUAL(each_of("div.rn.f32 %f1, %f1, %f2;\n"), whole);
    CU_ASSERT_EQUAL(each_of("div.rn.f32 %f1, %f3, %f2;\n"), whole);
    CU_ASSERT_EQUAL(each_of("sqrt.rn.f32 %f1, %f1;\n"), whole);
    CU_ASSERT_EQUAL(each_of("rcp.rn.f32 %f1, %f1;\n"), whole + 5 * plain.alu_latency);
    /* 8 multiply-adds, of which each occupies the narrow pipe for 32 cycles */
    CU_ASSERT_EQUAL(each_of("div.rn.f64 %fd1, %fd3, %fd2;\n"), 8 * 32);
}

static void bits_are_counted_by_the_special_function_unit(void)
{
    CU_ASSERT_EQUAL(each_of("popc.b32 %r1, %r1;\n"), plain.sfu_latency);
    CU_ASSERT_EQUAL(each_of("clz.b32 %r1, %r1;\n"), plain.sfu_latency);
    CU_ASSERT_EQUAL(each_of("mul.hi.u32 %r1, %r1, %r2;\n"), 2 * plain.alu_latency);
}

/* ---- Schedulers ---- */

static void warps_hide_each_others_waiting(void)
{
    const char *chain = repeat("", DEPENDENT, 500, "");
    const double one = cycles(chain, 32), four = cycles(chain, 4 * 32);
    const double twenty = cycles(chain, 4 * 5 * 32);

    /* One warp per scheduler; then 5 per scheduler, which hide the latency of 5 cycles. */
    CU_ASSERT_DOUBLE_EQUAL(four / one, 1, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(twenty / one, 1, 0.05);
}

static void a_scheduler_issues_one_a_cycle(void)
{
    static const char five[] = "fma.rn.f32 %f1, %f2, %f3, %f4;\nfma.rn.f32 %f5, %f2, %f3, %f4;\n"
                               "fma.rn.f32 %f6, %f2, %f3, %f4;\nfma.rn.f32 %f7, %f2, %f3, %f4;\n"
                               "fma.rn.f32 %f0, %f2, %f3, %f4;\n";
    const char *few = repeat("", five, 20, ""), *more = repeat("", five, 40, "");

    /* 8 warps per scheduler, each with 100 more instructions. */
    CU_ASSERT_EQUAL(cycles(more, 32) - cycles(few, 32), 100);
    CU_ASSERT_EQUAL(cycles(more, 1024) - cycles(few, 1024), 8 * 100);
}

/* Eight warps wait for their own results, more than are needed to hide the latency. If the oldest
 * had priority, the youngest would start after the others had ended, and wait alone. */
static void ready_warps_take_turns(void)
{
    const double few = cycles(repeat("", DEPENDENT, 10, ""), 1024);
    const double more = cycles(repeat("", DEPENDENT, 110, ""), 1024);

    CU_ASSERT_TRUE(plain.alu_latency < 8);
    CU_ASSERT_DOUBLE_EQUAL(more - few, 8 * 100, 40); /* oldest first: 976 */
}

/* ---- Several blocks ---- */

#define FIVE                                                                                       \
    "fma.rn.f32 %f1, %f2, %f3, %f4;\nfma.rn.f32 %f5, %f2, %f3, %f4;\n"                             \
    "fma.rn.f32 %f6, %f2, %f3, %f4;\nfma.rn.f32 %f7, %f2, %f3, %f4;\n"                             \
    "fma.rn.f32 %f0, %f2, %f3, %f4;\n"

/* One warp per block has enough work to keep a scheduler busy, so the time shows how many of these
 * warps share a scheduler, as on an H200 (tests/sim/time/turns.txt). The model once put the first
 * warps of all blocks on the first scheduler. */
static const struct {
    int warps, working, blocks;
    int on_one; /* the maximum number of working warps on one scheduler */
} places[] = {
    { 8, 0, 4, 1 }, { 8, 7, 4, 1 },  { 4, 0, 4, 1 }, { 32, 0, 2, 1 },
    { 8, 0, 8, 2 }, { 12, 3, 4, 1 }, { 3, 0, 4, 1 }, { 1, 0, 8, 2 },
};

static void first_warps_are_on_different_schedulers(void)
{
    char before[LINE];

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(before, sizeof before,
                 "shr.u32 %%r7, %%r1, 5;\nsetp.ne.u32 %%p1, %%r7, %d;\n@%%p1 bra done;\n",
                 places[i].working);
        const char *few = repeat(before, FIVE, 20, "done:\n");
        const char *more = repeat(before, FIVE, 120, "done:\n");
        Trial trial = { .threads = 32 * places[i].warps,
                        .blocks = places[i].blocks,
                        .blocks_an_sm = places[i].blocks };
        trial.ptx = more;
        double took = play(&plain, trial).cycles;
        trial.ptx = few;
        took -= play(&plain, trial).cycles;
        CU_ASSERT_DOUBLE_EQUAL(took / 500, places[i].on_one, 0.1);
    }
}

#define SHARED_BLOCK ".shared .align 4 .b8 mem[4096];\nmov.u32 %r12, mem;\n"
#define TEN                                                                                        \
    "ld.shared.u32 %r20, [%r12];\nld.shared.u32 %r21, [%r12];\nld.shared.u32 %r22, [%r12];\n"      \
    "ld.shared.u32 %r23, [%r12];\nld.shared.u32 %r24, [%r12];\nld.shared.u32 %r25, [%r12];\n"      \
    "ld.shared.u32 %r26, [%r12];\nld.shared.u32 %r27, [%r12];\nld.shared.u32 %r28, [%r12];\n"      \
    "ld.shared.u32 %r29, [%r12];\n"
#define WAITS "ld.shared.u32 %r30, [%r12];\nand.b32 %r31, %r30, 0;\nadd.u32 %r12, %r12, %r31;\n"

/* The eight warps of the first block keep the load/store unit busy, while a warp of the second
 * block repeatedly loads and waits. If accesses were served in order of arrival, this warp would be
 * done when the first block ends. */
static void the_eldest_blocks_accesses_come_first(void)
{
    static const char elder[] = SHARED_BLOCK "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra younger;\n";
    static const char younger[] = "bra.uni done;\nyounger:\nsetp.gt.u32 %p1, %r1, 31;\n"
                                  "@%p1 bra done;\n" WAITS WAITS WAITS WAITS WAITS "done:\n";
    const char *both = repeat(elder, TEN, 40, younger);
    const Trial one = { .ptx = both, .threads = 256, .blocks = 1, .blocks_an_sm = 2 };
    Trial two = one;
    double alone, beside;

    two.blocks = 2;
    alone = play(&plain, one).cycles;
    beside = play(&plain, two).cycles;
    CU_ASSERT_TRUE(alone > 8 * 400); /* one cycle per access */
    CU_ASSERT_TRUE(beside > alone + 4 * plain.shared_latency);
}

/* ---- Operands ---- */

/* 15 warps per scheduler hide the latency, so the time depends on how long each instruction
 * occupies the scheduler. The register file provides two operands per cycle; operands of the same
 * warp's previous instruction are still available. */
enum { WARPS = 15, ROUNDS = 100 };

static double operands_cycles(const Device *device, const char *before, const char *round)
{
    const char *few = repeat(before, round, 20, ""), *more = repeat(before, round, 20 + ROUNDS, "");
    const Trial trial = { .threads = WARPS * 2 * 32, .blocks = 2, .blocks_an_sm = 2 };
    Trial first = trial, second = trial;

    first.ptx = few;
    second.ptx = more;
    return (play(device, second).cycles - play(device, first).cycles) / (WARPS * ROUNDS);
}

static const struct {
    const char *before, *round;
    int issued, cycles; /* per iteration and warp */
} operands[] = {
    { "", "add.f32 %f1, %f1, %f2;\n", 1, 1 },
    { "", "fma.rn.f32 %f1, %f1, %f1, %f2;\n", 1, 1 },
    { "", "fma.rn.f32 %f1, %f1, %f2, 0f3F000000;\n", 1, 1 },
    { "", "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 1, 2 },
    /* A constant does not count as an operand, even if a register holds it in PTX. */
    { "mov.f32 %f2, 0f3F000000;\n", "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 1, 1 },
    { "mov.f32 %f2, %f6;\n", "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 1, 2 },
    /* Integers, too. */
    { "", "mad.lo.u32 %r20, %r20, %r21, %r22;\n", 1, 2 },
    /* Predicates have separate registers. */
    { "setp.eq.u32 %p1, %r1, 7;\n", "selp.b32 %r20, %r20, %r21, %p1;\n", 1, 1 },
    /* Independent chains that share both factors, one factor, or none. */
    { "", "fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f2, %f3;\n", 2, 3 },
    { "",
      "fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f2, %f3;\n"
      "fma.rn.f32 %f5, %f5, %f2, %f3;\n",
      3, 4 },
    { "", "fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f2, %f5;\n", 2, 3 },
    { "", "fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f4, %f5, %f6;\n", 2, 4 },
};

static void operands_take_cycles(void)
{
    Device two = plain;

    two.register_reads = 2;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        const double took = operands_cycles(&two, operands[i].before, operands[i].round);
        const double free_of = operands_cycles(&plain, operands[i].before, operands[i].round);

        if (took < 0.9 * operands[i].cycles || took > 1.1 * operands[i].cycles)
            printf("\n    %s takes %g cycles, not %d\n", operands[i].round, took,
                   operands[i].cycles);
        CU_ASSERT_DOUBLE_EQUAL(took, operands[i].cycles, 0.1 * operands[i].cycles);
        CU_ASSERT_DOUBLE_EQUAL(free_of, operands[i].issued, 0.1 * operands[i].issued);
    }
}

static CU_TestInfo tests[] = {
    { "dependent instructions wait for the latency", dependent_instructions_wait },
    { "independent instructions overlap", independent_instructions_overlap },
    { "a narrow pipe takes more cycles per warp", a_narrow_pipe_takes_more_cycles },
    { "steps that ptxas removes cost nothing", what_ptxas_removes_costs_nothing },
    { "a copy is ready when its source is", copies_pass_on_when_a_value_is_there },
    { "exact fractions take a chain of instructions", exact_fractions_take_a_chain },
    { "the special function unit counts bits", bits_are_counted_by_the_special_function_unit },
    { "warps hide each other's latency", warps_hide_each_others_waiting },
    { "a scheduler issues one per cycle", a_scheduler_issues_one_a_cycle },
    { "ready warps take turns", ready_warps_take_turns },
    { "first warps are on different schedulers", first_warps_are_on_different_schedulers },
    { "the oldest block's accesses come first", the_eldest_blocks_accesses_come_first },
    { "operands take cycles", operands_take_cycles },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_issue = { "test_sim_time_issue", NULL, NULL, NULL, NULL, tests };
