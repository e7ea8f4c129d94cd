/* test_sim_counts.c - machine instructions and their threads, where lanes of a warp do different
 * things. Each test tells what a launch of the blind set once got wrong. Without ptxas, these tests
 * only say so. */
#include "sim/exec/loops.h"
#include "sim/machine/lines.h"
#include "sim/sim_counted.h"

/* ---- Choices ---- */

/* A quarter of the lanes adds 1. ptxas guards the addition, or adds 1 for all and guards what takes
 * it back; either was counted as executed by all lanes (blind set, monte_carlo_pi and five others).
 */
static void a_choice_guards_an_addition(void)
{
    static const char ptx[] =
        KERNEL("ld.global.u32 %r8, [%rd2];\nand.b32 %r9, %r1, 3;\nadd.s32 %r9, %r9, %r8;\n"
               "setp.eq.s32 %p1, %r9, 0;\nselp.u32 %r10, 1, 0, %p1;\nadd.s32 %r0, %r8, %r10;\n");
    Counted counted;
    int guarded = 0, plain = 0;

    if (!count_kernel(&counted, ptx, 0))
        return;
    const int line = counted.trial.code->steps[counted.trial.code->step_count - 3].in->ptx_line;
    for (int i = 0; i < counted.lowering->code.count; i++) {
        const MachineInstruction *in = &counted.lowering->code.instructions[i];
        guarded += in->line == line && is_guarded(in);
        plain += in->line == line && !is_guarded(in);
    }
    CU_ASSERT_EQUAL_FATAL(guarded, 1);
    CU_ASSERT_EQUAL(counted.all.instructions * LANES - counted.all.threads,
                    (unsigned) (plain ? THREADS / 4 : 3 * THREADS / 4));
    release(&counted);
}

/* An array of 4 words whose index differs by lane. ptxas keeps it in registers, and selects one by
 * comparisons and guarded moves; all lanes were counted for each of them (blind set, subsets_gray
 * 1.38 and both bytecode launches 1.36 times the threads). */
static void an_array_in_registers_is_selected_from(void)
{
    static const char ptx[] = HEAD BEGIN
        ".local .align 16 .b8 array[16];\nmov.u64 %rd8, array;\ncvta.local.u64 %rd9, %rd8;\n"
        "ld.global.u32 %r8, [%rd2];\nmul.lo.u32 %r9, %r8, %r1;\n"
        "xor.b32 %r10, %r9, %r8;\nmul.lo.u32 %r11, %r10, %r9;\n"
        "st.local.u32 [%rd8], %r8;\nst.local.u32 [%rd8+4], %r9;\n"
        "st.local.u32 [%rd8+8], %r10;\nst.local.u32 [%rd8+12], %r11;\n"
        "and.b32 %r12, %r1, 3;\nmul.wide.u32 %rd10, %r12, 4;\nadd.s64 %rd11, %rd8, %rd10;\n"
        "ld.local.u32 %r0, [%rd11];\n" END;
    Counted counted;
    int local = 0, guarded = 0;

    if (!count_kernel(&counted, ptx, 0))
        return;
    for (int i = 0; i < counted.lowering->code.count; i++) {
        const MachineInstruction *in = &counted.lowering->code.instructions[i];
        local += (in->opcode & MACHINE_OPERATION_BITS) == MACHINE_LDL;
        guarded += is_guarded(in);
    }
    CU_ASSERT_EQUAL_FATAL(local, 0);
    CU_ASSERT_TRUE_FATAL(guarded >= 3);
    /* Each of 3 guarded moves is for a quarter of the lanes. */
    CU_ASSERT_TRUE(counted.all.instructions * LANES - counted.all.threads > 2 * THREADS);
    release(&counted);
}

