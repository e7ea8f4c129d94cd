/* test_sim_branches.c - machine instructions where branches divide a warp, or predicates replace
 * them. Each test tells what a launch of the blind set or of the training set once got wrong.
 * Without ptxas, these tests only say so. */
#include "sim/sim_counted.h"

#include <math.h>

/* Copies of an operation in the machine code; of those with guards only, if `guarded`. */
static int operations(const Counted *counted, unsigned operation, bool guarded)
{
    int found = 0;

    for (int i = 0; i < counted->lowering->code.count; i++) {
        const MachineInstruction *in = &counted->lowering->code.instructions[i];
        const bool has_guard = in->guard != MACHINE_ALWAYS || in->guard_negated;
        found += (in->opcode & MACHINE_OPERATION_BITS) == operation && (has_guard || !guarded);
    }
    return found;
}

/* ptxas loads constants with either of two products of nothing: IMAD and HFMA2.MMA. */
static void load_constants_with_hfma2(const Counted *counted)
{
    for (int i = 0; i < counted->lowering->code.count; i++) {
        MachineInstruction *in = &counted->lowering->code.instructions[i];
        if (in->opcode == 0x424 && in->source[0] == MACHINE_NO_REGISTER)
            in->opcode = 0x435;
    }
}

/* Half of the lanes compute. The constants of the multiply-adds were taken for copies of them, so
 * that the branch seemed to be taken less often (blind set, hsv_planes: 0.88 times the instructions
 * of an H200). */
static void constants_are_no_copies(void)
{
    static const char ptx[] =
        KERNEL("cvt.rn.f32.u32 %f1, %r2;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra SKIP;\n"
               "fma.rn.f32 %f2, %f1, 0f42700000, 0f43700000;\nfma.rn.f32 %f3, %f2, 0f42600000, "
               "0f42F00000;\n"
               "fma.rn.f32 %f4, %f3, 0f41700000, 0f42A00000;\nrcp.rn.f32 %f1, %f4;\n"
               "SKIP:\nmov.b32 %r0, %f1;\n");
    Counted counted;
    double threads = 0;

    if (!count_kernel(&counted, ptx, 0))
        return;
    load_constants_with_hfma2(&counted);
    BlockFlow *flows = flows_of(&counted);
    for (int b = 0; b < counted.lowering->block_count; b++)
        if (counted.lowering->blocks[b].callee >= 0 || counted.lowering->blocks[b].taken >= 0)
            threads = fmax(threads, flows[b].taken);
    CU_ASSERT_DOUBLE_EQUAL(threads, THREADS / 2.0, 0.5);
    free(flows);
    release(&counted);
}

/* Warps that come to the BSYNCs in parts, besides one part per warp. */
static double parts(const Counted *counted)
{
    BlockFlow *flows = flows_of(counted);
    double whole = 0;

    for (int b = 0; b < counted->lowering->block_count; b++)
        if (counted->lowering->blocks[b].is_reached)
            whole += flows[b].warps * counted->lowering->blocks[b].count;
    free(flows);
    return (double) counted->all.instructions - whole;
}

/* The branch over the atomics divides one of two warps, and so does the one in front of the store,
 * which predicates replace. Only the first one makes a warp come to the BSYNC in parts (blind set,
 * segment_exchange: 1.62). */
static void predicates_divide_no_warp(void)
{
    static const char ptx[] =
        KERNEL("setp.gt.u32 %p1, %r1, 39;\nsetp.gt.u32 %p2, %r2, 3;\n@%p1 bra SKIP;\n"
               "atom.global.add.u32 %r8, [%rd2], %r2;\natom.global.add.u32 %r9, [%rd2+256], %r8;\n"
               "atom.global.add.u32 %r10, [%rd2+512], %r9;\n@%p2 bra SKIP;\n"
               "st.global.u32 [%rd2], %r9;\nSKIP:\nbar.sync 0;\n");
    Counted counted;

    if (!count_kernel(&counted, ptx, 0))
        return;
    CU_ASSERT_EQUAL_FATAL(operations(&counted, MACHINE_BSYNC, false), 1);
    CU_ASSERT_DOUBLE_EQUAL(parts(&counted), 1, 0.1);
    release(&counted);
}

/* A quarter of the lanes adds in each of 6 rounds, all copies of which are in one block. Each copy
 * was counted for all lanes, since only six times a quarter of them add (blind set, spmv_ell: 1.13
 * times the threads). */
