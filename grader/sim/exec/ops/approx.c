/* approx.c - the operations of the special function unit: ex2, lg2, sin, cos, tanh, rsqrt, and the
 * approximate forms of div and, for f64, of rcp. rcp.approx and sqrt.approx of f32 use the exact
 * operations.
 */
#include "sim/exec/ops/approximate.h"
#include "sim/exec/ops/long_way.h"

/* ---- f32 ---- */

/* As PTX defines it, quotients by more than 2^126 are zero (0 * a: NaN if a is infinite). */
INLINE float divide(float a, float b)
{
    return fabsf(b) > 0x1p126f ? a * copysignf(0, b) : a / b;
}

#define APPROXIMATIONS(suffix, in, out)                                                            \
    HANDLER1(lg2_f32##suffix, Lane32, LaneF32, result_f32((float) log2_of(in(a))))                 \
    HANDLER1(sin_f32##suffix, Lane32, LaneF32, result_f32(out((float) sin_of(in(a)))))             \
    HANDLER1(cos_f32##suffix, Lane32, LaneF32, result_f32((float) cos_of(in(a))))                  \
    HANDLER1(rsqrt_f32##suffix, Lane32, LaneF32, result_f32((float) (1 / sqrt((double) in(a)))))   \
    HANDLER2(div_f32##suffix, Lane32, LaneF32, LaneF32, result_f32(out(divide(in(a), in(b)))))
APPROXIMATIONS(, same, same)
APPROXIMATIONS(_ftz, flush, flush)
HANDLER(ex2_f32, Lane32, SOURCE(LaneF32, a); SCALED(small_powers_f32, plane(warp, step->a)),
                                             LOAD(LaneF32, a), result_f32((float) exp2_of(a)))
HANDLER1(ex2_f32_ftz, Lane32, LaneF32, result_f32(flush((float) exp2_of(flush(a)))))
HANDLER1(tanh_f32, Lane32, LaneF32, result_f32((float) tanh_of(a)))

/* ---- f64: rcp and rsqrt read and return only the upper 32 bits; subnormals are zeros ---- */

INLINE uint64_t upper_flushed(uint64_t bits)
{
    bits &= 0xffffffff00000000ull;
    return bits & 0x7ff0000000000000ull ? bits : bits & 0x8000000000000000ull;
}

INLINE uint64_t upper_result(double x, double a)
{
    return upper_flushed(result_f64(x, a, 0, 0));
}

HANDLER1(rcp_upper, Lane64, Lane64,
         upper_result(1 / f64_bits(upper_flushed(a)), f64_bits(upper_flushed(a))))
HANDLER1(rsqrt_upper, Lane64, Lane64,
         upper_result(1 / sqrt(f64_bits(upper_flushed(a))), f64_bits(upper_flushed(a))))
HANDLER1(rsqrt_f64, Lane64, LaneF64, result_f64(1 / sqrt(a), a, 0, 0))

/* ---- The table ---- */

#define APPROX_ROWS(mods, suffix)                                                                  \
    { OP_ex2, T(F32), 0, mods, RUN(ex2_f32##suffix) },                                             \
        { OP_lg2, T(F32), 0, mods, RUN(lg2_f32##suffix) },                                         \
        { OP_sin, T(F32), 0, mods, RUN(sin_f32##suffix) },                                         \
        { OP_cos, T(F32), 0, mods, RUN(cos_f32##suffix) },                                         \
        { OP_rsqrt, T(F32), 0, mods, RUN(rsqrt_f32##suffix) },                                     \
        { OP_div, T(F32), 0, mods, RUN(div_f32##suffix) },

static const Row rows[] = {
    /* clang-format off */
    APPROX_ROWS(M(approx), )
    APPROX_ROWS(M(approx) | M(ftz), _ftz)
    { OP_tanh, T(F32), 0, M(approx), RUN(tanh_f32) },
    { OP_rcp, T(F64), 0, M(approx) | M(ftz), RUN(rcp_upper) },
    { OP_rsqrt, T(F64), 0, M(approx) | M(ftz), RUN(rsqrt_upper) },
    { OP_rsqrt, T(F64), 0, M(approx), RUN(rsqrt_f64) },
    /* clang-format on */
};

bool bind_approx(Step *step, const Instruction *in)
{
    return BIND(step, in, rows, 0);
}
