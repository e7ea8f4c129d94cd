/* sim_oracle.h - floating-point oracles: for halves by a search among all their values, for f32 and
 * f64 by the processor with its rounding mode set, one volatile operation at a time.
 */
#ifndef SIM_SIM_ORACLE_H
#define SIM_SIM_ORACLE_H

#include "sim/sim_rig.h"

#include <fenv.h>
#include <math.h>

typedef __float128 Quad;

static const uint64_t edges_f32[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3fc00000, 0x3dcccccd, 0x7f7fffff, 0xff7fffff,
    0x00800000, 0x80800000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800001, 0x7f800000,
    0xff800000, 0x7fc00000, 0x7fa00001, 0xffc12345, 0x4b800000, 0x4b800001, 0x4b7fffff, 0xcb800001,
    0x3f800001, 0x3f7fffff, 0x33800000, 0x33800001, 0xb3800000, 0x7e800000, 0x7e800001, 0x7f000000,
    0x00ffffff, 0x34000000, 0x1f800000, 0x20000000, 0x477fe000, 0x477ff000, 0x477fefff, 0x33000000,
    0x33000001, 0x387fe000, 0x38802000, 0x4f000000, 0x4f7fffff, 0x4f800000, 0xcf000000, 0xcf000001,
    0x5f000000, 0x5f800000, 0xdf000000, 0x3f000000, 0xbf000000, 0x40200000, 0x40600000, 0xc0200000,
    0x437f0000, 0x43808000, 0x42ff0000, 0x3f803000, 0x3f80b000, 0x3f808000, 0x3f818000, 0x3f801000,
};

static const uint64_t edges_f64[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x3ff8000000000000, 0x3fb999999999999a, 0x7fefffffffffffff, 0xffefffffffffffff,
    0x0010000000000000, 0x8010000000000000, 0x0000000000000001, 0x8000000000000001,
    0x000fffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
    0x7ff4000000000001, 0xfff8123456789abc, 0x4340000000000001, 0x3ff0000000000001,
    0x3fefffffffffffff, 0x3ca0000000000000, 0x7fd0000000000000, 0x47efffffe0000000,
    0x47efffffefffffff, 0x47effffff0000000, 0x47f0000000000000, 0x36a0000000000000,
    0x3690000000000000, 0x3690000000000001, 0x380fffffc0000000, 0x3810000000000000,
    0x380fffffffffffff, 0x3ff0000010000000, 0x3ff0000030000000, 0x41dfffffffc00000,
    0x41dfffffffe00000, 0x41e0000000000000, 0xc1e0000000100000, 0xc1e0000000200000,
    0x41efffffffe00000, 0x41f0000000000000, 0x43e0000000000000, 0x43f0000000000000,
    0xc3e0000000000000, 0x3fe0000000000000, 0xbfe0000000000000, 0x4004000000000000,
    0x400c000000000000, 0xc004000000000000, 0x40effc0000000000, 0x40effdffffffffff,
    0x40effe0000000000, 0x3e60000000000000, 0x3e70000000000000,
};

/* Pairs of halves, for f16 and bf16; single halves are the lower ones. */
static const uint64_t edges_half[] = {
    0x00000000, 0x80008000, 0x3c003f80, 0x3f803c00, 0xbc00bf80, 0xbf80bc00, 0x7bff7f7f, 0x7f7f7bff,
    0xfbffff7f, 0xff7ffbff, 0x04000080, 0x00800400, 0x00010001, 0x80018001, 0x03ff007f, 0x007f03ff,
    0x7c007f80, 0x7f807c00, 0xfc00ff80, 0xff80fc00, 0x7e007fc0, 0x7fc07e00, 0xfe01ffc1, 0xffc1fe01,
    0x3c013f81, 0x3f813c01, 0x14003b80, 0x3b801400, 0x34003e80, 0x3e803400, 0x10000c00, 0x0c001000,
    0x68004380, 0x43806800, 0x55553eab, 0x3eab5555, 0x7c017f81, 0x7f817c01, 0x04010081, 0x00810401,
};

/* ---- f32 and f64 ---- */

static inline float float_at(uint64_t bits)
{
    return f32_bits((uint32_t) bits);
}

static inline float flushed(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static inline int direction_of(const Instruction *in)
{
    return has_mod(in, MOD_rz)   ? FE_TOWARDZERO
           : has_mod(in, MOD_rm) ? FE_DOWNWARD
           : has_mod(in, MOD_rp) ? FE_UPWARD
                                 : FE_TONEAREST;
}

static inline uint64_t bits_of_f32(float x)
{
    return isnan(x) ? 0x7fffffff : bits_f32(x);
}

/* ---- Halves ---- */

/* The value of a positive half; for infinity, the next value if there were no infinity. */
static inline double half_at(uint32_t half, bool bf16)
{
    int bits = bf16 ? 7 : 10, bias = bf16 ? 127 : 15, exponent = (int) (half >> bits);
    double mantissa = half & ((1u << bits) - 1);

    return exponent ? ldexp(mantissa + (1 << bits), exponent - bias - bits)
                    : ldexp(mantissa, 1 - bias - bits);
}

static inline double value_of_half(uint64_t bits, bool bf16)
{
    uint32_t half = bits & 0x7fff, infinity = bf16 ? 0x7f80 : 0x7c00;
    double x = half > infinity ? NAN : half == infinity ? INFINITY : half_at(half, bf16);

    return bits & 0x8000 ? -x : x;
}

static inline bool quad_negative(Quad x)
{
    return x < 0 || (x == 0 && 1 / x < 0);
}

static inline uint32_t half_from(Quad x, bool bf16, int direction)
{
    uint32_t infinity = bf16 ? 0x7f80 : 0x7c00, low = 0, high = infinity;
    bool negative = quad_negative(x), away = direction == (negative ? FE_DOWNWARD : FE_UPWARD);
    Quad a = negative ? -x : x;

    if (x != x)
        return 0x7fff;
    if (a - a != 0)
        return infinity | (uint32_t) negative << 15;
    while (low < high) { /* finds the greatest value that is not above a */
        uint32_t middle = (low + high + 1) / 2;
        if ((Quad) half_at(middle, bf16) <= a)
            low = middle;
        else
            high = middle - 1;
    }
    Quad here = half_at(low, bf16), next = half_at(low + 1, bf16);
    bool nearer_next = a - here > next - a || (a - here == next - a && (low & 1));
    if (low == infinity)
        low = direction == FE_TONEAREST || away ? infinity : infinity - 1;
    else if (here != a && (direction == FE_TONEAREST ? nearer_next : away))
        low++;
    return low | (uint32_t) negative << 15;
}

static inline bool is_half(PtxType type)
{
    return type == TYPE_F16 || type == TYPE_BF16 || type == TYPE_F16X2 || type == TYPE_BF16X2;
}

/* The value of a source: an integer or a float, exactly. */
static inline long double value_of(const Instruction *in, uint64_t bits)
{
    PtxType type = in->types[1];
    int width = 8 * type_size(type);

    if (is_half(type))
        return value_of_half(bits, type == TYPE_BF16);
    if (type == TYPE_F32)
        return has_mod(in, MOD_ftz) ? flushed(float_at(bits)) : float_at(bits);
    if (type == TYPE_F64)
        return f64_bits(bits);
    bits = low_bits(bits, width);
    if (type_is_signed(type) && bits >> (width - 1) & 1)
        return -(long double) (width == 64 ? -bits : (1ull << width) - bits);
    return bits;
}

#endif
