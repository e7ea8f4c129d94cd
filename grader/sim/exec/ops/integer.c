/* integer.c - integer arithmetic: add, mul, mad, div, min, dp4a ...; and the binding of tables.
 *
 * Arithmetic uses unsigned numbers, which may wrap; signed numbers are used only to compare, divide
 * and extend.
 */
#include "sim/exec/ops/handlers.h"

#include <stdlib.h>

int simd_level = -1;

const uint32_t lane_bit[LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* ---- Binding ---- */

int cpu_simd_level(void)
{
#if defined __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return SIMD_PLAIN;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
               ? SIMD_AVX512
               : SIMD_AVX2;
#else
    return SIMD_PLAIN;
#endif
}

ModSet mods_of(const Instruction *in)
{
    ModSet mods = 0;

    for (int i = 0; i < in->mod_count && i < INSTRUCTION_MODS; i++)
        mods |= in->mods[i] < MOD_load ? (ModSet) 1 << in->mods[i] : M(other);
    return mods;
}

static uint8_t first_of(ModSet mods, int from, int to)
{
    for (int mod = from; mod <= to; mod++)
        if (mods >> mod & 1)
            return (uint8_t) mod;
    return 0;
}

void fill_step(Step *step, const Instruction *in)
{
    ModSet mods = mods_of(in);

    step->type = (uint8_t) in->types[0];
    step->type2 = in->type_count > 1 ? (uint8_t) in->types[1] : TYPE_NONE;
    step->rounding =
        mods & (M(rn) | M(rz) | M(rm) | M(rp) | M(rna) | M(rni) | M(rzi) | M(rmi) | M(rpi))
            ? first_of(mods, MOD_rn, MOD_rpi)
            : 0;
    step->ftz = (mods & M(ftz)) != 0;
    step->sat = (mods & M(sat)) != 0;
    step->approx = (mods & M(approx)) != 0;
    step->wide = (mods & M(wide)) != 0;
    step->hi = (mods & M(hi)) != 0;
    step->cc = (mods & M(cc)) != 0;
}

int simd_now(void)
{
    if (simd_level < 0)
        simd_level = cpu_simd_level();
    return simd_level;
}

bool bind_row(Step *step, const Instruction *in, const Row *rows, size_t count, ModSet ignored)
{
    ModSet mods = mods_of(in) & ~ignored;
    uint32_t type = 1u << in->types[0], type2 = in->type_count > 1 ? 1u << in->types[1] : 0;

    for (size_t i = 0; i < count; i++) {
        const Row *row = &rows[i];
        if (row->op != in->op || !(row->types & type) || row->mods != mods)
            continue;
        if (row->types2 ? !(row->types2 & type2) : in->type_count > 1)
            continue;
        fill_step(step, in);
        step->run = row->run[simd_now()];
        return true;
    }
    return false;
}

/* ---- Values ---- */

INLINE uint32_t clamp_s32(int64_t x)
{
    return (uint32_t) (x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

/* The upper halves of products. */
#define HIGH(W, U, S, WIDE_U, WIDE_S)                                                              \
    INLINE U high_u##W(U a, U b)                                                                   \
    {                                                                                              \
        return (U) ((WIDE_U) a * b >> W);                                                          \
    }                                                                                              \
    INLINE U high_s##W(U a, U b)                                                                   \
    {                                                                                              \
        return (U) ((WIDE_S) (S) a * (S) b >> W);                                                  \
    }
HIGH(16, uint16_t, int16_t, uint32_t, int32_t)
HIGH(32, uint32_t, int32_t, uint64_t, int64_t)
HIGH(64, uint64_t, int64_t, unsigned __int128, __int128)

/* PTX does not define division by 0; GPUs return all ones, also for rem. Dividing the smallest
 * number by -1 wraps. */
#define DIVIDE(W, L, U, S)                                                                         \
    INLINE U div_of_u##W(U a, U b)                                                                 \
    {                                                                                              \
        return b ? (U) (a / b) : (U) ~(U) 0;                                                       \
    }                                                                                              \
    INLINE U rem_of_u##W(U a, U b)                                                                 \
    {                                                                                              \
        return b ? (U) (a % b) : (U) ~(U) 0;                                                       \
    }                                                                                              \
    INLINE U div_of_s##W(U a, U b)                                                                 \
    {                                                                                              \
        return !b ? (U) ~(U) 0 : b == (U) ~(U) 0 ? (U) (0 - a) : (U) ((S) a / (S) b);              \
    }                                                                                              \
    INLINE U rem_of_s##W(U a, U b)                                                                 \
    {                                                                                              \
        return !b ? (U) ~(U) 0 : b == (U) ~(U) 0 ? (U) 0 : (U) ((S) a % (S) b);                    \
    }
DIVIDE(16, Lane32, uint16_t, int16_t)
DIVIDE(64, Lane64, uint64_t, int64_t)

/* Processors have vector division for doubles but not for integers. A quotient of two 32-bit
 * numbers that is not an integer stays below the next integer when rounded to 53 bits, because it
 * differs from it by at least 2^-32 of its value. Divisors that would be out of range are replaced
 * first, so that no lane needs a branch. This takes 15 ns for 32 lanes instead of 60. */
INLINE double double_u32(uint32_t x)
{
    return (double) (int32_t) (x ^ 0x80000000u) + 2147483648.0;
}

INLINE uint32_t div_of_u32(uint32_t a, uint32_t b)
{
    uint32_t quotient = (uint32_t) (int32_t) (double_u32(a) / double_u32(b < 2 ? 2 : b));

    return b > 1 ? quotient : b ? a : ~0u;
}

INLINE uint32_t rem_of_u32(uint32_t a, uint32_t b)
{
    return b ? a - div_of_u32(a, b) * b : ~0u;
}

INLINE uint32_t div_of_s32(uint32_t a, uint32_t b)
{
    int32_t divisor = b + 1 < 2 ? 1 : (int32_t) b; /* not 0, not -1 */
    uint32_t quotient = (uint32_t) (int32_t) ((double) (int32_t) a / divisor);

    return !b ? ~0u : b == ~0u ? 0 - a : quotient;
}

INLINE uint32_t rem_of_s32(uint32_t a, uint32_t b)
{
    return b ? a - div_of_s32(a, b) * b : ~0u;
}

/* 24-bit factors: 48-bit products. */
INLINE uint64_t product24_u(uint32_t a, uint32_t b)
{
    return (uint64_t) (a & 0xffffff) * (b & 0xffffff);
}

INLINE uint64_t product24_s(uint32_t a, uint32_t b)
{
    return (uint64_t) ((int64_t) ((int32_t) (a << 8) >> 8) * ((int32_t) (b << 8) >> 8));
}

/* ---- Handlers ---- */

#define ARITHMETIC(W, L, U, S)                                                                     \
    HANDLER2(add_##W, L, L, L, (U) (a + b))                                                        \
    HANDLER2(sub_##W, L, L, L, (U) (a - b))                                                        \
    HANDLER2(mul_lo_##W, L, L, L, (U) (a * b))                                                     \
    HANDLER2(mul_hi_u##W, L, L, L, high_u##W((U) a, (U) b))                                        \
    HANDLER2(mul_hi_s##W, L, L, L, high_s##W((U) a, (U) b))                                        \
    HANDLER3(mad_lo_##W, L, L, L, L, (U) (a * b + c))                                              \
    HANDLER3(mad_hi_u##W, L, L, L, L, (U) (high_u##W((U) a, (U) b) + c))                           \
    HANDLER3(mad_hi_s##W, L, L, L, L, (U) (high_s##W((U) a, (U) b) + c))                           \
    HANDLER2(div_u##W, L, L, L, div_of_u##W((U) a, (U) b))                                         \
    HANDLER2(div_s##W, L, L, L, div_of_s##W((U) a, (U) b))                                         \
    HANDLER2(rem_u##W, L, L, L, rem_of_u##W((U) a, (U) b))                                         \
    HANDLER2(rem_s##W, L, L, L, rem_of_s##W((U) a, (U) b))                                         \
    HANDLER3(sad_u##W, L, L, L, L, (U) (c + ((U) a < (U) b ? b - a : a - b)))                      \
    HANDLER3(sad_s##W, L, L, L, L, (U) (c + ((S) a < (S) b ? b - a : a - b)))                      \
    HANDLER1(abs_##W, L, L, (U) ((S) a < 0 ? 0 - a : a))                                           \
    HANDLER1(neg_##W, L, L, (U) (0 - a))                                                           \
    HANDLER2(min_u##W, L, L, L, (U) ((U) a < (U) b ? a : b))                                       \
    HANDLER2(min_s##W, L, L, L, (U) ((S) a < (S) b ? a : b))                                       \
    HANDLER2(max_u##W, L, L, L, (U) ((U) a > (U) b ? a : b))                                       \
    HANDLER2(max_s##W, L, L, L, (U) ((S) a > (S) b ? a : b))
WIDTHS(ARITHMETIC)

HANDLER2(mul_wide_u16, Lane32, Lane32, Lane32, (a & 0xffff) * (b & 0xffff))
HANDLER2(mul_wide_s16, Lane32, Lane32, Lane32, (uint32_t) ((int16_t) a *(int16_t) b))
HANDLER2(mul_wide_u32, Lane64, Lane32, Lane32, (uint64_t) a *b)
HANDLER2(mul_wide_s32, Lane64, Lane32, Lane32, (uint64_t) ((int64_t) (int32_t) a *(int32_t) b))
HANDLER3(mad_wide_u16, Lane32, Lane32, Lane32, Lane32, (a & 0xffff) * (b & 0xffff) + c)
HANDLER3(mad_wide_s16, Lane32, Lane32, Lane32, Lane32, (uint32_t) ((int16_t) a *(int16_t) b) + c)
HANDLER3(mad_wide_u32, Lane64, Lane32, Lane32, Lane64, (uint64_t) a *b + c)
HANDLER3(mad_wide_s32, Lane64, Lane32, Lane32, Lane64,
         (uint64_t) ((int64_t) (int32_t) a *(int32_t) b) + c)

HANDLER2(add_sat, Lane32, Lane32, Lane32, clamp_s32((int64_t) (int32_t) a + (int32_t) b))
HANDLER2(sub_sat, Lane32, Lane32, Lane32, clamp_s32((int64_t) (int32_t) a - (int32_t) b))
HANDLER3(mad_hi_sat, Lane32, Lane32, Lane32, Lane32,
         clamp_s32((int64_t) (int32_t) high_s32(a, b) + (int32_t) c))
HANDLER2(min_relu, Lane32, Lane32, Lane32,
         (uint32_t) ((int32_t) a < 0 || (int32_t) b < 0 ? 0
                     : a < b                            ? a
                                                        : b))
HANDLER2(max_relu, Lane32, Lane32, Lane32,
         (uint32_t) ((int32_t) a < 0 && (int32_t) b < 0 ? 0
                     : (int32_t) a > (int32_t) b        ? a
                                                        : b))

#define MULTIPLY24(sign)                                                                           \
    HANDLER2(mul24_lo_##sign, Lane32, Lane32, Lane32, (uint32_t) product24_##sign(a, b))           \
    HANDLER2(mul24_hi_##sign, Lane32, Lane32, Lane32, (uint32_t) (product24_##sign(a, b) >> 16))   \
    HANDLER3(mad24_lo_##sign, Lane32, Lane32, Lane32, Lane32,                                      \
             (uint32_t) product24_##sign(a, b) + c)                                                \
    HANDLER3(mad24_hi_##sign, Lane32, Lane32, Lane32, Lane32,                                      \
             (uint32_t) (product24_##sign(a, b) >> 16) + c)
MULTIPLY24(u)
MULTIPLY24(s)
HANDLER3(mad24_hi_sat, Lane32, Lane32, Lane32, Lane32,
         clamp_s32((int64_t) (int32_t) (product24_s(a, b) >> 16) + (int32_t) c))

/* ---- Dot products: four bytes by four bytes, or two halves by the lower or upper two bytes ----
 */

#define BYTE_u(x, n) ((uint32_t) (uint8_t) ((x) >> 8 * (n)))
#define BYTE_s(x, n) ((uint32_t) (int8_t) ((x) >> 8 * (n)))
#define HALF_u(x, n) ((uint32_t) (uint16_t) ((x) >> 16 * (n)))
#define HALF_s(x, n) ((uint32_t) (int16_t) ((x) >> 16 * (n)))

#define DOT(s, t)                                                                                  \
    HANDLER3(dp4a_##s##t, Lane32, Lane32, Lane32, Lane32,                                          \
             c + BYTE_##s(a, 0) * BYTE_##t(b, 0) + BYTE_##s(a, 1) * BYTE_##t(b, 1) +               \
                 BYTE_##s(a, 2) * BYTE_##t(b, 2) + BYTE_##s(a, 3) * BYTE_##t(b, 3))                \
    HANDLER3(dp2a_lo_##s##t, Lane32, Lane32, Lane32, Lane32,                                       \
             c + HALF_##s(a, 0) * BYTE_##t(b, 0) + HALF_##s(a, 1) * BYTE_##t(b, 1))                \
    HANDLER3(dp2a_hi_##s##t, Lane32, Lane32, Lane32, Lane32,                                       \
             c + HALF_##s(a, 0) * BYTE_##t(b, 2) + HALF_##s(a, 1) * BYTE_##t(b, 3))
DOT(u, u)
DOT(u, s)
DOT(s, u)
DOT(s, s)

/* ---- The table ---- */

/* ---- Pairs of 16 bits ---- */

INLINE uint32_t least_of(int32_t a, int32_t b)
{
    return (uint32_t) (a < b ? a : b);
}

INLINE uint32_t most_of(int32_t a, int32_t b)
{
    return (uint32_t) (a > b ? a : b);
}

INLINE uint32_t not_negative(uint32_t x)
{
    return (int32_t) x < 0 ? 0 : x;
}

/* f of the lower and of the upper halves, which are of type T; g of each result. */
#define HALVES(T, f, g) ((g(f((T) (a >> 16), (T) (b >> 16))) << 16) | (g(f((T) a, (T) b)) & 0xffff))
HANDLER2(add_halves, Lane32, Lane32, Lane32,
         ((a & 0xffff0000u) + (b & 0xffff0000u)) | ((a + b) & 0xffff))
HANDLER2(min_halves_u, Lane32, Lane32, Lane32, HALVES(uint16_t, least_of, ))
HANDLER2(max_halves_u, Lane32, Lane32, Lane32, HALVES(uint16_t, most_of, ))
HANDLER2(min_halves_s, Lane32, Lane32, Lane32, HALVES(int16_t, least_of, ))
HANDLER2(max_halves_s, Lane32, Lane32, Lane32, HALVES(int16_t, most_of, ))
HANDLER2(min_halves_relu, Lane32, Lane32, Lane32, HALVES(int16_t, least_of, not_negative))
HANDLER2(max_halves_relu, Lane32, Lane32, Lane32, HALVES(int16_t, most_of, not_negative))

#define BOTH(W) (T(U##W) | T(S##W))
#define SIGNS(op, W, mods, name)                                                                   \
    { op, T(U##W), 0, mods, RUN(name##_u##W) }, { op, T(S##W), 0, mods, RUN(name##_s##W) },

#define WIDTH_ROWS(W, lane, u, s)                                                                  \
    { OP_add, BOTH(W), 0, 0, RUN(add_##W) }, { OP_sub, BOTH(W), 0, 0, RUN(sub_##W) },              \
        { OP_mul, BOTH(W), 0, M(lo), RUN(mul_lo_##W) },                                            \
        { OP_mad, BOTH(W), 0, M(lo), RUN(mad_lo_##W) },                                            \
        SIGNS(OP_mul, W, M(hi), mul_hi) SIGNS(OP_mad, W, M(hi), mad_hi) SIGNS(OP_div, W, 0, div)   \
            SIGNS(OP_rem, W, 0, rem) SIGNS(OP_sad, W, 0, sad) SIGNS(OP_min, W, 0, min)             \
                SIGNS(OP_max, W, 0, max){ OP_abs, T(S##W), 0, 0, RUN(abs_##W) },                   \
        { OP_neg, T(S##W), 0, 0, RUN(neg_##W) },

#define WIDE_ROWS(W) SIGNS(OP_mul, W, M(wide), mul_wide) SIGNS(OP_mad, W, M(wide), mad_wide)

#define ROWS24(type, sign)                                                                         \
    { OP_mul24, T(type), 0, M(lo), RUN(mul24_lo_##sign) },                                         \
        { OP_mul24, T(type), 0, M(hi), RUN(mul24_hi_##sign) },                                     \
        { OP_mad24, T(type), 0, M(lo), RUN(mad24_lo_##sign) },                                     \
        { OP_mad24, T(type), 0, M(hi), RUN(mad24_hi_##sign) },

#define DOT_ROWS(type, s, type2, t)                                                                \
    { OP_dp4a, T(type), T(type2), 0, RUN(dp4a_##s##t) },                                           \
        { OP_dp2a, T(type), T(type2), M(lo), RUN(dp2a_lo_##s##t) },                                \
        { OP_dp2a, T(type), T(type2), M(hi), RUN(dp2a_hi_##s##t) },

static const Row rows[] = {
    /* clang-format off */
    WIDTHS(WIDTH_ROWS)
    WIDE_ROWS(16)
    WIDE_ROWS(32)
    ROWS24(U32, u)
    ROWS24(S32, s)
    DOT_ROWS(U32, u, U32, u)
    DOT_ROWS(U32, u, S32, s)
    DOT_ROWS(S32, s, U32, u)
    DOT_ROWS(S32, s, S32, s)
    { OP_add, T(S32), 0, M(sat), RUN(add_sat) },
    { OP_sub, T(S32), 0, M(sat), RUN(sub_sat) },
    { OP_mad, T(S32), 0, M(hi) | M(sat), RUN(mad_hi_sat) },
    { OP_mad24, T(S32), 0, M(hi) | M(sat), RUN(mad24_hi_sat) },
    { OP_min, T(S32), 0, M(relu), RUN(min_relu) },
    { OP_max, T(S32), 0, M(relu), RUN(max_relu) },
    { OP_add, T(U16X2) | T(S16X2), 0, 0, RUN(add_halves) },
    { OP_min, T(U16X2), 0, 0, RUN(min_halves_u) },
    { OP_max, T(U16X2), 0, 0, RUN(max_halves_u) },
    { OP_min, T(S16X2), 0, 0, RUN(min_halves_s) },
    { OP_max, T(S16X2), 0, 0, RUN(max_halves_s) },
    { OP_min, T(S16X2), 0, M(relu), RUN(min_halves_relu) },
    { OP_max, T(S16X2), 0, M(relu), RUN(max_halves_relu) },
    /* clang-format on */
};

bool bind_integer(Step *step, const Instruction *in)
{
    return BIND(step, in, rows, 0) || bind_bits(step, in) || bind_carry(step, in) ||
           bind_move(step, in) || bind_video(step, in);
}
