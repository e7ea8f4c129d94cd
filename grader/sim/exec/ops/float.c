/* float.c - add, sub, mul, fma, div, sqrt, min, max ... of f32 and f64.
 *
 * Rounding to nearest has its own handlers, which the compiler can vectorise. Other directions,
 * .sat and other rare forms go lane by lane through careful_f32 and careful_f64, which set the
 * processor's rounding direction around the loop. Inside it, operands and results pass through
 * volatile objects, so that the compiler cannot move the operation out.
 */
#include "sim/exec/ops/long_way.h"
#include "sim/exec/ops/rounding.h"

#include <fenv.h>

/* ---- Rounding to nearest ---- */

/* Uses the processor's FMA if it has one. Otherwise the product is exact as a double, and the sum
 * is rounded to odd. */
INLINE float fma_plain(float a, float b, float c)
{
    return (float) sum_to_odd((double) a * b, c);
}

#define NEAREST_F32(suffix, in, out)                                                               \
    HANDLER2(add_f32##suffix, Lane32, LaneF32, LaneF32, result_f32(out(in(a) + in(b))))            \
    HANDLER2(sub_f32##suffix, Lane32, LaneF32, LaneF32, result_f32(out(in(a) -in(b))))             \
    HANDLER2(mul_f32##suffix, Lane32, LaneF32, LaneF32, result_f32(out(in(a) *in(b))))             \
    HANDLER(div_f32##suffix, Lane32, SOURCE(LaneF32, a); SOURCE(LaneF32, b);                       \
            LONG_WAY(quotients_f32, plane(warp, step->a), plane(warp, step->b)), LOAD(LaneF32, a); \
            LOAD(LaneF32, b), result_f32(out(in(a) / in(b))))                                      \
    HANDLER(rcp_f32##suffix, Lane32, SOURCE(LaneF32, a);                                           \
            LONG_WAY(reciprocals_f32, plane(warp, step->a)), LOAD(LaneF32, a),                     \
            result_f32(out(1.0f / in(a))))                                                         \
    HANDLER(sqrt_f32##suffix, Lane32, SOURCE(LaneF32, a);                                          \
            LONG_WAY(roots_f32, plane(warp, step->a)), LOAD(LaneF32, a),                           \
            result_f32(out(sqrtf(in(a)))))                                                         \
    HANDLER3(fma_f32##suffix##_plain, Lane32, LaneF32, LaneF32, LaneF32,                           \
             result_f32(out(fma_plain(in(a), in(b), in(c)))))                                      \
    HANDLER3(fma_f32##suffix##_fused, Lane32, LaneF32, LaneF32, LaneF32,                           \
             result_f32(out(fmaf(in(a), in(b), in(c)))))                                           \
    HANDLER3(fms_f32##suffix##_plain, Lane32, LaneF32, LaneF32, LaneF32,                           \
             result_f32(out(fma_plain(in(a), in(b), -in(c)))))                                     \
    HANDLER3(fms_f32##suffix##_fused, Lane32, LaneF32, LaneF32, LaneF32,                           \
             result_f32(out(fmaf(in(a), in(b), -in(c)))))                                          \
    HANDLER3(fnma_f32##suffix##_plain, Lane32, LaneF32, LaneF32, LaneF32,                          \
             result_f32(out(fma_plain(-in(a), in(b), in(c)))))                                     \
    HANDLER3(fnma_f32##suffix##_fused, Lane32, LaneF32, LaneF32, LaneF32,                          \
             result_f32(out(fmaf(-in(a), in(b), in(c)))))                                          \
    HANDLER1(abs_f32##suffix, Lane32, LaneF32, bits_f32(in(a)) & 0x7fffffffu)                      \
    HANDLER1(neg_f32##suffix, Lane32, LaneF32, bits_f32(in(a)) ^ 0x80000000u)
NEAREST_F32(, same, same)
NEAREST_F32(_ftz, flush, flush)

HANDLER2(add_f64, Lane64, LaneF64, LaneF64, result_f64(a + b, a, b, 0))
HANDLER2(sub_f64, Lane64, LaneF64, LaneF64, result_f64(a - b, a, b, 0))
HANDLER2(mul_f64, Lane64, LaneF64, LaneF64, result_f64(a *b, a, b, 0))
HANDLER(div_f64, Lane64, SOURCE(LaneF64, a); SOURCE(LaneF64, b);
        LONG_WAY(quotients_f64, plane(warp, step->a)), LOAD(LaneF64, a);
        LOAD(LaneF64, b), result_f64(a / b, a, b, 0))
HANDLER1(rcp_f64, Lane64, LaneF64, result_f64(1.0 / a, a, 0, 0))
HANDLER1(sqrt_f64, Lane64, LaneF64, result_f64(sqrt(a), a, 0, 0))
HANDLER3(fma_f64, Lane64, LaneF64, LaneF64, LaneF64, result_f64(fma(a, b, c), a, b, c))
HANDLER3(fms_f64, Lane64, LaneF64, LaneF64, LaneF64, result_f64(fma(a, b, -c), a, b, c))
HANDLER3(fnma_f64, Lane64, LaneF64, LaneF64, LaneF64, result_f64(fma(-a, b, c), a, b, c))
HANDLER1(abs_f64, Lane64, Lane64, a & 0x7fffffffffffffffull)
HANDLER1(neg_f64, Lane64, Lane64, a ^ 0x8000000000000000ull)
HANDLER2(copysign_f32, Lane32, Lane32, Lane32, (a & 0x80000000u) | (b & 0x7fffffffu))
HANDLER2(copysign_f64, Lane64, Lane64, Lane64,
         (a & 0x8000000000000000ull) | (b & 0x7fffffffffffffffull))

/* ---- min and max: -0 is less than +0; a NaN operand is ignored, or with .NaN is the result ----
 */

INLINE float lesser(float a, float b)
{
    return a < b ? a : b < a ? b : f32_bits(bits_f32(a) | bits_f32(b)); /* zeros: -0 if either is */
}

INLINE float greater(float a, float b)
{
    return a > b ? a : b > a ? b : f32_bits(bits_f32(a) & bits_f32(b));
}

INLINE uint32_t extreme_f32(float chosen, float a, float b)
{
    return a != a ? result_f32(b) : b != b ? result_f32(a) : bits_f32(chosen);
}

INLINE uint32_t extreme_nan_f32(float chosen, float a, float b)
{
    return a != a || b != b ? NAN_F32 : bits_f32(chosen);
}

INLINE double lesser_f64(double a, double b)
{
    return a < b ? a : b < a ? b : f64_bits(bits_f64(a) | bits_f64(b));
}

INLINE double greater_f64(double a, double b)
{
    return a > b ? a : b > a ? b : f64_bits(bits_f64(a) & bits_f64(b));
}

INLINE uint64_t extreme_f64(double chosen, double a, double b)
{
    return a != a ? (b != b ? quiet_f64(a) : bits_f64(b)) : bits_f64(b != b ? a : chosen);
}

#define EXTREMES(suffix, in)                                                                       \
    HANDLER2(min_f32##suffix, Lane32, LaneF32, LaneF32,                                            \
             extreme_f32(lesser(in(a), in(b)), in(a), in(b)))                                      \
    HANDLER2(max_f32##suffix, Lane32, LaneF32, LaneF32,                                            \
             extreme_f32(greater(in(a), in(b)), in(a), in(b)))                                     \
    HANDLER2(min_nan_f32##suffix, Lane32, LaneF32, LaneF32,                                        \
             extreme_nan_f32(lesser(in(a), in(b)), in(a), in(b)))                                  \
    HANDLER2(max_nan_f32##suffix, Lane32, LaneF32, LaneF32,                                        \
             extreme_nan_f32(greater(in(a), in(b)), in(a), in(b)))
EXTREMES(, same)
EXTREMES(_ftz, flush)
HANDLER2(min_f64, Lane64, LaneF64, LaneF64, extreme_f64(lesser_f64(a, b), a, b))
HANDLER2(max_f64, Lane64, LaneF64, LaneF64, extreme_f64(greater_f64(a, b), a, b))

/* .xorsign.abs: min or max of the magnitudes, with the sign of the product. */
static void extreme_xorsign(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    const LaneF32 *a_plane = plane(warp, step->a), *b_plane = plane(warp, step->b);
    bool nan_wins = has_mod(step->in, MOD_NaN);

    FOR_LANES (i, mask) {
        float a = step->ftz ? flush(a_plane[i]) : a_plane[i];
        float b = step->ftz ? flush(b_plane[i]) : b_plane[i];
        uint32_t sign = (bits_f32(a) ^ bits_f32(b)) & 0x80000000u;
        a = fabsf(a);
        b = fabsf(b);
        float chosen = step->in->op == OP_min ? lesser(a, b) : greater(a, b);
        uint32_t bits = nan_wins ? extreme_nan_f32(chosen, a, b) : extreme_f32(chosen, a, b);
        d[i] = bits == NAN_F32 ? bits : bits | sign;
    }
}

/* ---- Other rounding directions ---- */

static int direction(uint8_t rounding)
{
    return rounding == MOD_rz   ? FE_TOWARDZERO
           : rounding == MOD_rm ? FE_DOWNWARD
           : rounding == MOD_rp ? FE_UPWARD
                                : FE_TONEAREST;
}

#define OPERATE(type, fma_, sqrt_)                                                                 \
    static type operate_##type(Op op, type a, type b, type c)                                      \
    {                                                                                              \
        switch (op) {                                                                              \
        case OP_add:                                                                               \
            return a + b;                                                                          \
        case OP_sub:                                                                               \
            return a - b;                                                                          \
        case OP_mul:                                                                               \
            return a * b;                                                                          \
        case OP_div:                                                                               \
            return a / b;                                                                          \
        case OP_rcp:                                                                               \
            return 1 / a;                                                                          \
        case OP_sqrt:                                                                              \
            return sqrt_(a);                                                                       \
        default:                                                                                   \
            return fma_(a, b, c);                                                                  \
        }                                                                                          \
    }
OPERATE(float, fmaf, sqrtf)
OPERATE(double, fma, sqrt)

static int sources_of(Op op)
{
    return op == OP_rcp || op == OP_sqrt ? 1 : op == OP_fma || op == OP_mad ? 3 : 2;
}

static void careful_f32(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    int count = sources_of(step->in->op), before = fegetround();
    const LaneF32 *source[3] = { plane(warp, step->a) };

    source[1] = count > 1 ? plane(warp, step->b) : source[0];
    source[2] = count > 2 ? plane(warp, step->c) : source[0];
    fesetround(direction(step->rounding));
    FOR_LANES (i, mask) {
        volatile float x[3], result;
        for (int n = 0; n < 3; n++)
            x[n] = step->ftz ? flush(source[n][i]) : source[n][i];
        result = operate_float(step->in->op, x[0], x[1], x[2]);
        float value = step->ftz ? flush(result) : result;
        d[i] = step->sat ? saturate_f32(value) : result_f32(value);
    }
    fesetround(before);
}

static void careful_f64(Warp *warp, const Step *step, uint32_t mask)
{
    Lane64 *d = plane(warp, step->d);
    int count = sources_of(step->in->op), before = fegetround();
    const LaneF64 *source[3] = { plane(warp, step->a) };

    source[1] = count > 1 ? plane(warp, step->b) : source[0];
    source[2] = count > 2 ? plane(warp, step->c) : source[0];
    fesetround(direction(step->rounding));
    FOR_LANES (i, mask) {
        volatile double x[3], result;
        for (int n = 0; n < 3; n++)
            x[n] = source[n][i];
        result = operate_double(step->in->op, x[0], x[1], x[2]);
        d[i] = result_f64(result, x[0], x[1], x[2]);
    }
    fesetround(before);
}

/* ---- Pairs of f32 in 64 bits ---- */

static void pair_f32(Warp *warp, const Step *step, uint32_t mask)
{
    LaneF32 *d = plane(warp, step->d);
    const LaneF32 *a = plane(warp, step->a), *b = plane(warp, step->b);
    const LaneF32 *c = step->in->count > 3 ? plane(warp, step->c) : a;
    const int before = fegetround();

    fesetround(direction(step->rounding));
    FOR_LANES (lane, mask)
        for (uint32_t i = 2 * lane; i < 2 * lane + 2; i++) {
            volatile float x[3] = { a[i], b[i], c[i] }, result;
            for (int n = 0; n < 3 && step->ftz; n++)
                x[n] = flush(x[n]);
            result = operate_float(step->in->op, x[0], x[1], x[2]);
            d[i] = f32_bits(result_f32(step->ftz ? flush(result) : result));
        }
    fesetround(before);
}

static bool bind_pair(Step *step, const Instruction *in)
{
    const bool known = in->op == OP_add || in->op == OP_sub || in->op == OP_mul || in->op == OP_fma;

    if (!known || in->types[0] != TYPE_F32X2 || in->type_count != 1 ||
        mods_of(in) & ~(M(rn) | M(rz) | M(rm) | M(rp) | M(ftz)))
        return false;
    fill_step(step, in);
    step->run = pair_f32;
    return true;
}

/* ---- .sat, and multiply-adds in other directions, vectorised ---- */

INLINE float sat01(float x)
{
    return !(x > 0) ? 0 : x > 1 ? 1 : x;
}

INLINE float flushed_sat01(float x)
{
    return sat01(flush(x));
}

#define SAT_F32(suffix, in, out)                                                                   \
    HANDLER2(add_f32##suffix, Lane32, LaneF32, LaneF32, bits_f32(out(in(a) + in(b))))              \
    HANDLER2(sub_f32##suffix, Lane32, LaneF32, LaneF32, bits_f32(out(in(a) -in(b))))               \
    HANDLER2(mul_f32##suffix, Lane32, LaneF32, LaneF32, bits_f32(out(in(a) *in(b))))               \
    HANDLER3(fma_f32##suffix##_plain, Lane32, LaneF32, LaneF32, LaneF32,                           \
             bits_f32(out(fma_plain(in(a), in(b), in(c)))))                                        \
    HANDLER3(fma_f32##suffix##_fused, Lane32, LaneF32, LaneF32, LaneF32,                           \
             bits_f32(out(fmaf(in(a), in(b), in(c)))))
SAT_F32(_sat, same, sat01)
SAT_F32(_ftz_sat, flush, flushed_sat01)

/* The number before x: towards minus infinity. */
INLINE float before(float x)
{
    const uint32_t bits = bits_f32(x);

    return f32_bits(x > 0 ? bits - 1 : x < 0 ? bits + 1 : 0x80000001u);
}

/* Rounds a number down, given the double nearest to it, rounded to odd. An exact sum of 0 is -0,
 * unless both terms are +0. */
INLINE float rounded_down(double x, bool negative_zero)
{
    const float near = (float) x;

    return x == 0 ? (negative_zero ? -0.0f : 0.0f) : (double) near > x ? before(near) : near;
}

INLINE float fma_down(float a, float b, float c)
{
    const double product = (double) a * b, sum = sum_to_odd(product, c);
    const bool plus_zeros = (bits_f64(product) | bits_f32(c)) == 0;

    return rounded_down(sum, !plus_zeros);
}

INLINE float fma_up(float a, float b, float c)
{
    return -fma_down(-a, b, -c);
}

INLINE float fma_to_zero(float a, float b, float c)
{
    const double product = (double) a * b, sum = sum_to_odd(product, c);
    const float magnitude = rounded_down(fabs(sum), false);

    return f32_bits(bits_f32(magnitude) | (uint32_t) (bits_f64(sum) >> 32 & 0x80000000u));
}

#define DIRECTED_F32(suffix, in, out)                                                              \
    HANDLER3(fma_rm##suffix, Lane32, LaneF32, LaneF32, LaneF32,                                    \
             result_f32(out(fma_down(in(a), in(b), in(c)))))                                       \
    HANDLER3(fma_rp##suffix, Lane32, LaneF32, LaneF32, LaneF32,                                    \
             result_f32(out(fma_up(in(a), in(b), in(c)))))                                         \
    HANDLER3(fma_rz##suffix, Lane32, LaneF32, LaneF32, LaneF32,                                    \
             result_f32(out(fma_to_zero(in(a), in(b), in(c)))))
DIRECTED_F32(, same, same)
DIRECTED_F32(_ftz, flush, flush)

/* ---- The tables ---- */

/* By simd_level: only the plain form has no instruction for it. */
#define FUSED(name)                                                                                \
    {                                                                                              \
        name##_plain, name##_fused_avx2, name##_fused_avx512                                       \
    }

#define F32_ROWS(mods, suffix)                                                                     \
    { OP_add, T(F32), 0, mods, RUN(add_f32##suffix) },                                             \
        { OP_sub, T(F32), 0, mods, RUN(sub_f32##suffix) },                                         \
        { OP_mul, T(F32), 0, mods, RUN(mul_f32##suffix) },                                         \
        { OP_div, T(F32), 0, mods, RUN(div_f32##suffix) },                                         \
        { OP_div, T(F32), 0, (mods) | M(full), RUN(div_f32##suffix) },                             \
        { OP_rcp, T(F32), 0, mods, RUN(rcp_f32##suffix) },                                         \
        { OP_rcp, T(F32), 0, (mods) | M(approx), RUN(rcp_f32##suffix) },                           \
        { OP_sqrt, T(F32), 0, mods, RUN(sqrt_f32##suffix) },                                       \
        { OP_sqrt, T(F32), 0, (mods) | M(approx), RUN(sqrt_f32##suffix) },                         \
        { OP_fma, T(F32), 0, mods, FUSED(fma_f32##suffix) },                                       \
        { OP_mad, T(F32), 0, mods, FUSED(fma_f32##suffix) },                                       \
        { OP_abs, T(F32), 0, mods, RUN(abs_f32##suffix) },                                         \
        { OP_neg, T(F32), 0, mods, RUN(neg_f32##suffix) },                                         \
        { OP_min, T(F32), 0, mods, RUN(min_f32##suffix) },                                         \
        { OP_max, T(F32), 0, mods, RUN(max_f32##suffix) },                                         \
        { OP_min, T(F32), 0, (mods) | M(NaN), RUN(min_nan_f32##suffix) },                          \
        { OP_max, T(F32), 0, (mods) | M(NaN), RUN(max_nan_f32##suffix) },

#define SAT_ROWS(mods, suffix)                                                                     \
    { OP_add, T(F32), 0, mods, RUN(add_f32##suffix) },                                             \
        { OP_sub, T(F32), 0, mods, RUN(sub_f32##suffix) },                                         \
        { OP_mul, T(F32), 0, mods, RUN(mul_f32##suffix) },                                         \
        { OP_fma, T(F32), 0, mods, FUSED(fma_f32##suffix) },

#define DIRECTED_ROWS(mods, suffix)                                                                \
    { OP_fma, T(F32), 0, (mods) | M(rm), RUN(fma_rm##suffix) },                                    \
        { OP_fma, T(F32), 0, (mods) | M(rp), RUN(fma_rp##suffix) },                                \
        { OP_fma, T(F32), 0, (mods) | M(rz), RUN(fma_rz##suffix) },

static const Row rows[] = {
    /* clang-format off */
    F32_ROWS(0, )
    F32_ROWS(M(ftz), _ftz)
    SAT_ROWS(M(sat), _sat)
    SAT_ROWS(M(ftz) | M(sat), _ftz_sat)
    DIRECTED_ROWS(0, )
    DIRECTED_ROWS(M(ftz), _ftz)
    { OP_add, T(F64), 0, 0, RUN(add_f64) },
    { OP_sub, T(F64), 0, 0, RUN(sub_f64) },
    { OP_mul, T(F64), 0, 0, RUN(mul_f64) },
    { OP_div, T(F64), 0, 0, RUN(div_f64) },
    { OP_rcp, T(F64), 0, 0, RUN(rcp_f64) },
    { OP_sqrt, T(F64), 0, 0, RUN(sqrt_f64) },
    { OP_fma, T(F64), 0, 0, RUN(fma_f64) },
    { OP_mad, T(F64), 0, 0, RUN(fma_f64) },
    { OP_abs, T(F64), 0, 0, RUN(abs_f64) },
    { OP_neg, T(F64), 0, 0, RUN(neg_f64) },
    { OP_min, T(F64), 0, 0, RUN(min_f64) },
    { OP_max, T(F64), 0, 0, RUN(max_f64) },
    { OP_copysign, T(F32), 0, 0, RUN(copysign_f32) },
    { OP_copysign, T(F64), 0, 0, RUN(copysign_f64) },
    /* clang-format on */
};

/* Operations that take a rounding direction and .sat. */
static const struct {
    Op op;
    bool saturates;
} rounded[] = {
    { OP_add, true }, { OP_sub, true },  { OP_mul, true },  { OP_fma, true },
    { OP_mad, true }, { OP_div, false }, { OP_rcp, false }, { OP_sqrt, false },
};

static bool bind_careful(Step *step, const Instruction *in)
{
    ModSet mods = mods_of(in), directions = M(rn) | M(rz) | M(rm) | M(rp);
    bool f32 = in->types[0] == TYPE_F32;

    if ((!f32 && in->types[0] != TYPE_F64) || in->type_count != 1)
        return false;
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
        ModSet allowed =
            directions | (f32 ? M(ftz) : 0) | (f32 && rounded[i].saturates ? M(sat) : 0);
        if (rounded[i].op != in->op || mods & ~allowed)
            continue;
        fill_step(step, in);
        step->run = f32 ? careful_f32 : careful_f64;
        return true;
    }
    return false;
}

static bool bind_xorsign(Step *step, const Instruction *in)
{
    /* .abs always follows .xorsign and is not a separate Mod. */
    ModSet mods = mods_of(in), allowed = M(xorsign) | M(other) | M(ftz) | M(NaN);

    if ((in->op != OP_min && in->op != OP_max) || in->types[0] != TYPE_F32 ||
        !(mods & M(xorsign)) || mods & ~allowed)
        return false;
    fill_step(step, in);
    step->run = extreme_xorsign;
    return true;
}

bool bind_float(Step *step, const Instruction *in)
{
    if ((in->op == OP_min || in->op == OP_max) && in->count > 3)
        return false; /* three operands: newer GPUs only */
    return BIND(step, in, rows, M(rn)) || bind_careful(step, in) || bind_xorsign(step, in) ||
           bind_pair(step, in) || bind_approx(step, in) || bind_half(step, in);
}

/* ---- Additions that ptxas merges with a multiplication ---- */

void bind_fused(Step *sum, const Step *product)
{
    enum { PRODUCT_PLUS, PRODUCT_MINUS, MINUS_PRODUCT };
    static Run *const runs[3][3][SIMD_LEVELS] = {
        { FUSED(fma_f32), FUSED(fms_f32), FUSED(fnma_f32) },
        { FUSED(fma_f32_ftz), FUSED(fms_f32_ftz), FUSED(fnma_f32_ftz) },
        { RUN(fma_f64), RUN(fms_f64), RUN(fnma_f64) },
    };
    const int type = sum->in->types[0] == TYPE_F64 ? 2 : sum->ftz;
    const bool first = sum->a == product->d;
    const int kind = sum->in->op == OP_add ? PRODUCT_PLUS : first ? PRODUCT_MINUS : MINUS_PRODUCT;

    if (!first && sum->b != product->d)
        return;
    sum->c = first ? sum->b : sum->a;
    sum->a = product->a;
    sum->b = product->b;
    sum->run = runs[type][kind][simd_now()];
}
