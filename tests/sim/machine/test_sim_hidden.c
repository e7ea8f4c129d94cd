/* test_sim_hidden.c - a warp issues as many instructions as its machine code has, whatever its PTX
 * says. ptxas makes the machine code when the test runs. Without the toolkit, these tests only say
 * so. */
#include "sim/machine/operations.h"
#include "sim/sim_machine.h"
#include "sim/sim_time.h"

/* ---- Instructions that no step has ---- */

/* Kernels of one basic block. */
static const char *const straight[] = {
    KERNEL("add.s32 %r0, %r1, 1;\n"),
    /* Constants that are moved into registers. */
    KERNEL("setp.lt.s32 %p1, %r3, 7;\nselp.b32 %r7, 1013904223, 1664525, %p1;\n"
           "mad.lo.s32 %r8, %r1, 1664525, 1013904223;\nxor.b32 %r0, %r7, %r8;\n"),
    /* Comparisons of 64 bits in two halves. */
    KERNEL("ld.global.u64 %rd5, [%rd1+64];\nmul.wide.u32 %rd6, %r1, %r3;\n"
           "setp.lt.s64 %p1, %rd5, %rd6;\nselp.b64 %rd7, %rd5, %rd6, %p1;\n"
           "st.global.u64 [%rd1+128], %rd7;\n"),
};

/* They once took no time: garden_sun_computed in tests/sim/blind was played with half of its
 * instructions, and gate_warp with 44 %. */
static void all_instructions_are_issued(void)
{
    for (size_t i = 0; i < sizeof straight / sizeof *straight; i++) {
        TimingResult result;
        Sample known;
        if (!know(straight[i], 90, &known) || !machine_time(0, 1, &plain, straight[i], &result))
            return;
        CU_ASSERT_EQUAL(known.lowering->blocks[0].count, known.lowered.instructions[0]);
        CU_ASSERT_EQUAL((int) result.instructions, known.lowering->blocks[0].count);
        forget(&known);
    }
}

/* ---- Rounds ---- */

/* A loop in which ptxas moves a constant into a register with IMAD.MOV. It was taken for the loop's
 * product, and so for a second copy of the loop (garden_slugs_thread in tests/sim/blind). */
static void a_move_is_no_copy(void)
{
    static const char ptx[] = KERNEL(
        "shl.b32 %r22, %r1, 3;\nmad.lo.s32 %r21, %r1, -1640531527, 5;\nmov.u32 %r20, 0;\nROUND:\n"
        "mov.u32 %r8, %r20;\nmad.lo.s32 %r21, %r21, 1664525, 1013904223;\n"
        "setp.lt.s32 %p1, %r21, 0;\nselp.b32 %r14, 512, 1, %p1;\nand.b32 %r15, %r21, 1073741824;\n"
        "setp.eq.s32 %p2, %r15, 0;\nneg.s32 %r16, %r14;\nselp.b32 %r17, %r16, %r14, %p2;\n"
        "add.s32 %r18, %r17, %r22;\nand.b32 %r22, %r18, 262143;\nadd.s32 %r20, %r8, 1;\n"
        "cvt.u64.u32 %rd5, %r22;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u8 %rs1, [%rd6];\n"
        "setp.eq.s16 %p3, %rs1, 0;\nsetp.lt.u32 %p4, %r8, 499;\nand.pred %p5, %p4, %p3;\n"
        "@%p5 bra ROUND;\nadd.s32 %r0, %r22, %r8;\n");
    Operations operations;
    Sample known;

    if (!know(ptx, 90, &known))
        return;
    CU_ASSERT_TRUE_FATAL(operations_make(&operations, known.code, &plain, 0, known.lowering));
    for (int i = 0; i < known.code->step_count; i++) {
        CU_ASSERT_EQUAL(operations.operations[i].rounds, 1);
        CU_ASSERT_TRUE(known.lowered.steps[i].copies <= 1);
    }
    operations_free(&operations);
    forget(&known);
}

/* ---- Pipes ---- */

static const struct {
    const char *ptx;
    Pipe pipe;
} conversions[] = {
    { KERNEL("cvt.u16.u32 %rs1, %r1;\ncvt.f32.f16 %f1, %rs1;\nmov.b32 %r0, %f1;\n"), PIPE_FP16 },
    { KERNEL("cvt.rzi.s32.f32 %r7, %f1;\nadd.s32 %r0, %r7, %r1;\n"), PIPE_SFU },
};