/* ptxas puts loads that never run before an asynchronous copy (blind set, staged_async). */
static void some_instructions_never_run(void)
{
    static const char ptx[] = HEAD ".shared .align 16 .b8 s[1024];\n" BEGIN
                                   "mov.u32 %r8, s;\nshl.b32 %r9, %r1, 4;\nadd.u32 %r8, %r8, %r9;\n"
                                   "cvt.u64.u32 %rd9, %r9;\nadd.s64 %rd8, %rd1, %rd9;\n"
                                   "cp.async.cg.shared.global [%r8], [%rd8], 16;\n"
                                   "cp.async.commit_group;\ncp.async.wait_group 0;\n"
                                   "ld.shared.u32 %r0, [%r8];\n" END;
    Counted counted;
    unsigned never = 0;

    if (!count_kernel(&counted, ptx, 0))
        return;
    for (int i = 0; i < counted.lowering->code.count; i++)
        never += counted.lowering->code.instructions[i].guard == MACHINE_ALWAYS &&
                 counted.lowering->code.instructions[i].guard_negated;
    CU_ASSERT_TRUE(never > 0);
    CU_ASSERT_EQUAL(counted.all.instructions * LANES - counted.all.threads, never * THREADS);
    release(&counted);
}

/* ---- Loops ---- */

#define LOOP_OF(rounds)                                                                            \
    KERNEL("and.b32 %r8, %r1, 1;\nadd.s32 %r3, " rounds ", %r8;\n" LOOP "mov.u32 %r0, %r7;\n")

/* Half of the lanes go round 7 times, the others 8 times. ptxas makes a loop of 4 rounds at once,
 * then copies for 2 rounds and for 1: lanes with 8 rounds skip those, and the warp loads 2 * 4 + 2
 * + 1 times, not 8 times (blind set, softmax_warp, pagerank_pull and others). */
static void lanes_leave_unrolled_loops_apart(void)
{
    static const char ptx[] = LOOP_OF("%r3");
    Counted counted;
    double warps;

    if (!count_kernel(&counted, ptx, 7))
        return;
    CU_ASSERT_DOUBLE_EQUAL(loads(counted.lowering, &counted.trial, &warps), THREADS * 7.5, 0.5);
    CU_ASSERT_DOUBLE_EQUAL(warps, WARPS * 11, 0.1);
    release(&counted);
}

static void rounds_are_counted_by_powers_of_two(void)
{
    static const char ptx[] = LOOP_OF("%r3");
    Trial trial = { .ptx = ptx, .n = 6 }; /* 6 or 7 rounds */

    CU_ASSERT_FATAL(trial_run(&trial));
    CU_ASSERT_EQUAL_FATAL(trial.code->loop_count, 1);
    const LoopCount *loop = &trial.launch.loops[0];
    CU_ASSERT_EQUAL(loop->groups[0], 7);
    CU_ASSERT_EQUAL(loop->lanes[0], 16 * 6 + 16 * 7);
    CU_ASSERT_EQUAL(loop->splits[0], 1);
    CU_ASSERT_EQUAL(loop->groups[2], 1);
    CU_ASSERT_EQUAL(loop->lanes[2], 32);
    CU_ASSERT_EQUAL(loop->splits[2], 0);
    CU_ASSERT_EQUAL(loop->with_bit[1], 1);
    CU_ASSERT_EQUAL(loop->bit_splits[1], 0);
    CU_ASSERT_EQUAL(loop->with_bit[0], 1);
    CU_ASSERT_EQUAL(loop->bit_splits[0], 1);
    CU_ASSERT_EQUAL(loop->remainder[2], 3);
    CU_ASSERT_EQUAL(loop->remainder_splits[2], 1);
    CU_ASSERT_EQUAL(loop->groups[3], 0);
    trial_close(&trial);
}

/* A loop with two exits: lanes that leave it by the first one, after different numbers of rounds,
 * load once for the whole warp (blind set, hash_lookup: 1.26 times the requests of an H200). */
static void lanes_leave_loops_together(void)
{
    static const char ptx[] =
        KERNEL("mov.u32 %r7, 0;\nROUND:\nsetp.eq.s32 %p1, %r7, %r2;\n@%p1 bra FOUND;\n"
               "add.s32 %r7, %r7, 1;\nsetp.lt.s32 %p2, %r7, %r3;\n@%p2 bra ROUND;\nbra DONE;\n"
               "FOUND:\nld.global.u32 %r0, [%rd2];\nDONE:\nadd.s32 %r0, %r0, %r7;\n");
    Trial trial = { .ptx = ptx, .n = 20 };

    CU_ASSERT_FATAL(trial_run(&trial));
    for (int i = 0; i < trial.code->step_count; i++)
        if (trial.code->steps[i].in->op == OP_ld && trial.code->steps[i].space == SPACE_GLOBAL) {
            CU_ASSERT_EQUAL(trial.launch.counts[i].executed, 1);
            CU_ASSERT_EQUAL(trial.launch.counts[i].lanes, 20);
        }
    CU_ASSERT_EQUAL(trial.out[3], 3);
    CU_ASSERT_EQUAL(trial.out[31], 20);
    trial_close(&trial);
}

