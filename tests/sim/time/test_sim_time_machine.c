/* test_sim_time_machine.c - waits and shared instructions that only the machine code shows, which
 * ptxas makes when the test runs. Without the toolkit, these tests only say so. */
#include "sim/machine/operations.h"
#include "sim/sim_machine.h"
#include "sim/sim_time.h"

/* ---- Meetings ---- */

/* A branch over a loop of atomics, which ptxas keeps, with BSSY and BSYNC. */
#define DIVERGE(n)                                                                                 \
    "setp.lt.u32 %p1, %r2, 7;\n@%p1 bra SKIP" n ";\nROUND" n ":\n"                                 \
    "atom.global.add.u32 %r8, [%rd1], 1;\nadd.s32 %r7, %r7, %r8;\n"                                \
    "setp.lt.s32 %p2, %r7, %r3;\n@%p2 bra ROUND" n ";\nSKIP" n ":\nadd.s32 %r0, %r0, %r7;\n"

static const struct {
    const char *ptx;
    int meetings;
} diverged[] = {
    { KERNEL("add.s32 %r0, %r1, 1;\n"), 0 },
    { KERNEL("mov.u32 %r7, %r1;\n" DIVERGE("1")), 1 },
    { KERNEL("mov.u32 %r7, %r1;\n" DIVERGE("1") DIVERGE("2")), 2 },
    /* The slow path of a division is part of its latency. */
    { KERNEL("cvt.rn.f32.u32 %f1, %r1;\ncvt.rn.f32.u32 %f2, %r3;\ndiv.rn.f32 %f3, %f1, %f2;\n"
             "mov.b32 %r0, %f3;\n"),
      0 },
};

static void a_diverged_warp_takes_time_to_reconverge(void)
{
    Device device = plain;
    double with, without;

    device.meeting_cycles = 200;
    device.leaving_cycles = 300;
    for (size_t i = 0; i < sizeof diverged / sizeof *diverged; i++) {
        if (!machine_cycles(1, &device, diverged[i].ptx, &with))
            return;
        CU_ASSERT_FATAL(machine_cycles(1, &plain, diverged[i].ptx, &without));
        /* Before it meets, some lanes have left the others. */
        CU_ASSERT_EQUAL(with - without, (200 + 300) * diverged[i].meetings);
    }
}

/* ---- Predicates ---- */

/* A comparison with the result of a chain, so that the predicate is the last value to be ready. */
#define COMPARED                                                                                   \
    "add.s32 %r7, %r1, %r3;\nmul.lo.s32 %r7, %r7, %r7;\nmul.lo.s32 %r7, %r7, %r7;\n"               \
    "mul.lo.s32 %r7, %r7, %r7;\nsetp.lt.s32 %p1, %r7, 7;\n"

static const struct {
    const char *ptx;
    int waits;
} guarded[] = {
    { KERNEL(COMPARED "selp.u32 %r0, %r1, %r2, %p1;\n"), 0 },
    { KERNEL(COMPARED "@%p1 add.s32 %r0, %r1, 77;\n"), 1 },
    { KERNEL(COMPARED "@%p1 bra PAST;\nadd.s32 %r0, %r1, 77;\nPAST:\n"), 1 },
};

/* ptxas replaces a branch over few instructions by a predicate. The first of them once did not
 * wait for the predicate. */
static void an_instruction_under_a_predicate_waits_for_it(void)
{
    Device device = plain, later = plain;
    double with, without;

    /* Both are longer than ptxas stalls the warp. */
    device.guard_latency = 50;
    later.guard_latency = 100;
    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
        if (!machine_cycles(1, &later, guarded[i].ptx, &with))
            return;
        CU_ASSERT_FATAL(machine_cycles(1, &device, guarded[i].ptx, &without));
        CU_ASSERT_EQUAL(with - without, 50 * guarded[i].waits);
    }
}

#define SUM     "add.s32 %r7, %r7, %r1;\nxor.b32 %r7, %r7, %r2;\n"
#define SUMS    SUM SUM SUM SUM
#define SKIPPED "setp.lt.s32 %p1, %r3, %r1;\nmov.u32 %r7, %r1;\n@%p1 bra PAST;\n"

/* All lanes take the branch, which ptxas replaces by predicates, so a warp issues the eight
 * instructions under them. They once cost no time (pano_feather_gather in tests/sim/blind). */
