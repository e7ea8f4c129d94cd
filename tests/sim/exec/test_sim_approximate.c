/* test_sim_approximate.c - approximate operations: within the error bounds of PTX, and exact where
 * PTX requires it. */
#include "sim/sim_oracle.h"

/* ---- Approximations: the maximum error over a dense sample, and special values ---- */

typedef enum Measure { RELATIVE, ABSOLUTE, ULPS, LOG } Measure;

static long double rsqrt_of(long double x)
{
    return 1 / sqrtl(x);
}

static long double rcp_of(long double x)
{
    return 1 / x;
}

static const struct {
    const char *opcode;
    long double (*function)(long double x);
    double from, to; /* sampled in equal steps, or in equal ratios if from > 0 */
    Measure measure;
    double bound; /* from the PTX specification */
} approximations[] = {
    { "ex2.approx.f32", exp2l, -126, 128, RELATIVE, 0x1.6a09e6p-23 },
    { "ex2.approx.ftz.f32", exp2l, -126, 128, RELATIVE, 0x1.6a09e6p-23 },
    { "ex2.approx.f32", exp2l, -140, -126, ABSOLUTE, 0x1p-149 },
    { "lg2.approx.f32", log2l, 0.5, 2, ABSOLUTE, 0x1p-22 },
    { "lg2.approx.ftz.f32", log2l, 2, 3e38, RELATIVE, 0x1p-22 },
    { "lg2.approx.f32", log2l, 1e-45, 0.5, RELATIVE, 0x1p-22 },
    { "sin.approx.f32", sinl, -6.2831855, 6.2831855, ABSOLUTE, 0x1.6a09e6p-21 },
    { "cos.approx.ftz.f32", cosl, -6.2831855, 6.2831855, ABSOLUTE, 0x1.6a09e6p-21 },
    { "sin.approx.ftz.f32", sinl, -1e5, 1e5, ABSOLUTE, 0x1p-20 },
    { "cos.approx.f32", cosl, -1e5, 1e5, ABSOLUTE, 0x1p-20 },
    { "tanh.approx.f32", tanhl, -12, 12, RELATIVE, 0x1p-11 },
    { "tanh.approx.f32", tanhl, 1e-38, 1, RELATIVE, 0x1p-11 },
    { "rsqrt.approx.f32", rsqrt_of, 1.2e-38, 3e38, RELATIVE, 0x1.125p-23 },
    { "rsqrt.approx.ftz.f32", rsqrt_of, 1.2e-38, 3e38, RELATIVE, 0x1.125p-23 },
    { "sqrt.approx.f32", sqrtl, 1.2e-38, 3e38, RELATIVE, 0x1p-23 },
    { "sqrt.approx.ftz.f32", sqrtl, 1.2e-38, 3e38, RELATIVE, 0x1p-23 },
    { "rcp.approx.f32", rcp_of, 1.2e-38, 8e37, ULPS, 1 },
    { "rcp.approx.ftz.f32", rcp_of, 1.2e-38, 8e37, ULPS, 1 },
};

static double error_of(Measure measure, float got, long double want)
{
    long double off = fabsl(got - want);

    if (measure == ULPS)
        off /= ldexpl(1, ilogbl(want) - 23);
    return (double) (measure == RELATIVE ? off / fabsl(want) : off);
}

static double greatest_error(size_t row, int samples)
{
    static Rig rig[2];
    double worst = 0, from = approximations[row].from, to = approximations[row].to;

    for (int level = 0; level < 2; level++) {
        simd_level = level ? cpu_simd_level() : SIMD_PLAIN;
        CU_ASSERT_FATAL(rig_open(&rig[level], approximations[row].opcode, 2) &&
                        rig_bind(&rig[level]));
    }
    rig_note(&rig[0]);
    for (int n = 0; n < samples; n += LANES) {
        uint64_t x[LANES];
        for (int i = 0; i < LANES; i++) {
            double t = (double) (n + i) / samples;
            x[i] = bits_f32((float) (from > 0 ? from * pow(to / from, t) : from + (to - from) * t));
        }
        for (int level = 0; level < 2; level++) {
            rig_put(&rig[level], 1, x);
            rig[level].step.run(&rig[level].warp, &rig[level].step, ALL_LANES);
        }
        for (int i = 0; i < LANES; i++) {
            uint64_t got = rig_get(&rig[0], 0, i);
            CU_ASSERT(got == rig_get(&rig[1], 0, i));
            double error = error_of(approximations[row].measure, float_at(got),
                                    approximations[row].function(float_at(x[i])));
            worst = error > worst ? error : worst;
        }
    }
    simd_level = -1;
    return worst;
}

static void approximations_keep_their_bounds(void)
{
    for (size_t i = 0; i < COUNT(approximations); i++) {
        double worst = greatest_error(i, 1 << 17);
        CU_ASSERT(worst <= approximations[i].bound);
        if (getenv("SIM_RIG_VERBOSE") || worst > approximations[i].bound)
            printf("\n    %-22s %10.3g .. %-10.3g error %.3g of %.3g", approximations[i].opcode,
                   approximations[i].from, approximations[i].to, worst, approximations[i].bound);
    }
}

