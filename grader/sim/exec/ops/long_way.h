/* long_way.h - operands for which quotients and roots take the long way: ptxas's code tests their
 * exponents, and branches to a subroutine if they are close to the limits of the range, or 0. Small
 * powers of two need no subroutine, but one more instruction under a guard. */
#ifndef SIM_EXEC_OPS_LONG_WAY_H
#define SIM_EXEC_OPS_LONG_WAY_H

#include "sim/exec/ops/handlers.h"
#include "sim/exec/trace.h"

/* FCHK: not documented. A numerator of 0 is certain, from an H200's counters. */
INLINE uint32_t quotients_f32(const Lane32 *a, const Lane32 *b)
{
    uint32_t lanes = 0;

    for (int i = 0; i < LANES; i++) {
        const int x = a[i] >> 23 & 255, y = b[i] >> 23 & 255;
        const bool fits = x > 0 && x < 255 && y > 0 && y < 253 && x - y < 126 && y - x < 126;
        lanes |= fits ? 0 : lane_bit[i];
    }
    return lanes;
}

INLINE uint32_t quotients_f64(const Lane64 *a)
{
    uint32_t lanes = 0;

    for (int i = 0; i < LANES; i++)
        lanes |= (a[i] >> 32 & 0x7fffffff) < 0x03600000 ? lane_bit[i] : 0;
    return lanes;
}

INLINE uint32_t reciprocals_f32(const Lane32 *a)
{
    uint32_t lanes = 0;

    for (int i = 0; i < LANES; i++)
        lanes |= (((uint32_t) a[i] + 0x01800000u) & 0x7f800000u) <= 0x01ffffffu ? lane_bit[i] : 0;
    return lanes;
}

INLINE uint32_t roots_f32(const Lane32 *a)
{
    uint32_t lanes = 0;

    for (int i = 0; i < LANES; i++)
        lanes |= (uint32_t) a[i] - 0x0d000000u > 0x727fffffu ? lane_bit[i] : 0;
    return lanes;
}

/* Counts those of `lanes` that execute the step. */
INLINE void note_long_way(Warp *warp, const Step *step, uint32_t mask, uint32_t lanes)
{
    Count *count = count_of(warp, step);

    lanes &= mask;
    count->long_lanes += (unsigned) __builtin_popcount(lanes);
    count->long_warps += lanes != 0;
    if (lanes && warp->trace)
        trace_long_way(warp);
}

/* Powers of two below 2^-126: ptxas halves the exponent, and has these lanes square the result. */
INLINE uint32_t small_powers_f32(const Lane32 *a)
{
    uint32_t lanes = 0;

    for (int i = 0; i < LANES; i++)
        lanes |= f32_bits(a[i]) < -126 ? lane_bit[i] : 0;
    return lanes;
}

/* Counts those of `lanes` that execute the step. Time needs no trace of them. */
INLINE void note_scaled(Warp *warp, const Step *step, uint32_t mask, uint32_t lanes)
{
    count_of(warp, step)->long_lanes += (unsigned) __builtin_popcount(lanes & mask);
}

#define SCALED(which, ...)   note_scaled(warp, step, mask, which(__VA_ARGS__))
#define LONG_WAY(which, ...) note_long_way(warp, step, mask, which(__VA_ARGS__))

#endif
