/* bits.c - logic, shifts, bit fields; finding, counting and permuting bits. */
#include "sim/exec/ops/handlers.h"

/* ---- Values ---- */

/* Any function of three bits, given by its truth table: bit 4a + 2b + c of `table`. */
INLINE uint32_t lop3_of(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;

    for (int n = 0; n < 8; n++)
        result |= (0u - (table >> n & 1)) & (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
    return result;
}

/* Shifts by the width or more give all zeros, or copies of the sign. */
#define SHIFT(W, L, U, S)                                                                          \
    INLINE U shl_of_##W(U a, uint32_t n)                                                           \
    {                                                                                              \
        return n < W ? (U) (a << (n & (W - 1))) : 0;                                               \
    }                                                                                              \
    INLINE U shr_of_u##W(U a, uint32_t n)                                                          \
    {                                                                                              \
        return n < W ? (U) (a >> (n & (W - 1))) : 0;                                               \
    }                                                                                              \
    INLINE U shr_of_s##W(U a, uint32_t n)                                                          \
    {                                                                                              \
        return (U) ((S) a >> (n < W ? n : W - 1));                                                 \
    }
WIDTHS(SHIFT)

INLINE uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t) high << 32 | low;
}

/* n is at most 32. */
INLINE uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t) (pair(b, a) << n >> 32);
}

INLINE uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t) (pair(b, a) >> n);
}

INLINE uint32_t at_most_32(uint32_t n)
{
    return n < 32 ? n : 32;
}

