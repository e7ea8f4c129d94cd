/* approximate.h - the functions that GPUs only approximate, by polynomials in double precision.
 *
 * PTX bounds their errors (about 2^-20 to 2^-23; 2^-11 for tanh); the error of these functions is
 * at most 2^-27 before the last rounding. They use no fused operations and no branches, so every
 * build gives the same bits.
 */
#ifndef SIM_EXEC_OPS_APPROXIMATE_H
#define SIM_EXEC_OPS_APPROXIMATE_H

#include "sim/exec/ops/rounding.h"

#define ROUNDER 0x1.8p52 /* adding it moves a double's integer part into the low bits */

/* 2^x */
INLINE double exp2_of(double x)
{
    x = clamp_magnitude(x, 400);
    double shifted = x + ROUNDER, f = (x - (shifted - ROUNDER)) * 0x1.62e42fefa39efp-1;
    double power = f64_bits((bits_f64(shifted) - bits_f64(ROUNDER) + 1023) << 52);
    double sum = 1.0 / 40320;

    sum = sum * f + 1.0 / 5040;
    sum = sum * f + 1.0 / 720;
    sum = sum * f + 1.0 / 120;
    sum = sum * f + 1.0 / 24;
    sum = sum * f + 1.0 / 6;
    sum = sum * f + 0.5;
    return x != x ? x : ((sum * f + 1) * f + 1) * power;
}

/* log2 of a float, which is never subnormal as a double. Uses the series of atanh around 1. */
INLINE double log2_of(double x)
{
    uint64_t bits = bits_f64(x), excess = (bits - 0x3fe6a09e667f3bcdull + (1024ull << 52)) >> 52;
    double exponent = f64_bits(0x4330000000000000ull | (excess & 4095)) - (0x1p52 + 1024);
    double m = f64_bits(bits - ((excess - 1024) << 52));
    double s = (m - 1) / (m + 1), t = s * s, sum = 1.0 / 15;

    sum = sum * t + 1.0 / 13;
    sum = sum * t + 1.0 / 11;
    sum = sum * t + 1.0 / 9;
    sum = sum * t + 1.0 / 7;
    sum = sum * t + 1.0 / 5;
    sum = sum * t + 1.0 / 3;
    sum = (sum * t + 1) * s * 0x1.71547652b82fep+1 + exponent;
    return x == 0 ? -INFINITY : !(x > 0) ? NAN : x > 0x1p1000 ? x : sum;
}

/* x as an angle in -pi .. pi; NaN for infinities. */
INLINE double angle_of(double x)
{
    double turns = x * 0x1.45f306dc9c883p-3;
    double rest = turns - ((turns + ROUNDER) - ROUNDER);
    bool large = fabs(turns) >= 0x1p51; /* a double of this size is an integer */

    return (large ? turns - turns : rest) * 0x1.921fb54442d18p+2;
}

INLINE double sin_of(double x)
{
    double r = angle_of(x), t = r * r, sum = 1.0 / 51090942171709440000.0;

    sum = sum * t - 1.0 / 121645100408832000.0;
    sum = sum * t + 1.0 / 355687428096000.0;
    sum = sum * t - 1.0 / 1307674368000.0;
    sum = sum * t + 1.0 / 6227020800.0;
    sum = sum * t - 1.0 / 39916800;
    sum = sum * t + 1.0 / 362880;
    sum = sum * t - 1.0 / 5040;
    sum = sum * t + 1.0 / 120;
    sum = sum * t - 1.0 / 6;
    return (sum * t + 1) * r;
}

INLINE double cos_of(double x)
{
    double r = angle_of(x), t = r * r, sum = -1.0 / 1124000727777607680000.0;

    sum = sum * t + 1.0 / 2432902008176640000.0;
    sum = sum * t - 1.0 / 6402373705728000.0;
    sum = sum * t + 1.0 / 20922789888000.0;
    sum = sum * t - 1.0 / 87178291200.0;
    sum = sum * t + 1.0 / 479001600;
    sum = sum * t - 1.0 / 3628800;
    sum = sum * t + 1.0 / 40320;
    sum = sum * t - 1.0 / 720;
    sum = sum * t + 1.0 / 24;
    sum = sum * t - 0.5;
    return sum * t + 1;
}

INLINE double tanh_of(double x)
{
    double power = exp2_of(x * 0x1.71547652b82fep+1), square = x * x;
    double small = x * (1 - square * (1.0 / 3 - square * (2.0 / 15)));

    return fabs(x) < 0x1p-6 ? small : (power - 1) / (power + 1);
}

#endif