/* Each lane leaves the loop after another round. Where the kernel ends behind it, ptxas has no
 * BSYNC: each lane ends by itself (blind set, pagerank_push). */
static void lanes_end_by_themselves_behind_a_loop(void)
{
    static const char ptx[] =
        HEAD BEGIN "mov.u32 %r7, 0;\nROUND:\natom.global.add.u32 %r8, [%rd2], 1;\n"
                   "and.b32 %r8, %r8, 0;\nadd.s32 %r7, %r7, 1;\nadd.s32 %r9, %r7, %r8;\n"
                   "setp.le.u32 %p1, %r9, %r2;\n@%p1 bra ROUND;\nret;\n}\n";
    Counted counted;
    double ends = 0;

    if (!count_kernel(&counted, ptx, 0))
        return;
    BlockFlow *flows = calloc((size_t) counted.lowering->block_count, sizeof *flows);
    CU_ASSERT_PTR_NOT_NULL_FATAL(flows);
    CU_ASSERT_TRUE(flow_find(counted.lowering, &counted.trial.launch, flows));
    for (int b = 0; b < counted.lowering->block_count; b++)
        if (counted.lowering->blocks[b].is_reached && counted.lowering->blocks[b].leaves)
            ends += flows[b].warps;
    CU_ASSERT_DOUBLE_EQUAL(ends, THREADS, 0.5);
    free(flows);
    release(&counted);
}

/* ---- Barriers of divergence ---- */

static void a_division_names_its_meeting_point(void)
{
    static const char ptx[] =
        KERNEL("setp.lt.u32 %p1, %r2, 7;\n@%p1 bra SKIP;\nmov.u32 %r7, 0;\nROUND:\n"
               "atom.global.add.u32 %r8, [%rd1], 1;\nadd.s32 %r7, %r7, %r8;\n"
               "setp.lt.s32 %p2, %r7, %r3;\n@%p2 bra ROUND;\nSKIP:\n");
    static const int archs[] = { 75, 80, 90 };
    char older[sizeof ptx];
    int found = 0;

    PUT(older, "%s", ptx);
    memcpy(strstr(older, "sm_90"), "sm_75", 5);
    for (int i = 0; i < 3; i++) {
        Built built;
        if (!build(older, archs[i], &built))
            continue;
        Lowering *lowering = lower(&built, archs[i], older);
        CU_ASSERT_PTR_NOT_NULL_FATAL(lowering);
        const MachineCode *code = &lowering->code;
        for (int at = 0; at < code->count; at++) {
            const MachineInstruction *in = &code->instructions[at];
            if ((in->opcode & MACHINE_OPERATION_BITS) != MACHINE_BSSY)
                continue;
            found++;
            CU_ASSERT_FATAL(in->target > at);
            CU_ASSERT_EQUAL(code->instructions[in->target].opcode & MACHINE_OPERATION_BITS,
                            MACHINE_BSYNC);
        }
        CU_ASSERT_TRUE(found > i);
        lowering_free(lowering);
        free(built.cubin);
    }
}

/* ---- Products, quotients, calls ---- */

/* A product of 64-bit integers has four of 32 bits, which were taken for copies made by unrolling:
 * the block counted a quarter as often (blind set, big_limbs_64). */
static void long_products_are_no_copies(void)
{
    static const char ptx[] = KERNEL("ld.global.u64 %rd5, [%rd1];\nld.global.u64 %rd6, [%rd1+8];\n"
                                     "mul.hi.u64 %rd7, %rd5, %rd6;\nmul.hi.u64 %rd8, %rd7, %rd6;\n"
                                     "mul.hi.u64 %rd9, %rd8, %rd5;\ncvt.u32.u64 %r0, %rd9;\n");
    Counted counted;

    if (!count_kernel(&counted, ptx, 0))
        return;
    const MachineBlock *block = &counted.lowering->blocks[0];
    CU_ASSERT_TRUE(block->count > 20);
    CU_ASSERT_DOUBLE_EQUAL(counted.all.instructions, WARPS * (double) block->count, 1);
    CU_ASSERT_DOUBLE_EQUAL(counted.all.threads, THREADS * (double) block->count, 1);
    release(&counted);
}