static void a_warp_issues_what_its_lanes_skip(void)
{
    static const char nothing[] = KERNEL("mov.u32 %r7, %r1;\nmov.u32 %r0, %r7;\n");
    static const char skipped[] = KERNEL(SKIPPED SUMS "PAST:\nmov.u32 %r0, %r7;\n");
    TimingResult of_nothing, of_skipped;

    if (!machine_time(0, (uint32_t) -1, &plain, nothing, &of_nothing))
        return;
    CU_ASSERT_FATAL(machine_time(0, (uint32_t) -1, &plain, skipped, &of_skipped));
    CU_ASSERT(of_skipped.instructions >= of_nothing.instructions + 8);
}

/* ---- The pace of the code ---- */

#define PRODUCT "mul.lo.s32 %r7, %r7, %r7;\n"

/* Between products that depend on each other, ptxas stalls the warp for 4 cycles. So a device on
 * which they took 1 or 3 cycles would not be faster. */
static void a_warp_keeps_the_pace_of_the_code(void)
{
    static const char ptx[] =
        KERNEL("add.s32 %r7, %r1, %r3;\n" PRODUCT PRODUCT PRODUCT PRODUCT "mov.u32 %r0, %r7;\n");
    Device quick = plain, quicker = plain;
    double cycles, less;

    quick.alu_latency = 3;
    quicker.alu_latency = 1;
    if (!machine_cycles(1, &quick, ptx, &cycles))
        return;
    CU_ASSERT_FATAL(machine_cycles(1, &quicker, ptx, &less));
    CU_ASSERT_EQUAL(cycles, less);
}

/* ---- Long products ---- */

/* Products of 64 bits and upper halves, each needed by the next one. */
static const struct {
    const char *ptx;
    int wide, high;
} products[] = {
    { KERNEL("mul.lo.u32 %r7, %r1, %r3;\nmul.lo.u32 %r0, %r7, %r3;\n"), 0, 0 },
    { KERNEL("mul.hi.u32 %r7, %r1, %r3;\nmul.hi.u32 %r0, %r7, %r3;\n"), 0, 2 },
    { KERNEL("mul.wide.u32 %rd5, %r1, %r3;\nmov.b64 {%r7, %r8}, %rd5;\nxor.b32 %r0, %r7, %r8;\n"),
      1, 0 },
};

static int cycles_of_product(void)
{
    return (LANES * plain.schedulers_per_sm + plain.int_lanes - 1) / plain.int_lanes;
}

/* Compares each product of the kernel that holds its scheduler up; returns their number. */
static int check_products(const Operations *operations, int latency)
{
    int count = 0;

    for (int k = 0; k < operations->code->step_count; k++) {
        const Operation *o = &operations->operations[k];
        if (operations->code->steps[k].in->op != OP_mul || o->holds <= o->issues)
            continue;
        count++;
        CU_ASSERT_EQUAL(o->latency, latency);
        CU_ASSERT_EQUAL(o->holds, plain.wide_hold_cycles);
        CU_ASSERT_EQUAL(o->busy, 2 * cycles_of_product());
    }
    return count;
}

/* Products of 64 bits were as fast as lower halves: kernels with much arithmetic of addresses took
 * 0.8 of their time (tests/sim/blind, filter_constant). */
static void long_products_take_longer(void)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const int latency =
            products[i].high ? plain.high_product_latency : plain.wide_product_latency;
        Operations operations;
        Sample known;
        if (!know(products[i].ptx, 90, &known))
            return;
        CU_ASSERT_TRUE_FATAL(operations_make(&operations, known.code, &plain, 0, known.lowering));
        CU_ASSERT_EQUAL(check_products(&operations, latency), products[i].wide + products[i].high);
        operations_free(&operations);
        forget(&known);
    }
}

#define POWER(opcode) KERNEL("cvt.rn.f32.u32 %f1, %r1;\n" opcode " %f2, %f1;\nmov.b32 %r0, %f2;\n")

/* Without .ftz, a product before the special function and one after it keep small operands right,
 * both under a predicate, for which the function waits. */
static void small_operands_are_scaled(void)
{
    Device device = plain, later = plain;
    double with, without;

    /* Both are longer than ptxas stalls the warp. */
    device.guard_latency = 50;
    later.guard_latency = 100;
    for (int scaled = 0; scaled < 2; scaled++) {
        const char *ptx = scaled ? POWER("ex2.approx.f32") : POWER("ex2.approx.ftz.f32");
        if (!machine_cycles(1, &later, ptx, &with))
            return;
        CU_ASSERT_FATAL(machine_cycles(1, &device, ptx, &without));
        CU_ASSERT_EQUAL(with - without, 50 * scaled);
    }
}

/* ---- Loads in front of a loop ---- */

