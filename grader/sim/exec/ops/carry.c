/* carry.c - multi-word arithmetic: add.cc, addc, sub.cc, subc, mad.cc, madc.
 *
 * CC.CF is a mask in the warp: each lane's carry from its last .cc instruction. A difference is
 * computed as in hardware, by adding the complement plus 1, so it carries if it does not borrow.
 * PTX does not define the flag after a subtraction, but the compiler's 128-bit division reads the
 * flag of a subc.cc with an addc.
 */
#include "sim/exec/ops/handlers.h"

/* A sum of words with carry in and carry out. */
#define CARRY(W, U)                                                                                \
    INLINE U sum_##W(U x, U y, bool *carry)                                                        \
    {                                                                                              \
        U sum = x + y, all = sum + *carry;                                                         \
        *carry = sum < x || all < sum;                                                             \
        return all;                                                                                \
    }
CARRY(32, uint32_t)
CARRY(64, uint64_t)

INLINE uint32_t product_32(uint32_t a, uint32_t b, bool hi, bool is_signed)
{
    uint64_t product =
        is_signed ? (uint64_t) ((int64_t) (int32_t) a * (int32_t) b) : (uint64_t) a * b;

    return (uint32_t) (hi ? product >> 32 : product);
}

INLINE uint64_t product_64(uint64_t a, uint64_t b, bool hi, bool is_signed)
{
    unsigned __int128 product = is_signed
                                    ? (unsigned __int128) ((__int128) (int64_t) a * (int64_t) b)
                                    : (unsigned __int128) a * b;

    return (uint64_t) (hi ? product >> 64 : product);
}

INLINE bool type_is_signed_word(uint8_t type)
{
    return type == TYPE_S32 || type == TYPE_S64;
}

/* `in`: CC.CF is read, too. */
#define CARRY_LANES(W, L)                                                                          \
    INLINE void carry_##W(Warp *warp, const Step *step, uint32_t mask, bool in)                    \
    {                                                                                              \
        const L *a = plane(warp, step->a), *b = plane(warp, step->b);                              \
        L *d = plane(warp, step->d);                                                               \
        Op op = step->in->op;                                                                      \
        bool is_mad = op == OP_mad || op == OP_madc, is_sub = op == OP_sub || op == OP_subc;       \
        const L *c = is_mad ? plane(warp, step->c) : a;                                            \
        bool is_signed = type_is_signed_word(step->type);                                          \
        uint32_t flags = *warp->carry;                                                             \
        FOR_LANES (i, mask) {                                                                      \
            bool carry = in ? flags >> i & 1 : is_sub;                                             \
            if (is_sub)                                                                            \
                d[i] = sum_##W(a[i], (L) ~b[i], &carry);                                           \
            else if (is_mad)                                                                       \
                d[i] = sum_##W(product_##W(a[i], b[i], step->hi, is_signed), c[i], &carry);        \
            else                                                                                   \
                d[i] = sum_##W(a[i], b[i], &carry);                                                \
            flags = (flags & ~(1u << i)) | (uint32_t) carry << i;                                  \
        }                                                                                          \
        if (step->cc)                                                                              \
            *warp->carry = flags;                                                                  \
    }                                                                                              \
    static void first_##W(Warp *warp, const Step *step, uint32_t mask)                             \
    {                                                                                              \
        carry_##W(warp, step, mask, false);                                                        \
    }                                                                                              \
    static void next_##W(Warp *warp, const Step *step, uint32_t mask)                              \
    {                                                                                              \
        carry_##W(warp, step, mask, true);                                                         \
    }

CARRY_LANES(32, Lane32)
CARRY_LANES(64, Lane64)

#define BOTH(W) (T(U##W) | T(S##W) | T(B##W))
#define CARRY_ROWS(W)                                                                              \
    { OP_add, BOTH(W), 0, M(cc), RUN1(first_##W) },                                                \
        { OP_sub, BOTH(W), 0, M(cc), RUN1(first_##W) },                                            \
        { OP_mad, BOTH(W), 0, M(cc) | M(lo), RUN1(first_##W) },                                    \
        { OP_mad, BOTH(W), 0, M(cc) | M(hi), RUN1(first_##W) },                                    \
        { OP_addc, BOTH(W), 0, M(cc), RUN1(next_##W) },                                            \
        { OP_addc, BOTH(W), 0, 0, RUN1(next_##W) },                                                \
        { OP_subc, BOTH(W), 0, M(cc), RUN1(next_##W) },                                            \
        { OP_subc, BOTH(W), 0, 0, RUN1(next_##W) },                                                \
        { OP_madc, BOTH(W), 0, M(cc) | M(lo), RUN1(next_##W) },                                    \
        { OP_madc, BOTH(W), 0, M(cc) | M(hi), RUN1(next_##W) },                                    \
        { OP_madc, BOTH(W), 0, M(lo), RUN1(next_##W) },                                            \
        { OP_madc, BOTH(W), 0, M(hi), RUN1(next_##W) },

static const Row rows[] = {
    /* clang-format off */
    CARRY_ROWS(32)
    CARRY_ROWS(64)
    /* clang-format on */
};

bool bind_carry(Step *step, const Instruction *in)
{
    return BIND(step, in, rows, 0);
}