/* Numerators of 0 take the long way, by a subroutine (blind set, fft_shared). */
static void zeros_are_divided_by_a_subroutine(void)
{
    static const char ptx[] =
        KERNEL("add.s32 %r8, %r2, %r3;\nsetp.gt.s32 %p1, %r8, 8;\nld.global.f32 %f1, [%rd2];\n"
               "selp.f32 %f1, 0f3F800000, %f1, %p1;\ncvt.rn.f32.u32 %f2, %r2;\n"
               "add.f32 %f2, %f2, 0f40000000;\ndiv.rn.f32 %f3, %f1, %f2;\nmov.b32 %r0, %f3;\n");
    Counted none, some;

    if (!count_kernel(&none, ptx, 100))
        return;
    release(&none);
    CU_ASSERT_FATAL(count_kernel(&some, ptx, 0)); /* lanes 0 to 8 divide 0 */
    CU_ASSERT_TRUE(some.all.instructions > none.all.instructions + 15 * WARPS);
    CU_ASSERT_TRUE(some.all.threads > none.all.threads + 15 * WARPS * 9);
    CU_ASSERT_TRUE(some.all.threads < none.all.threads + 60 * WARPS * 9);
    release(&some);
}

/* Functions that are called by their address (blind set, function_table: 0.05 times the
 * instructions of an H200). */
static void functions_of_a_table_are_counted(void)
{
    static const char ptx[] = HEAD
        ".func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [a];\n"
        "mul.lo.s32 %r2, %r1, %r1;\nxor.b32 %r2, %r2, 77;\nst.param.b32 [r], %r2;\nret;\n}\n"
        ".func (.param .b32 r) other(.param .b32 a)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [a];\n"
        "mad.lo.s32 %r2, %r1, 5, 9;\nst.param.b32 [r], %r2;\nret;\n}\n"
        ".global .align 8 .u64 table[2] = { twice, other };\n" BEGIN
        "mov.u64 %rd10, table;\nand.b32 %r8, %r3, 1;\nmul.wide.u32 %rd11, %r8, 8;\n"
        "add.s64 %rd10, %rd10, %rd11;\nld.global.u64 %rd12, [%rd10];\nmov.u32 %r7, 0;\nROUND:\n"
        "{\n.param .b32 p0;\n.param .b32 q;\nst.param.b32 [p0], %r7;\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (q), %rd12, (p0), proto;\nld.param.b32 %r9, [q];\n}\nadd.s32 %r0, %r0, %r9;\n"
        "add.s32 %r7, %r7, 1;\nsetp.lt.s32 %p1, %r7, %r3;\n@%p1 bra ROUND;\n" END;
    Counted counted;
    const uint32_t rounds = 50;

    if (!count_kernel(&counted, ptx, rounds))
        return;
    /* A round has a call, a function of at least three instructions, and what counts rounds. */
    CU_ASSERT_TRUE(counted.all.instructions > WARPS * 8 * rounds);
    CU_ASSERT_TRUE(counted.all.instructions < WARPS * 30 * rounds);
    release(&counted);
}

CU_SuiteInfo test_sim_counts = {
    .pName = "sim_counts",
    .pTests =
        (CU_TestInfo[]){
            { "a choice guards an addition", a_choice_guards_an_addition },
            { "an array in registers is selected from", an_array_in_registers_is_selected_from },
            { "some instructions never run", some_instructions_never_run },
            { "lanes leave unrolled loops apart", lanes_leave_unrolled_loops_apart },
            { "rounds are counted by powers of two", rounds_are_counted_by_powers_of_two },
            { "lanes leave loops together", lanes_leave_loops_together },
            { "lanes end by themselves behind a loop", lanes_end_by_themselves_behind_a_loop },
            { "a division names its meeting point", a_division_names_its_meeting_point },
            { "long products are no copies", long_products_are_no_copies },
            { "zeros are divided by a subroutine", zeros_are_divided_by_a_subroutine },
            { "functions of a table are counted", functions_of_a_table_are_counted },
            CU_TEST_INFO_NULL,
        },
};
