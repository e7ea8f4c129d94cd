/* half.c - arithmetic of f16 and bf16, single and in pairs.
 *
 * Values are computed as doubles, in which sums and products of halves are exact or harmlessly
 * rounded; fma is rounded to odd. The result is then rounded once. Plain add, sub, mul and fma have
 * their own handlers; forms with other mods are computed half by half.
 */
#include "sim/exec/ops/approximate.h"

/* ---- add, sub, mul, fma ---- */

INLINE double fma_exact(double a, double b, double c)
{
    return sum_to_odd(a * b, c);
}

/* Lower halves first, then upper halves, in loops that the compiler can still vectorise. */
#define HALF_PAIRS(name, pointers, one, ...)                                                       \
    INLINE void name##_lanes(Warp *warp, const Step *step, uint32_t mask)                          \
    {                                                                                              \
        uint32_t low[LANES], high[LANES];                                                          \
        Lane32 *d = plane(warp, step->d);                                                          \
        pointers;                                                                                  \
        for (int i = 0; i < LANES; i++)                                                            \
            low[i] = one(__VA_ARGS__, 0);                                                          \
        for (int i = 0; i < LANES; i++)                                                            \
            high[i] = one(__VA_ARGS__, 16);                                                        \
        LANE_LOOP(, low[i] | high[i] << 16)                                                        \
    }                                                                                              \
    COMPILE(name)
#define TWO                                                                                        \
    SOURCE(Lane32, a);                                                                             \
    SOURCE(Lane32, b)
#define THREE                                                                                      \
    TWO;                                                                                           \
    SOURCE(Lane32, c)

