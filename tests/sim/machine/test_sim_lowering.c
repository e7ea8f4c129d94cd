/* test_sim_lowering.c - machine code that ptxas makes when the test runs: its lines, basic blocks,
 * and how often its instructions run. Without the toolkit, these tests only say so. */
#include "sim/machine/fit.h"
#include "sim/machine/flow.h"
#include "base/util.h"
#include "sim/sim_machine.h"

#include <math.h>

/* ---- Least squares ---- */

/* x + y = 3, x - y = 5: 4 and -1; without negative numbers 4 and 0. */
static void unknowns_are_not_negative(void)
{
    Fit fit;

    CU_ASSERT_TRUE_FATAL(fit_begin(&fit, 2));
    fit.unit[0] = fit.unit[1] = 1;
    fit_row(&fit, 3, 1, 1);
    fit_term(&fit, 0, 1);
    fit_term(&fit, 1, 1);
    fit_row(&fit, 5, 1, 1);
    fit_term(&fit, 0, 1);
    fit_term(&fit, 1, -1);
    fit_solve(&fit);
    CU_ASSERT_DOUBLE_EQUAL(fit.x[0], 4, 1e-5);
    CU_ASSERT_EQUAL(fit.x[1], 0);
    CU_ASSERT_DOUBLE_EQUAL(fit_residual(&fit, 0), 1, 1e-5);
    fit_end(&fit);
}

/* 4 x + y = 100: the cheaper one is used. */
static void costs_decide_between_equal_fits(void)
{
    for (int cheap = 0; cheap < 2; cheap++) {
        Fit fit;
        CU_ASSERT_TRUE_FATAL(fit_begin(&fit, 2));
        fit.unit[0] = fit.unit[1] = 100;
        fit.cost[cheap] = 1e-5;
        fit.cost[!cheap] = 1e-2;
        fit_row(&fit, 100, 100, 1);
        fit_term(&fit, 0, 4);
        fit_term(&fit, 1, 1);
        fit_solve(&fit);
        CU_ASSERT_DOUBLE_EQUAL(fit.x[!cheap], 0, 0.01);
        CU_ASSERT_DOUBLE_EQUAL(fit.x[cheap], cheap ? 100 : 25, 0.5);
        fit_end(&fit);
    }
}

/* ---- Machine code ---- */

/* ptxas unrolls the loop, so a round has fewer instructions than the 6 of the PTX: a load, an
 * addition, and a part of what counts rounds. */
static void an_unrolled_loop_is_counted(void)
{
    static const int archs[] = { 75, 80, 90 };
    static const char ptx[] = KERNEL(LOOP);
    char older[sizeof ptx];

    PUT(older, "%s", ptx);
    memcpy(strstr(older, "sm_90"), "sm_75", 5);
    for (size_t i = 0; i < 3; i++) {
        Built built;
        if (!build(older, archs[i], &built))
            continue;
        for (unsigned rounds = 1; rounds < 200; rounds += 33) {
            Trial trial = { .ptx = older, .threads = 64, .n = rounds };
            Lowering *lowering = lower(&built, archs[i], older);
            double warps;
            CU_ASSERT_PTR_NOT_NULL_FATAL(lowering);
            CU_ASSERT_TRUE_FATAL(lowering->block_count >= 3);
            CU_ASSERT_FATAL(trial_run(&trial));
            CU_ASSERT_DOUBLE_EQUAL(loads(lowering, &trial, &warps) / (64 * rounds), 1, 0.002);
            CU_ASSERT_DOUBLE_EQUAL(warps / (2 * rounds), 1, 0.002);
            CU_ASSERT_TRUE(instructions(lowering, &trial) > 2 * 2 * (long) rounds);
            CU_ASSERT_TRUE(instructions(lowering, &trial) < 2 * (6 * (long) rounds + 60));
            trial_close(&trial);
            lowering_free(lowering);
        }
        free(built.cubin);
    }
}

/* Divisions of FP64 branch to a subroutine in rare cases, which divides the body of a loop among
 * several blocks. They were once taken for copies of the body, and the loop was counted 6 times too
 * rarely (blind set, pi_double). */
