/* test_sim_same.c - a kernel's results do not depend on its environment: neither on the program's
 * rounding mode and treatment of subnormal numbers, nor on the processor's vector instructions. */
#include "sim/exec/ops/handlers.h"
#include "sim/sim_launch.h"

#include <fenv.h>
#include <xmmintrin.h>

enum { FLUSH_TO_ZERO = 0x8000, SUBNORMALS_ARE_ZEROS = 0x0040 };

/* Each thread's number through a subnormal, a quotient, a root, a double and a division. */
static const char numbers[] =
    KERNEL("cvt.rn.f32.u32 %f1, %r1;\n"
           "mul.rn.f32 %f2, %f1, 0f00000123;\n" /* subnormal */
           "add.rn.f32 %f3, %f1, 0f33800000;\n" /* half a unit in the last place of 1 */
           "div.rn.f32 %f4, %f3, 0f40400000;\n"
           "sqrt.rn.f32 %f5, %f4;\n"
           "fma.rn.f32 %f5, %f5, %f4, 0f3eaaaaab;\n"
           "cvt.f64.f32 %fd1, %f5;\n"
           "div.rn.f64 %fd2, %fd1, 0d4008000000000000;\n"
           "cvt.rn.f32.f64 %f6, %fd2;\n"
           "mov.b32 %r7, %f2;\n"
           "mov.b32 %r8, %f6;\n"
           "add.s32 %r9, %r1, 3;\n"
           "rem.u32 %r10, %r8, %r9;\n"
           "div.s32 %r11, %r7, %r9;\n"
           "xor.b32 %r0, %r7, %r8;\n"
           "mad.lo.s32 %r0, %r0, 31, %r10;\n"
           "mad.lo.s32 %r0, %r0, 31, %r11;\n");

/* First half of the warp executes it, then all lanes. */
static const char halves[] = KERNEL("cvt.rn.f32.u32 %f1, %r1;\n"
                                    "setp.lt.u32 %p1, %r2, 16;\n"
                                    "@%p1 bra SKIP;\n"
                                    "div.rn.f32 %f1, %f1, 0f40400000;\n"
                                    "SKIP:\n"
                                    "fma.rn.f32 %f2, %f1, %f1, 0f3eaaaaab;\n"
                                    "mov.b32 %r0, %f2;\n");

static void run(const char *ptx, uint32_t *out)
{
    Trial trial = { .ptx = ptx, .threads = 96, .blocks = 3 };

    CU_ASSERT_FATAL(trial_run(&trial));
    CU_ASSERT(trial.well);
    memcpy(out, trial.out, OUT_WORDS * sizeof *out);
    trial_close(&trial);
}

static uint32_t expected[OUT_WORDS], got[OUT_WORDS];

static void test_programs_own_rounding(void)
{
    static const int directions[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

    run(numbers, expected);
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
        fesetround(directions[i]);
        _mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO | SUBNORMALS_ARE_ZEROS);
        run(numbers, got);
        bool kept = fegetround() == directions[i] && _mm_getcsr() & FLUSH_TO_ZERO &&
                    _mm_getcsr() & SUBNORMALS_ARE_ZEROS;
        fesetenv(FE_DFL_ENV);
        CU_ASSERT(kept);
        CU_ASSERT(!memcmp(got, expected, sizeof got));
    }
    CU_ASSERT(expected[1] != 0 && expected[1] != expected[2]);
}

static void test_with_vectors_and_without(void)
{
    static const char *const kernels[] = { numbers, halves };

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        simd_level = 0;
        run(kernels[i], expected);
        simd_level = -1;
        run(kernels[i], got);
        CU_ASSERT(!memcmp(got, expected, sizeof got));
    }
}

static CU_TestInfo tests[] = {
    { "The program's rounding mode does not affect kernels", test_programs_own_rounding },
    { "The same with and without vector instructions", test_with_vectors_and_without },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_same = { .pName = "sim_same", .pTests = tests };