#define HALVES(format)                                                                             \
    INLINE double format##_at(uint32_t x, int shift)                                               \
    {                                                                                              \
        return format##_value(x >> shift & 0xffff);                                                \
    }                                                                                              \
    INLINE uint32_t format##_add(uint32_t a, uint32_t b, int at)                                   \
    {                                                                                              \
        return format##_nearest(format##_at(a, at) + format##_at(b, at));                          \
    }                                                                                              \
    INLINE uint32_t format##_sub(uint32_t a, uint32_t b, int at)                                   \
    {                                                                                              \
        return format##_nearest(format##_at(a, at) - format##_at(b, at));                          \
    }                                                                                              \
    INLINE uint32_t format##_mul(uint32_t a, uint32_t b, int at)                                   \
    {                                                                                              \
        return format##_nearest(format##_at(a, at) * format##_at(b, at));                          \
    }                                                                                              \
    INLINE uint32_t format##_fma(uint32_t a, uint32_t b, uint32_t c, int at)                       \
    {                                                                                              \
        return format##_nearest(                                                                   \
            fma_exact(format##_at(a, at), format##_at(b, at), format##_at(c, at)));                \
    }                                                                                              \
    HANDLER2(add_##format, Lane32, Lane32, Lane32, format##_add(a, b, 0))                          \
    HANDLER2(sub_##format, Lane32, Lane32, Lane32, format##_sub(a, b, 0))                          \
    HANDLER2(mul_##format, Lane32, Lane32, Lane32, format##_mul(a, b, 0))                          \
    HANDLER3(fma_##format, Lane32, Lane32, Lane32, Lane32, format##_fma(a, b, c, 0))               \
    HALF_PAIRS(add_##format##x2, TWO, format##_add, a_plane[i], b_plane[i])                        \
    HALF_PAIRS(sub_##format##x2, TWO, format##_sub, a_plane[i], b_plane[i])                        \
    HALF_PAIRS(mul_##format##x2, TWO, format##_mul, a_plane[i], b_plane[i])                        \
    HALF_PAIRS(fma_##format##x2, THREE, format##_fma, a_plane[i], b_plane[i], c_plane[i])
HALVES(f16)
HALVES(bf16)

#define HALF_ROWS(type, format)                                                                    \
    { OP_add, T(type), 0, 0, RUN(add_##format) }, { OP_sub, T(type), 0, 0, RUN(sub_##format) },    \
        { OP_mul, T(type), 0, 0, RUN(mul_##format) },                                              \
        { OP_fma, T(type), 0, 0, RUN(fma_##format) },

static const Row rows[] = {
    /* clang-format off */
    HALF_ROWS(F16, f16)
    HALF_ROWS(BF16, bf16)
    HALF_ROWS(F16X2, f16x2)
    HALF_ROWS(BF16X2, bf16x2)
    /* clang-format on */
};

/* ---- All other forms: half by half ---- */

typedef struct Half {
    Op op;
    ModSet mods;
    bool bf16;
} Half;

static uint32_t flush_half(const Half *half, uint32_t x)
{
    return half->mods & M(ftz) && !(x & (half->bf16 ? 0x7f80 : 0x7c00)) ? x & 0x8000 : x;
}

static double value_of(const Half *half, uint32_t x)
{
    return half->bf16 ? bf16_value(x) : f16_value(x);
}

static uint32_t half_of(const Half *half, double x)
{
    if ((half->mods & M(sat)) && !(x > 0))
        x = 0;
    if ((half->mods & M(sat)) && x > 1)
        x = 1;
    if ((half->mods & M(relu)) && !(x > 0) && x == x)
        x = 0;
    return flush_half(half, half->bf16 ? bf16_nearest(x) : f16_nearest(x));
}

static uint32_t extreme(const Half *half, uint32_t a, uint32_t b)
{
    double x = value_of(half, a), y = value_of(half, b);
    uint32_t sign = half->mods & M(xorsign) ? (a ^ b) & 0x8000 : 0;
    bool greater = half->op == OP_max;

    if (x != x || y != y)
        return half->mods & M(NaN) || (x != x && y != y) ? NAN_F16
               : half->mods & M(xorsign)                 ? ((x != x ? b : a) & 0x7fff) | sign
                                                         : (x != x ? b : a);
    if (half->mods & M(xorsign)) {
        x = fabs(x);
        y = fabs(y);
        a &= 0x7fff;
        b &= 0x7fff;
    }
    return (x == y ? greater ? a & b : a | b : (x > y) == greater ? a : b) | sign;
}

static uint32_t one_half(const Half *half, uint32_t a, uint32_t b, uint32_t c)
{
    a = flush_half(half, a);
    b = flush_half(half, b);
    c = flush_half(half, c);
    switch (half->op) {
    case OP_add:
        return half_of(half, value_of(half, a) + value_of(half, b));
    case OP_sub:
        return half_of(half, value_of(half, a) - value_of(half, b));
    case OP_mul:
        return half_of(half, value_of(half, a) * value_of(half, b));
    case OP_fma:
        return half_of(half, fma_exact(value_of(half, a), value_of(half, b), value_of(half, c)));
    case OP_ex2:
        return half_of(half, exp2_of(value_of(half, a)));
    case OP_tanh:
        return half_of(half, tanh_of(value_of(half, a)));
    case OP_neg:
        return a ^ 0x8000;
    case OP_abs:
        return a & 0x7fff;
    default:
        return extreme(half, a, b);
    }
}

/* The operations, with their number of sources and their mods. */
static const struct {
    Op op;
    int sources;
    ModSet mods;
} halves[] = {
    { OP_add, 2, M(ftz) | M(sat) },
    { OP_sub, 2, M(ftz) | M(sat) },
    { OP_mul, 2, M(ftz) | M(sat) },
    { OP_fma, 3, M(ftz) | M(sat) | M(relu) },
    { OP_neg, 1, M(ftz) },
    { OP_abs, 1, M(ftz) },
    { OP_min, 2, M(ftz) | M(NaN) | M(xorsign) | M(other) },
    { OP_max, 2, M(ftz) | M(NaN) | M(xorsign) | M(other) },
    { OP_ex2, 1, M(approx) | M(ftz) },
    { OP_tanh, 1, M(approx) },
};

static int sources_of(Op op)
{
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (halves[i].op == op)
            return halves[i].sources;
    return 0;
}

static void careful_half(Warp *warp, const Step *step, uint32_t mask)
{
    bool bf16 = step->type == TYPE_BF16 || step->type == TYPE_BF16X2;
    bool two = step->type == TYPE_F16X2 || step->type == TYPE_BF16X2;
    Half half = { step->in->op, mods_of(step->in), bf16 };
    int sources = sources_of(half.op);
    Lane32 *d = plane(warp, step->d);
    const Lane32 *a = plane(warp, step->a), *b = sources > 1 ? plane(warp, step->b) : a,
                 *c = sources > 2 ? plane(warp, step->c) : a;

    FOR_LANES (i, mask) {
        uint32_t low = one_half(&half, a[i] & 0xffff, b[i] & 0xffff, c[i] & 0xffff);
        uint32_t high = two ? one_half(&half, a[i] >> 16, b[i] >> 16, c[i] >> 16) : 0;
        d[i] = low | high << 16;
    }
}

static bool bind_careful_half(Step *step, const Instruction *in)
{
    const uint32_t types = T(F16) | T(BF16) | T(F16X2) | T(BF16X2);

    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        if (halves[i].op != in->op || !(types >> in->types[0] & 1) || in->type_count != 1 ||
            mods_of(in) & ~(halves[i].mods | M(rn)))
            continue;
        if ((mods_of(in) & M(other)) && !(mods_of(in) & M(xorsign)))
            continue;
        fill_step(step, in);
        step->run = careful_half;
        return true;
    }
    return false;
}

bool bind_half(Step *step, const Instruction *in)
{
    return BIND(step, in, rows, M(rn)) || bind_careful_half(step, in);
}