static void calls_divide_a_loop(void)
{
    static const char ptx[] =
        KERNEL("cvt.rn.f64.u32 %fd1, %r3;\nmov.u32 %r7, 0;\nROUND:\nld.global.f32 %f2, [%rd2];\n"
               "cvt.f64.f32 %fd2, %f2;\nadd.rn.f64 %fd2, %fd2, 0d3FF0000000000000;\ndiv.rn.f64 "
               "%fd3, %fd2, %fd1;\n"
               "fma.rn.f64 %fd4, %fd3, %fd3, %fd1;\ndiv.rn.f64 %fd5, %fd1, %fd4;\n"
               "fma.rn.f64 %fd1, %fd5, %fd5, %fd2;\nadd.s32 %r7, %r7, 1;\n"
               "add.s64 %rd2, %rd2, 4;\nsetp.lt.s32 %p1, %r7, %r3;\n@%p1 bra ROUND;\n"
               "st.global.f64 [%rd1], %fd1;\n");
    const unsigned rounds = 25;
    Trial trial = { .ptx = ptx, .threads = 64, .n = rounds };
    Built built;
    double warps;

    if (!build(ptx, 90, &built))
        return;
    Lowering *lowering = lower(&built, 90, ptx);
    CU_ASSERT_PTR_NOT_NULL_FATAL(lowering);
    CU_ASSERT_FATAL(trial_run(&trial));
    CU_ASSERT_DOUBLE_EQUAL(loads(lowering, &trial, &warps) / (64 * rounds), 1, 0.002);
    /* A division has 13 to 16 instructions where it is not rare. */
    CU_ASSERT_TRUE(instructions(lowering, &trial) > 2 * (26 + 4) * (long) rounds);
    CU_ASSERT_TRUE(instructions(lowering, &trial) < 2 * ((32 + 12) * (long) rounds + 60));
    trial_close(&trial);
    lowering_free(lowering);
    free(built.cubin);
}

/* Remainders by the same number share its reciprocal, so only one of them has the instruction that
 * marks its corrections as rare. Those of the others were counted as executed by all threads: 1.12
 * times the threads per instruction of an H200 (blind set, life). */
static void corrections_of_quotients_are_rare(void)
{
    static const char ptx[] =
        KERNEL("add.s32 %r10, %r1, 101;\nadd.s32 %r11, %r1, 202;\nadd.s32 %r12, %r1, 303;\n"
               "rem.s32 %r13, %r10, %r3;\nrem.s32 %r14, %r11, %r3;\nrem.s32 %r15, %r12, %r3;\n"
               "mad.lo.s32 %r0, %r14, %r15, %r13;\n");
    Trial trial = { .ptx = ptx, .threads = 64, .n = 64 };
    Built built;
    double guarded = 0;

    if (!build(ptx, 90, &built))
        return;
    Lowering *lowering = lower(&built, 90, ptx);
    CU_ASSERT_PTR_NOT_NULL_FATAL(lowering);
    for (int i = 0; i < lowering->code.count; i++)
        guarded += lowering->code.instructions[i].guard != MACHINE_ALWAYS;
    CU_ASSERT_FATAL(trial_run(&trial));
    const Issue all = all_issues(lowering, &trial);
    CU_ASSERT_FATAL(guarded >= 6);
    CU_ASSERT_EQUAL(all.threads, LANES * (all.instructions - 2 * (uint64_t) guarded));
    trial_close(&trial);
    lowering_free(lowering);
    free(built.cubin);
}

/* Lines of other PTX would be attributed wrongly. */
static void other_ptx_is_refused(void)
{
    Built built;

    if (!build(KERNEL(LOOP), 90, &built))
        return;
    CU_ASSERT_PTR_NULL(lower(&built, 90, KERNEL("mov.u32 %r8, 0;\n" LOOP)));
    free(built.cubin);
}

/* With sanitizers, this finds reads outside the file. */
static void damaged_cubins_do_no_harm(void)
{
    const char *ptx = KERNEL(LOOP);
    Built built;

    if (!build(ptx, 90, &built))
        return;
    for (size_t at = 0; at < built.size; at += 7) {
        const Built part = { built.cubin, at };
        const char was = built.cubin[at];
        lowering_free(lower(&part, 90, ptx));
        built.cubin[at] = (char) ~was;
        lowering_free(lower(&built, 90, ptx));
        built.cubin[at] = was;
    }
    free(built.cubin);
}

CU_SuiteInfo test_sim_lowering = {
    .pName = "sim_lowering",
    .pTests =
        (CU_TestInfo[]){
            { "unknowns are not negative", unknowns_are_not_negative },
            { "costs decide between equal fits", costs_decide_between_equal_fits },
            { "an unrolled loop is counted", an_unrolled_loop_is_counted },
            { "calls divide a loop", calls_divide_a_loop },
            { "corrections of quotients are rare", corrections_of_quotients_are_rare },
            { "other PTX is refused", other_ptx_is_refused },
            { "damaged cubins do no harm", damaged_cubins_do_no_harm },
            CU_TEST_INFO_NULL,
        },
};