/* The lowest n bits; n may be anything. */
#define FIELDS(W, U, S)                                                                            \
    INLINE U low_bits_##W(uint32_t n)                                                              \
    {                                                                                              \
        return n < W ? ((U) 1 << (n & (W - 1))) - 1 : ~(U) 0;                                      \
    }                                                                                              \
    INLINE U bfe_of_u##W(U a, uint32_t at, uint32_t count)                                         \
    {                                                                                              \
        return shr_of_u##W(a, at & 255) & low_bits_##W(count & 255);                               \
    }                                                                                              \
    INLINE U bfe_of_s##W(U a, uint32_t at, uint32_t count)                                         \
    {                                                                                              \
        uint32_t top = (at & 255) + (count & 255) - 1;                                             \
        U sign = count & 255 ? 0 - (a >> (top < W ? top : W - 1) & 1) : 0;                         \
        uint32_t inside = (at & 255) < W ? W - (at & 255) : 0;                                     \
        U kept = low_bits_##W((count & 255) < inside ? count & 255 : inside);                      \
        return (shr_of_u##W(a, at & 255) & kept) | (sign & ~kept);                                 \
    }                                                                                              \
    INLINE U bfi_of_##W(U a, U b, uint32_t at, uint32_t count)                                     \
    {                                                                                              \
        U field = shl_of_##W(low_bits_##W(count & 255), at & 255);                                 \
        return (b & ~field) | (shl_of_##W(a, at & 255) & field);                                   \
    }                                                                                              \
    INLINE uint32_t bfind_of_u##W(U a)                                                             \
    {                                                                                              \
        return a ? W - 1 - clz_of_##W(a) : ~0u;                                                    \
    }                                                                                              \
    INLINE uint32_t bfind_of_s##W(U a)                                                             \
    {                                                                                              \
        return bfind_of_u##W((S) a < 0 ? ~a : a);                                                  \
    }                                                                                              \
    INLINE uint32_t distance_##W(uint32_t found)                                                   \
    {                                                                                              \
        return found == ~0u ? found : W - 1 - found;                                               \
    }

INLINE uint32_t clz_of_32(uint32_t a)
{
    return a ? (uint32_t) __builtin_clz(a) : 32;
}

INLINE uint32_t clz_of_64(uint64_t a)
{
    return a ? (uint32_t) __builtin_clzll(a) : 64;
}

FIELDS(32, uint32_t, int32_t)
FIELDS(64, uint64_t, int64_t)

INLINE uint32_t popc_of_32(uint32_t a)
{
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    return ((a + (a >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

INLINE uint32_t brev_of_32(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

/* b ones from bit a on. Bits past 31 are dropped (clamp), or a and b are taken modulo 32. */
INLINE uint32_t bmsk_of(uint32_t a, uint32_t b, bool clamp)
{
    uint32_t ones = clamp && b >= 32 ? ~0u : low_bits_32(b & 31);

    return clamp && a >= 32 ? 0 : ones << (a & 31);
}

/* The lowest b bits, with their sign (or zeros) above. */
INLINE uint32_t szext_of(uint32_t a, uint32_t b, bool clamp, bool is_signed)
{
    uint32_t n = clamp && b >= 32 ? 32 : b & 31, low = low_bits_32(n);
    bool sign = is_signed && n && n < 32 && (a >> (n - 1) & 1);

    return (a & low) | (sign ? ~low : 0);
}

/* The position of the offset-th set bit of a, counted upwards from base, or downwards if `offset`
 * is negative. */
static uint32_t fns_of(uint32_t a, uint32_t base, int32_t offset)
{
    int64_t left = offset < 0 ? -(int64_t) offset : offset, step = offset < 0 ? -1 : 1;

    if (!offset)
        return base < 32 && (a >> base & 1) ? base : ~0u;
    for (int64_t at = base; at >= 0 && at < 32; at += step)
        if ((a >> at & 1) && !--left)
            return (uint32_t) at;
    return ~0u;
}

/* Each nibble of the selector chooses one of eight bytes, or, with its top bit, that byte's sign.
 */
INLINE uint32_t prmt_of(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t result = 0;

    for (int n = 0; n < 4; n++) {
        uint32_t choice = selector >> 4 * n & 15;
        uint32_t byte = (choice & 4 ? b : a) >> 8 * (choice & 3) & 255;
        uint32_t sign = (0 - (byte >> 7)) & 255;
        result |= (choice & 8 ? sign : byte) << 8 * n;
    }
    return result;
}

/* ---- Handlers ---- */

#define LOGIC(W, L, U, S)                                                                          \
    HANDLER2(and_##W, L, L, L, (U) (a & b))                                                        \
    HANDLER2(or_##W, L, L, L, (U) (a | b))                                                         \
    HANDLER2(xor_##W, L, L, L, (U) (a ^ b))                                                        \
    HANDLER1(not_##W, L, L, (U) ~a)                                                                \
    HANDLER1(cnot_##W, L, L, (U) a == 0)                                                           \
    HANDLER2(shl_##W, L, L, Lane32, shl_of_##W((U) a, b))                                          \
    HANDLER2(shr_u##W, L, L, Lane32, shr_of_u##W((U) a, b))                                        \
    HANDLER2(shr_s##W, L, L, Lane32, shr_of_s##W((U) a, b))
WIDTHS(LOGIC)

HANDLER4(lop3, Lane32, Lane32, Lane32, Lane32, Lane32, lop3_of(a, b, c, e))

HANDLER3(shf_l_clamp, Lane32, Lane32, Lane32, Lane32, funnel_left(a, b, at_most_32(c)))
HANDLER3(shf_l_wrap, Lane32, Lane32, Lane32, Lane32, funnel_left(a, b, c & 31))
HANDLER3(shf_r_clamp, Lane32, Lane32, Lane32, Lane32, funnel_right(a, b, at_most_32(c)))
HANDLER3(shf_r_wrap, Lane32, Lane32, Lane32, Lane32, funnel_right(a, b, c & 31))

#define FIELD_HANDLERS(W, L)                                                                       \
    HANDLER3(bfe_u##W, L, L, Lane32, Lane32, bfe_of_u##W(a, b, c))                                 \
    HANDLER3(bfe_s##W, L, L, Lane32, Lane32, bfe_of_s##W(a, b, c))                                 \
    HANDLER4(bfi_##W, L, L, L, Lane32, Lane32, bfi_of_##W(a, b, c, e))                             \
    HANDLER1(clz_##W, Lane32, L, clz_of_##W(a))                                                    \
    HANDLER1(bfind_u##W, Lane32, L, bfind_of_u##W(a))                                              \
    HANDLER1(bfind_s##W, Lane32, L, bfind_of_s##W(a))                                              \
    HANDLER1(bfind_shift_u##W, Lane32, L, distance_##W(bfind_of_u##W(a)))                          \
    HANDLER1(bfind_shift_s##W, Lane32, L, distance_##W(bfind_of_s##W(a)))
FIELD_HANDLERS(32, Lane32)
FIELD_HANDLERS(64, Lane64)

HANDLER1(popc_32, Lane32, Lane32, popc_of_32(a))
HANDLER1(popc_64, Lane32, Lane64, popc_of_32((uint32_t) a) + popc_of_32((uint32_t) (a >> 32)))
HANDLER1(brev_32, Lane32, Lane32, brev_of_32(a))
HANDLER1(brev_64, Lane64, Lane64, pair(brev_of_32((uint32_t) a), brev_of_32((uint32_t) (a >> 32))))

HANDLER2(bmsk_clamp, Lane32, Lane32, Lane32, bmsk_of(a, b, true))
HANDLER2(bmsk_wrap, Lane32, Lane32, Lane32, bmsk_of(a, b, false))
HANDLER2(szext_clamp_u, Lane32, Lane32, Lane32, szext_of(a, b, true, false))
HANDLER2(szext_clamp_s, Lane32, Lane32, Lane32, szext_of(a, b, true, true))
HANDLER2(szext_wrap_u, Lane32, Lane32, Lane32, szext_of(a, b, false, false))
HANDLER2(szext_wrap_s, Lane32, Lane32, Lane32, szext_of(a, b, false, true))
HANDLER3(fns, Lane32, Lane32, Lane32, Lane32, fns_of(a, b, (int32_t) c))

/* Each mode of prmt has four selectors, indexed by the lowest two bits of c. */
static const uint16_t prmt_modes[MODS][4] = {
    [MOD_f4e] = { 0x3210, 0x4321, 0x5432, 0x6543 }, [MOD_b4e] = { 0x5670, 0x6701, 0x7012, 0x0123 },
    [MOD_rc8] = { 0x0000, 0x1111, 0x2222, 0x3333 }, [MOD_ecl] = { 0x3210, 0x3211, 0x3222, 0x3333 },
    [MOD_ecr] = { 0x0000, 0x1110, 0x2210, 0x3210 }, [MOD_rc16] = { 0x1010, 0x3232, 0x1010, 0x3232 },
};

HANDLER3(prmt, Lane32, Lane32, Lane32, Lane32, prmt_of(a, b, c))
HANDLER(prmt_mode, Lane32, SOURCE(Lane32, a); SOURCE(Lane32, b); SOURCE(Lane32, c);
        const uint16_t *selectors = prmt_modes[step->mod], LOAD(Lane32, a); LOAD(Lane32, b);
        LOAD(Lane32, c), prmt_of(a, b, selectors[c & 3]))

/* ---- Predicates: masks of all lanes at once ---- */

/* A full warp first: it needs no old value. */
#define PREDICATES(name, value)                                                                    \
    static void name##_pred(Warp *warp, const Step *step, uint32_t mask)                           \
    {                                                                                              \
        if (mask == ALL_LANES && (step->a | step->b | step->d) >= 0) {                             \
            const uint32_t a = warp->predicates[step->a] ^ -(uint32_t) step->negated_a;            \
            const uint32_t b = warp->predicates[step->b] ^ -(uint32_t) step->negated_b;            \
            warp->predicates[step->d] = value;                                                     \
        } else {                                                                                   \
            const uint32_t a = predicate_of(warp, step->a, step->negated_a);                       \
            const uint32_t b = predicate_of(warp, step->b, step->negated_b);                       \
            set_predicate(warp, step->d, mask, value);                                             \
        }                                                                                          \
        run_next(warp, step);                                                                      \
    }
PREDICATES(and, a &b)
PREDICATES(or, a | b)
PREDICATES(xor, a ^ b)

static void not_pred(Warp *warp, const Step *step, uint32_t mask)
{
    set_predicate(warp, step->d, mask, ~predicate_of(warp, step->a, step->negated_a));
    run_next(warp, step);
}

/* ---- The table ---- */

#define LOGIC_ROWS(W, lane, u, s)                                                                  \
    { OP_and, T(B##W), 0, 0, RUN(and_##W) }, { OP_or, T(B##W), 0, 0, RUN(or_##W) },                \
        { OP_xor, T(B##W), 0, 0, RUN(xor_##W) }, { OP_not, T(B##W), 0, 0, RUN(not_##W) },          \
        { OP_cnot, T(B##W), 0, 0, RUN(cnot_##W) }, { OP_shl, T(B##W), 0, 0, RUN(shl_##W) },        \
        { OP_shr, T(B##W) | T(U##W), 0, 0, RUN(shr_u##W) },                                        \
        { OP_shr, T(S##W), 0, 0, RUN(shr_s##W) },

#define FIELD_ROWS(W)                                                                              \
    { OP_bfe, T(U##W), 0, 0, RUN(bfe_u##W) }, { OP_bfe, T(S##W), 0, 0, RUN(bfe_s##W) },            \
        { OP_bfi, T(B##W), 0, 0, RUN(bfi_##W) }, { OP_clz, T(B##W), 0, 0, RUN(clz_##W) },          \
        { OP_popc, T(B##W), 0, 0, RUN(popc_##W) }, { OP_brev, T(B##W), 0, 0, RUN(brev_##W) },      \
        { OP_bfind, T(U##W), 0, 0, RUN(bfind_u##W) },                                              \
        { OP_bfind, T(S##W), 0, 0, RUN(bfind_s##W) },                                              \
        { OP_bfind, T(U##W), 0, M(shiftamt), RUN(bfind_shift_u##W) },                              \
        { OP_bfind, T(S##W), 0, M(shiftamt), RUN(bfind_shift_s##W) },

static const Row rows[] = {
    /* clang-format off */
    WIDTHS(LOGIC_ROWS)
    FIELD_ROWS(32)
    FIELD_ROWS(64)
    { OP_lop3, T(B32), 0, 0, RUN(lop3) },
    { OP_shf, T(B32), 0, M(l) | M(clamp), RUN(shf_l_clamp) },
    { OP_shf, T(B32), 0, M(l) | M(wrap), RUN(shf_l_wrap) },
    { OP_shf, T(B32), 0, M(r) | M(clamp), RUN(shf_r_clamp) },
    { OP_shf, T(B32), 0, M(r) | M(wrap), RUN(shf_r_wrap) },
    { OP_bmsk, T(B32), 0, M(clamp), RUN(bmsk_clamp) },
    { OP_bmsk, T(B32), 0, M(wrap), RUN(bmsk_wrap) },
    { OP_szext, T(U32), 0, M(clamp), RUN(szext_clamp_u) },
    { OP_szext, T(S32), 0, M(clamp), RUN(szext_clamp_s) },
    { OP_szext, T(U32), 0, M(wrap), RUN(szext_wrap_u) },
    { OP_szext, T(S32), 0, M(wrap), RUN(szext_wrap_s) },
    { OP_fns, T(B32), 0, 0, RUN(fns) },
    { OP_prmt, T(B32), 0, 0, RUN(prmt) },
    { OP_prmt, T(B32), 0, M(f4e), RUN(prmt_mode) },
    { OP_prmt, T(B32), 0, M(b4e), RUN(prmt_mode) },
    { OP_prmt, T(B32), 0, M(rc8), RUN(prmt_mode) },
    { OP_prmt, T(B32), 0, M(ecl), RUN(prmt_mode) },
    { OP_prmt, T(B32), 0, M(ecr), RUN(prmt_mode) },
    { OP_prmt, T(B32), 0, M(rc16), RUN(prmt_mode) },
    { OP_and, T(PRED), 0, 0, RUN1(and_pred) },
    { OP_or, T(PRED), 0, 0, RUN1(or_pred) },
    { OP_xor, T(PRED), 0, 0, RUN1(xor_pred) },
    { OP_not, T(PRED), 0, 0, RUN1(not_pred) },
    /* clang-format on */
};

bool bind_bits(Step *step, const Instruction *in)
{
    if (!BIND(step, in, rows, 0))
        return false;
    if (in->op == OP_prmt && in->mod_count)
        step->mod = in->mods[0];
    return true;
}