/* HADD2.F32 makes a half a float. It was taken for a conversion of the special function unit, which
 * takes eight times as long (garden_pollen_half2 in tests/sim/blind). */
static void halves_become_floats_where_halves_are_added(void)
{
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        Operations operations;
        Sample known;
        int count = 0;
        if (!know(conversions[i].ptx, 90, &known))
            return;
        CU_ASSERT_TRUE_FATAL(operations_make(&operations, known.code, &plain, 0, known.lowering));
        for (int k = 0; k < known.code->step_count; k++) {
            const Instruction *in = known.code->steps[k].in;
            if (in->op != OP_cvt || in->type_count < 2 || !type_is_float(in->types[1]))
                continue;
            CU_ASSERT_EQUAL(operations.operations[k].pipe, conversions[i].pipe);
            count++;
        }
        CU_ASSERT_EQUAL(count, 1);
        operations_free(&operations);
        forget(&known);
    }
}

/* A sum of comparisons: ptxas adds 1 for each, and moves the sum back where the comparison fails.
 */
#define ADD_ONE(n)                                                                                 \
    "ld.global.f32 %f2, [%rd1+" n "];\nsetp.lt.f32 %p1, %f1, %f2;\nselp.u32 %r7, 1, 0, %p1;\n"     \
    "add.s32 %r0, %r0, %r7;\n"

/* The move is on another pipe. It was taken for a second addition (hampel_ranks in tests/sim/blind:
 * 1.42 times as slow as on an H200). */
static void a_move_leaves_the_pipe_of_additions_free(void)
{
    static const char ptx[] = KERNEL("ld.global.f32 %f1, [%rd2];\n" ADD_ONE("4") ADD_ONE(
        "8") ADD_ONE("12") ADD_ONE("16") ADD_ONE("20") ADD_ONE("24") ADD_ONE("28") ADD_ONE("32"));
    Operations operations;
    Sample known;
    int both = 0;

    if (!know(ptx, 90, &known))
        return;
    CU_ASSERT_TRUE_FATAL(operations_make(&operations, known.code, &plain, 0, known.lowering));
    for (int i = 0; i < known.code->step_count; i++) {
        const LoweredStep *lowered = &known.lowered.steps[i];
        const Operation *o = &operations.operations[i];
        if (known.code->steps[i].in->op != OP_add || lowered->issues != 2 || lowered->on_pipe != 1)
            continue;
        CU_ASSERT_EQUAL(o->busy, o->cycles);
        CU_ASSERT_TRUE(o->issues >= 2);
        both++;
    }
    CU_ASSERT_TRUE(both > 0);
    operations_free(&operations);
    forget(&known);
}

/* ---- Long ways ---- */

/* A quotient of 0 goes through a subroutine, whose instructions take turns from other warps. They
 * once only made its own warp wait (mask_warp in tests/sim/blind: 59 % of its instructions). */
static void the_long_way_is_issued(void)
{
    static const char ptx[] = KERNEL("cvt.rn.f32.u32 %f1, %r3;\nadd.s32 %r7, %r1, 3;\n"
                                     "cvt.rn.f32.u32 %f2, %r7;\ndiv.rn.f32 %f3, %f1, %f2;\n"
                                     "mov.b32 %r0, %f3;\n");
    TimingResult shorter, longer;

    if (!machine_time(0, 5, &plain, ptx, &shorter))
        return;
    CU_ASSERT_FATAL(machine_time(0, 0, &plain, ptx, &longer));
    CU_ASSERT_EQUAL(longer.instructions - shorter.instructions, 20);
}

CU_SuiteInfo test_sim_hidden = {
    .pName = "test_sim_hidden",
    .pTests =
        (CU_TestInfo[]){
            { "all instructions are issued", all_instructions_are_issued },
            { "a move is no copy", a_move_is_no_copy },
            { "halves become floats where halves are added",
              halves_become_floats_where_halves_are_added },
            { "a move leaves the pipe of additions free",
              a_move_leaves_the_pipe_of_additions_free },
            { "the long way is issued", the_long_way_is_issued },
            CU_TEST_INFO_NULL,
        },
};