static void copies_of_a_guard_share_its_threads(void)
{
    static const char ptx[] =
        KERNEL("mov.u32 %r7, 0;\nROUND:\nld.global.u32 %r8, [%rd2];\nadd.s32 %r8, %r8, %r2;\n"
               "and.b32 %r9, %r8, 3;\nsetp.ne.s32 %p1, %r9, 0;\n@%p1 bra NEXT;\n"
               "xor.b32 %r0, %r0, %r8;\nshl.b32 %r0, %r0, 3;\nNEXT:\nadd.s32 %r7, %r7, 1;\n"
               "add.s64 %rd2, %rd2, 4;\nsetp.lt.u32 %p2, %r7, 6;\n@%p2 bra ROUND;\n");
    Counted counted;
    int guarded = 0;

    if (!count_kernel(&counted, ptx, 0))
        return;
    for (int i = 0; i < counted.lowering->code.count; i++)
        guarded += is_guarded(&counted.lowering->code.instructions[i]);
    CU_ASSERT_TRUE_FATAL(guarded >= 6);
    CU_ASSERT_DOUBLE_EQUAL(counted.all.instructions * LANES - counted.all.threads,
                           guarded * THREADS * 3 / 4.0, THREADS / 4.0);
    release(&counted);
}

/* ---- Copies ---- */

/* A quarter of the lanes leaves the loop in each of 4 rounds. ptxas makes a copy for each round,
 * which the sum over all rounds cannot tell apart (training set, julia_double: 0.92 times the
 * instructions of an H200; blind set, match_bytes: 0.80). */
static void each_copy_counts_its_round(void)
{
    static const char ptx[] =
        KERNEL("mov.u32 %r7, 0;\nand.b32 %r9, %r2, 3;\nROUND:\nld.global.u32 %r8, [%rd2+256];\n"
               "add.s32 %r8, %r8, %r7;\nsetp.ge.u32 %p1, %r8, %r9;\n@%p1 bra OUT;\n"
               "add.s64 %rd2, %rd2, 4;\nadd.s32 %r0, %r0, %r8;\nadd.s32 %r7, %r7, 1;\n"
               "setp.ne.s32 %p2, %r7, 4;\n@%p2 bra ROUND;\nOUT:\n");
    enum { LDG = 0x181, COPIES = 4 };
    Counted counted;
    int copies = 0;

    if (!count_kernel(&counted, ptx, 0))
        return;
    BlockFlow *flows = flows_of(&counted);
    for (int b = 0; b < counted.lowering->block_count; b++) {
        const MachineBlock *block = &counted.lowering->blocks[b];
        for (int i = block->first; i < block->first + block->count; i++)
            if ((counted.lowering->code.instructions[i].opcode & MACHINE_OPERATION_BITS) == LDG) {
                const double left = (double) (COPIES - copies++) / COPIES;
                CU_ASSERT_DOUBLE_EQUAL(flows[b].threads, THREADS * left, 0.5);
                CU_ASSERT_DOUBLE_EQUAL(flows[b].warps, WARPS, 0.1);
            }
    }
    CU_ASSERT_EQUAL(copies, COPIES);
    free(flows);
    release(&counted);
}

/* ---- Indirect branches and calls ---- */

/* Lanes branch to four places, by a table: each part executes the branch, and the BSYNC behind it
 * (training set, tiny_machine: 0.90 times the instructions of an H200). */
static void parts_execute_an_indirect_branch(void)
{
    static const char ptx[] =
        KERNEL("and.b32 %r8, %r2, 3;\nld.global.u32 %r9, [%rd2];\n"
               "T: .branchtargets A, B, C, D;\nbrx.idx %r8, T;\n"
               "A:\natom.global.add.u32 %r9, [%rd2], 1;\nbra.uni DONE;\n"
               "B:\natom.global.max.u32 %r9, [%rd2], 5;\nbra.uni DONE;\n"
               "C:\natom.global.exch.b32 %r9, [%rd2], 7;\nbra.uni DONE;\n"
               "D:\natom.global.xor.b32 %r9, [%rd2], %r9;\nDONE:\nadd.s32 %r0, %r9, 1;\n");
    Counted counted;

    if (!count_kernel(&counted, ptx, 0))
        return;
    if (operations(&counted, MACHINE_BRX, false) == 1)
        CU_ASSERT_DOUBLE_EQUAL(parts(&counted), 2 * WARPS * 3, 0.1);
    release(&counted);
}

CU_SuiteInfo test_sim_branches = {
    .pName = "sim_branches",
    .pTests =
        (CU_TestInfo[]){
            { "constants are no copies", constants_are_no_copies },
            { "predicates divide no warp", predicates_divide_no_warp },
            { "copies of a guard share its threads", copies_of_a_guard_share_its_threads },
            { "each copy counts its round", each_copy_counts_its_round },
            { "parts execute an indirect branch", parts_execute_an_indirect_branch },
            CU_TEST_INFO_NULL,
        },
};