static const struct {
    const char *opcode;
    uint32_t x, y;
} specials[] = {
    { "ex2.approx.f32", 0xff800000, 0 },
    { "ex2.approx.f32", 0x80000001, 0x3f800000 },
    { "ex2.approx.f32", 0x7f800000, 0x7f800000 },
    { "ex2.approx.f32", 0x7fc00001, 0x7fffffff },
    { "ex2.approx.f32", 0xc3080000, 0x00002000 }, /* 2^-136: subnormal, 0 with .ftz */
    { "ex2.approx.ftz.f32", 0xc3080000, 0 },
    { "lg2.approx.f32", 0, 0xff800000 },
    { "lg2.approx.f32", 0x80000000, 0xff800000 },
    { "lg2.approx.f32", 0x00000001, 0xc3150000 }, /* -149 */
    { "lg2.approx.ftz.f32", 0x00000001, 0xff800000 },
    { "lg2.approx.f32", 0xbf800000, 0x7fffffff },
    { "lg2.approx.f32", 0x7f800000, 0x7f800000 },
    { "lg2.approx.f32", 0x3f800000, 0 },
    { "lg2.approx.f32", 0x7fc00000, 0x7fffffff },
    { "sin.approx.f32", 0x80000000, 0x80000000 },
    { "sin.approx.f32", 0x00000001, 0x00000001 },
    { "sin.approx.ftz.f32", 0x80000001, 0x80000000 },
    { "sin.approx.f32", 0x7f800000, 0x7fffffff },
    { "sin.approx.f32", 0xff800000, 0x7fffffff },
    { "sin.approx.f32", 0x7fc00000, 0x7fffffff },
    { "cos.approx.f32", 0x80000000, 0x3f800000 },
    { "cos.approx.f32", 0xff800000, 0x7fffffff },
    { "tanh.approx.f32", 0x80000000, 0x80000000 },
    { "tanh.approx.f32", 0x00000001, 0x00000001 },
    { "tanh.approx.f32", 0x7f800000, 0x3f800000 },
    { "tanh.approx.f32", 0xff800000, 0xbf800000 },
    { "tanh.approx.f32", 0x7fc00000, 0x7fffffff },
    { "rsqrt.approx.f32", 0, 0x7f800000 },
    { "rsqrt.approx.f32", 0x80000000, 0xff800000 },
    { "rsqrt.approx.ftz.f32", 0x80000001, 0xff800000 },
    { "rsqrt.approx.f32", 0x7f800000, 0 },
    { "rsqrt.approx.f32", 0xbf800000, 0x7fffffff },
    { "sqrt.approx.f32", 0x80000000, 0x80000000 },
    { "sqrt.approx.f32", 0xbf800000, 0x7fffffff },
    { "rcp.approx.f32", 0x80000000, 0xff800000 },
    { "rcp.approx.ftz.f32", 0x00000001, 0x7f800000 },
    { "rcp.approx.f32", 0xff800000, 0x80000000 },
    { "rcp.approx.ftz.f32", 0x7f000000, 0 }, /* 2^-127 */
    { "tanh.approx.f16", 0x7c00, 0x3c00 },
    { "tanh.approx.f16x2", 0xfc003c00, 0xbc003a18 },
    { "ex2.approx.f16", 0x4000, 0x4400 },
    { "ex2.approx.f16x2", 0xfc004c00, 0x00007c00 },
    { "tanh.approx.bf16", 0x7f80, 0x3f80 },
    { "ex2.approx.ftz.bf16", 0x4000, 0x4080 },
    { "ex2.approx.ftz.bf16x2", 0xff804000, 0x00004080 },
};

static void special_values_of_approximations(void)
{
    for (size_t i = 0; i < COUNT(specials); i++) {
        static Rig rig;
        uint64_t x[LANES];
        for (int n = 0; n < LANES; n++)
            x[n] = specials[i].x;
        CU_ASSERT_FATAL(rig_open(&rig, specials[i].opcode, 2) && rig_bind(&rig));
        rig_note(&rig);
        rig_put(&rig, 1, x);
        rig.step.run(&rig.warp, &rig.step, 0x11);
        CU_ASSERT_EQUAL(rig_get(&rig, 0, 4), specials[i].y);
        if (rig_get(&rig, 0, 4) != specials[i].y)
            rig_tell(&rig, (uint64_t[]){ specials[i].x, 0, 0, 0 }, rig_get(&rig, 0, 4),
                     specials[i].y);
    }
}

CU_SuiteInfo test_sim_approximate = {
    "sim_approximate",
    .pTests =
        (CU_TestInfo[]){
            { "approximations stay within their bounds", approximations_keep_their_bounds },
            { "special values of approximations", special_values_of_approximations },
            { "ptxas accepts what was tried", rig_ptxas },
            CU_TEST_INFO_NULL,
        },
};
