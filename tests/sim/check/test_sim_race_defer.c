/* test_sim_race_defer.c - loads of shared memory that are recorded later. */
#include "sim/sim_launch.h"

/* Lane i of A reads word i, which it writes later; of B, word 32 + i / 2. The first round begins
 * with A, the second with B. */
static void deferred_loads_keep_their_own_patterns(void)
{
    Trial trial = { .ptx = KERNEL(".shared .align 4 .b8 s[256];\nmov.u32 %r10, s;\n"
                                  "shl.b32 %r11, %r1, 2;\nadd.s32 %r11, %r10, %r11;\n"
                                  "shr.u32 %r12, %r1, 1;\nshl.b32 %r12, %r12, 2;\n"
                                  "add.s32 %r12, %r10, %r12;\nst.shared.u32 [%r11], %r1;\n"
                                  "st.shared.u32 [%r11+128], %r1;\nmov.u32 %r20, 0;\n"
                                  "bar.sync 0;\n"
                                  "A: ld.shared.u32 %r13, [%r11];\nadd.s32 %r0, %r0, %r13;\n"
                                  "setp.eq.u32 %p1, %r20, 1;\n@%p1 bra DONE;\n"
                                  "B: ld.shared.u32 %r14, [%r12+128];\nadd.s32 %r0, %r0, %r14;\n"
                                  "setp.eq.u32 %p2, %r20, 1;\n@%p2 bra A;\nmov.u32 %r20, 1;\n"
                                  "bar.sync 0;\nbra B;\n"
                                  "DONE: st.shared.u32 [%r11], %r0;\n"),
                    .check_races = true };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    for (uint32_t i = 0; i < LANES; i++)
        CU_ASSERT_EQUAL(trial.out[i], 2 * i + 2 * (i / 2));
    CU_ASSERT_PTR_NULL(found(FINDING_RACE));
    show_findings("deferred loads");
    trial_close(&trial);
}

static CU_TestInfo tests[] = {
    { "deferred loads keep their own patterns", deferred_loads_keep_their_own_patterns },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_race_defer = { "test_sim_race_defer", NULL, NULL, NULL, NULL, tests };
