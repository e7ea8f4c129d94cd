/* kinds.h - eight ways to advance a random number generator; the same on host and device.
 *
 * Each step is one multiplication and four shifts, rotations or logical operations, so that all
 * kinds cost the same. Each kind combines them differently, so that no two can share
 * instructions. (They were made for this lab; do not use them for anything else.)
 */
#ifndef KINDS_H
#define KINDS_H

#include <stdint.h>

#ifdef __CUDACC__
#define KIND_FN     static __host__ __device__ __forceinline__
#define KIND_UNROLL _Pragma("unroll 8")
#else
#define KIND_FN static inline
#define KIND_UNROLL
#endif

enum { KINDS = 8 };

KIND_FN uint32_t kind_turn(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

KIND_FN uint32_t kind_0(uint32_t x)
{
    x ^= x >> 15;
    x = x * 0x2c1b3c6du + 0x297a2d39u;
    return x ^ kind_turn(x, 9);
}

KIND_FN uint32_t kind_1(uint32_t x)
{
    uint32_t y = x * 0x915f77f5u + 0x6d2b79f5u;

    return kind_turn(kind_turn(y, 7) ^ y >> 3 ^ x, 13);
}

KIND_FN uint32_t kind_2(uint32_t x)
{
    uint32_t y = kind_turn(x, 3), z = kind_turn(x, 20);

    return (((x & y) | (x & z) | (y & z)) * 0x9e3779b1u + x) ^ z;
}

KIND_FN uint32_t kind_3(uint32_t x)
{
    uint32_t y = kind_turn(x, 6), z = x >> 10;

    return (((y & z) | (~y & x)) * 0x85ebca77u + z) ^ y ^ x;
}

KIND_FN uint32_t kind_4(uint32_t x)
{
    uint32_t y = x * 0xc2b2ae3du + 0x27d4eb2fu;

    y ^= y >> 16;
    return (kind_turn(y, 5) & x) ^ y;
}

KIND_FN uint32_t kind_5(uint32_t x)
{
    uint32_t y = x >> 5 ^ kind_turn(x, 4) ^ 0x165667b1u;

    return (y * 0xd6e8feb9u + x) ^ (x | 0xa5a5a5a5u);
}

KIND_FN uint32_t kind_6(uint32_t x)
{
    uint32_t y = kind_turn(x, 16), z = y * 0xcc9e2d51u + x;

    return z >> 7 ^ kind_turn(z, 22) ^ y;
}

KIND_FN uint32_t kind_7(uint32_t x)
{
    uint32_t y = x >> 12 | (x & 0x5bd1e995u);

    return (kind_turn(y, 19) ^ x) * 0x1b873593u + y;
}

#define KIND_CASE(k)                                                                               \
    case k:                                                                                        \
        KIND_UNROLL                                                                                \
        for (int i = 0; i < rounds; i++)                                                           \
            x = kind_##k(x);                                                                       \
        return x

/* x after `rounds` steps of a kind. */
KIND_FN uint32_t kind_advance(int kind, uint32_t x, int rounds)
{
    switch (kind) {
        KIND_CASE(0);
        KIND_CASE(1);
        KIND_CASE(2);
        KIND_CASE(3);
        KIND_CASE(4);
        KIND_CASE(5);
        KIND_CASE(6);
        KIND_CASE(7);
    }
    return 0;
}

#endif
