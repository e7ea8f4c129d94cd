/* rounding.h - rounds exact values once, to any floating-point format in any direction.
 *
 * A number is a sign, a 64-bit significand and a power of two, which can hold every value of every
 * PTX type except NaN and infinities. Results of + - * and fma in formats narrower than f64 are
 * first computed as doubles rounded to odd (the last bit is set if anything was lost). Rounding
 * those to at most 50 bits gives the same result as rounding the exact value.
 */
#ifndef SIM_EXEC_OPS_ROUNDING_H
#define SIM_EXEC_OPS_ROUNDING_H

#include "sim/exec/ops/handlers.h"

#include <math.h>

typedef struct Format {
    int precision; /* bits of the significand, including the hidden one */
    int least;     /* exponent of the smallest normal number */
    int exponent_bits;
} Format;

static const Format format_f16 __attribute__((unused)) = { 11, -14, 5 };
static const Format format_bf16 __attribute__((unused)) = { 8, -126, 8 };
static const Format format_tf32 __attribute__((unused)) = { 11, -126, 8 };
static const Format format_f32 __attribute__((unused)) = { 24, -126, 8 };
static const Format format_f64 __attribute__((unused)) = { 53, -1022, 11 };

/* True if the number is rounded away from zero. `rest` holds the lost bits; `half` is half of the
 * last kept bit. */
INLINE bool rounds_up(uint64_t kept, uint64_t rest, uint64_t half, bool negative, uint8_t rounding)
{
    switch (rounding) {
    case MOD_rz:
        return false;
    case MOD_rm:
        return negative && rest;
    case MOD_rp:
        return !negative && rest;
    case MOD_rna:
        return rest >= half;
    default:
        return rest > half || (rest == half && (kept & 1));
    }
}

/* Returns significand * 2^(exponent - 63) in the bits of the format. The top bit of the significand
 * is set, or it is 0. */
INLINE uint64_t round_number(bool negative, int exponent, uint64_t significand, Format format,
                             uint8_t rounding)
{
    uint64_t sign = (uint64_t) negative << (format.precision - 1 + format.exponent_bits);
    uint64_t infinity = (((uint64_t) 1 << format.exponent_bits) - 1) << (format.precision - 1);
    int below = exponent < format.least ? format.least - exponent : 0;
    int shift = 64 - format.precision + below;

    if (!significand)
        return sign;
    if (shift > 63) { /* only the comparison with half of the smallest number matters */
        significand = shift == 64 ? significand >> 1 | (significand & 1) : 1;
        shift = 63;
    }
    uint64_t kept = significand >> shift, rest = significand & (((uint64_t) 1 << shift) - 1);
    kept += rounds_up(kept, rest, (uint64_t) 1 << (shift - 1), negative, rounding);
    if (exponent > 1 - format.least)
        kept = infinity;
    else /* a carry into the next power of two, or out of the subnormals, gives the correct bits
          */
        kept += (uint64_t) (below ? 0 : exponent - format.least) << (format.precision - 1);
    if (kept >= infinity)
        kept = rounding == MOD_rz || (rounding == MOD_rm && !negative) ||
                       (rounding == MOD_rp && negative)
                   ? infinity - 1
                   : infinity;
    return sign | kept;
}

/* Rounds a double to the format. The caller handles NaN. */
INLINE uint64_t round_f64(double x, Format format, uint8_t rounding)
{
    uint64_t bits = bits_f64(x), significand = bits << 11;
    int exponent = (int) (bits >> 52 & 2047);
    bool negative = bits >> 63;

    if (exponent == 2047)
        return ((uint64_t) negative << (format.precision - 1 + format.exponent_bits)) |
               (((uint64_t) 1 << format.exponent_bits) - 1) << (format.precision - 1);
    if (exponent)
        return round_number(negative, exponent - 1023, significand | (uint64_t) 1 << 63, format,
                            rounding);
    if (!significand)
        return round_number(negative, 0, 0, format, rounding);
    int zeros = __builtin_clzll(significand);
    return round_number(negative, -1022 - zeros, significand << zeros, format, rounding);
}