/* Four words are added up in each of n rounds; `round` ends a round. */
#define ROUNDS(round)                                                                              \
    KERNEL("mov.u32 %r7, 0;\nROUND:\nmov.u64 %rd9, %rd2;\nmov.u32 %r9, 0;\nWORD:\n"                \
           "ld.global.u32 %r8, [%rd9];\nmad.lo.s32 %r0, %r0, %r8, %r7;\nadd.s64 %rd9, %rd9, 4;\n"  \
           "add.s32 %r9, %r9, 1;\nsetp.lt.s32 %p2, %r9, 4;\n@%p2 bra WORD;\n" round                \
           "add.s32 %r7, %r7, 1;\nsetp.lt.s32 %p1, %r7, %r3;\n@%p1 bra ROUND;\n")

static const struct {
    const char *ptx;
    bool moves;
} hoisted[] = {
    { ROUNDS(""), true },
    { ROUNDS("add.s64 %rd2, %rd2, 16;\n"), false }, /* other words in each round */
};

/* The words that the kernel's warp requests in a loop of n rounds. */
static double words_requested(Lowering *lowering, const char *ptx, int n)
{
    const TimingResult time =
        play(&plain, (Trial){ .ptx = ptx, .threads = 1, .n = n, .lowering = lowering });

    return (double) (time.l1_hits + time.l1_misses);
}

/* ptxas unrolls the inner loop, and moves its loads in front of the outer loop, which does not
 * change their addresses. The model repeated them in each round: signs_thread (blind set) was 7.6
 * times too slow. */
static void a_load_in_front_of_a_loop_is_not_repeated(void)
{
    enum { FEW = 8, MANY = 40 };

    for (size_t i = 0; i < sizeof hoisted / sizeof *hoisted; i++) {
        Sample known;
        if (!know(hoisted[i].ptx, 90, &known))
            return;
        const double few = words_requested(known.lowering, hoisted[i].ptx, FEW);
        const double many = words_requested(known.lowering, hoisted[i].ptx, MANY);
        CU_ASSERT_EQUAL(many - few, hoisted[i].moves ? 0 : 4 * (MANY - FEW));
        forget(&known);
    }
}

/* ---- Divisions ---- */

#define REMAINDER(to, from) "rem.u32 " to ", " from ", %r3;\n"

/* The issues of all remainders; `busy`: the cycles for which they occupy their pipe. */
static int issues_of_remainders(const Sample *known, const Lowering *lowering, int *busy)
{
    Operations operations;
    int issues = 0;

    *busy = 0;
    CU_ASSERT_TRUE_FATAL(operations_make(&operations, known->code, &plain, 0, lowering));
    for (int i = 0; i < known->code->step_count; i++) {
        if (known->code->steps[i].in->op != OP_rem)
            continue;
        issues += operations.operations[i].issues;
        *busy += operations.operations[i].busy;
    }
    operations_free(&operations);
    return issues;
}

/* Remainders by the same number share its reciprocal. Each was modelled with 20 instructions. */
static void remainders_by_one_number_share_instructions(void)
{
    static const char ptx[] =
        KERNEL(REMAINDER("%r7", "%r1") REMAINDER("%r8", "%r6") "xor.b32 %r0, %r7, %r8;\n");
    Sample known;
    int busy, usual_busy;

    if (!know(ptx, 90, &known))
        return;
    const int usual = issues_of_remainders(&known, NULL, &usual_busy);
    const int issues = issues_of_remainders(&known, known.lowering, &busy);
    CU_ASSERT_EQUAL(usual, 2 * 20);
    CU_ASSERT_TRUE(issues >= 20 && issues < usual);
    /* Issues include those of instructions that have no step; these occupy no pipe. */
    CU_ASSERT_TRUE(busy >= usual_busy / 2 && busy < usual_busy);
    CU_ASSERT_TRUE(busy <= (double) usual_busy * issues / usual + 2);
    forget(&known);
}

CU_SuiteInfo test_sim_time_machine = {
    .pName = "test_sim_time_machine",
    .pTests =
        (CU_TestInfo[]){
            { "a diverged warp takes time to reconverge",
              a_diverged_warp_takes_time_to_reconverge },
            { "a warp issues what its lanes skip", a_warp_issues_what_its_lanes_skip },
            { "an instruction under a predicate waits for it",
              an_instruction_under_a_predicate_waits_for_it },
            { "a warp keeps the pace of the code", a_warp_keeps_the_pace_of_the_code },
            { "long products take longer", long_products_take_longer },
            { "small operands are scaled", small_operands_are_scaled },
            { "a load in front of a loop is not repeated",
              a_load_in_front_of_a_loop_is_not_repeated },
            { "remainders by one number share instructions",
              remainders_by_one_number_share_instructions },
            CU_TEST_INFO_NULL,
        },
};
