/* common.h - small functions that several folders of the simulator use. */
#ifndef SIM_BASE_COMMON_H
#define SIM_BASE_COMMON_H

#include <stddef.h>
#include <stdint.h>

/* The ending of a noun: "3 bytes", "1 byte". */
static inline const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* The later of two times. */
static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The number of bits that are set. Inlined: without an option for the processor's instruction, gcc
 * calls a function for __builtin_popcount(). */
static inline unsigned lanes_in(uint32_t mask)
{
    if (mask == UINT32_MAX) /* nearly always */
        return 32;
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

#endif