/* Rounds an integer, given by sign and magnitude, to the format. */
INLINE uint64_t round_integer(bool negative, uint64_t magnitude, Format format, uint8_t rounding)
{
    int zeros = magnitude ? __builtin_clzll(magnitude) : 0;

    return round_number(negative, 63 - zeros, magnitude << zeros, format, rounding);
}

/* ---- Exact results as doubles ---- */

/* Changes `sum`, which was rounded to nearest with the given error, to rounding to odd. A sum that
 * is even and inexact has an odd neighbour on the side of the error. (For infinities the error is
 * NaN, and nothing is lost.) */
INLINE double to_odd(double sum, double error)
{
    uint64_t bits = bits_f64(sum), even = ~bits & 1;
    uint64_t lost = ((error != 0) & (error == error)) ? even : 0;
    uint64_t towards_zero = (bits ^ bits_f64(error)) >> 63;

    return f64_bits(bits + lost - 2 * (lost & towards_zero));
}

/* x + y rounded to odd. */
INLINE double sum_to_odd(double x, double y)
{
    double sum = x + y, part = sum - x;

    return to_odd(sum, (x - (sum - part)) + (y - part));
}

/* ---- Halves ---- */

/* f16 as a double, exactly. Multiplying by 2^112 adjusts the exponent, also for subnormals. */
INLINE double f16_value(uint32_t half)
{
    uint32_t bits = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
    float x = f32_bits(bits) * 0x1p112f;
    uint32_t special = 0x7f800000u | bits; /* exponent of all ones */

    return f32_bits((bits >= 0x0f800000u ? special : bits_f32(x)) | sign);
}

INLINE double bf16_value(uint32_t half)
{
    return f32_bits(half << 16);
}

/* Rounds x to nearest with `precision` bits, or to multiples of the format's smallest number, by
 * adding a number so large that the other bits are lost. It has no branches, so it can be
 * vectorised. */
INLINE double nearest(double x, int precision, int least)
{
    int64_t exponent = (int64_t) (bits_f64(x) & 0x7ff0000000000000ull);
    int64_t floor = (int64_t) (1023 + least) << 52;
    uint64_t scale = (uint64_t) (exponent > floor ? exponent : floor);
    double big = f64_bits((scale + ((uint64_t) (53 - precision) << 52)) | 0x0008000000000000ull);

    return (x + big) - big;
}

INLINE double clamp_magnitude(double x, double most)
{
    return x > most ? most : x < -most ? -most : x;
}

INLINE uint32_t f16_nearest(double x)
{
    uint32_t sign = (uint32_t) (bits_f64(x) >> 48) & 0x8000;
    float r = fabsf((float) nearest(clamp_magnitude(x, 0x1p17), 11, -14));
    uint32_t normal = (bits_f32(r) - 0x38000000u) >> 13;
    uint32_t subnormal = bits_f32(r * 0x1p24f + 0x1p23f) & 0x7ff;
    uint32_t bits = r >= 0x1p16f ? 0x7c00 : r < 0x1p-14f ? subnormal : normal;

    return x != x ? NAN_F16 : bits | sign;
}

INLINE uint32_t bf16_nearest(double x)
{
    uint32_t sign = (uint32_t) (bits_f64(x) >> 48) & 0x8000;
    float r = fabsf((float) nearest(clamp_magnitude(x, 0x1p129), 8, -126));

    return x != x ? NAN_F16 : bits_f32(r) >> 16 | sign;
}

INLINE uint32_t f16_of(double x, uint8_t rounding)
{
    return x != x ? NAN_F16 : (uint32_t) round_f64(x, format_f16, rounding);
}

INLINE uint32_t bf16_of(double x, uint8_t rounding)
{
    return x != x ? NAN_F16 : (uint32_t) round_f64(x, format_bf16, rounding);
}

#endif
