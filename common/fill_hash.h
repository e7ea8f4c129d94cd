/* fill_hash.h - the pseudorandom function behind fill.h. */
#ifndef FILL_HASH_H
#define FILL_HASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define FILL_FN static __host__ __device__ __forceinline__
#else
#define FILL_FN static inline
#endif

/* The secret that one array's contents follow from. */
typedef struct FillKey {
    uint32_t a, b;
} FillKey;

FILL_FN uint32_t fill_turn(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* One round of HalfSipHash (J.-P. Aumasson, D. J. Bernstein, 2012 and 2017). */
FILL_FN void fill_round(uint32_t v[4])
{
    v[0] += v[1], v[1] = fill_turn(v[1], 5) ^ v[0], v[0] = fill_turn(v[0], 16);
    v[2] += v[3], v[3] = fill_turn(v[3], 8) ^ v[2];
    v[0] += v[3], v[3] = fill_turn(v[3], 7) ^ v[0];
    v[2] += v[1], v[1] = fill_turn(v[1], 13) ^ v[2], v[2] = fill_turn(v[2], 16);
}

FILL_FN void fill_absorb(uint32_t v[4], uint32_t word)
{
    v[3] ^= word;
    fill_round(v);
    v[0] ^= word;
}

/* HalfSipHash-1-3 of the index's eight bytes: a pseudorandom function with a key of 64 bits. Its
 * state is four times as wide as its result, so however many elements a kernel reads, they give
 * away neither the key nor any other element. A hash that can be inverted would: a kernel that
 * knows the key writes the expected result without doing the work. */
FILL_FN uint32_t fill_bits(FillKey key, size_t index)
{
    uint32_t v[4] = { key.a, key.b, 0x6c796765u ^ key.a, 0x74656462u ^ key.b };

    fill_absorb(v, (uint32_t) index);
    fill_absorb(v, (uint32_t) ((uint64_t) index >> 32));
    fill_absorb(v, (uint32_t) sizeof(uint64_t) << 24);
    v[2] ^= 0xff;
    fill_round(v);
    fill_round(v);
    fill_round(v);
    return v[1] ^ v[3];
}

/* One array's key says nothing about the seed or about another array's key. */
FILL_FN FillKey fill_key(uint64_t seed, int array)
{
    FillKey whole = { (uint32_t) seed, (uint32_t) (seed >> 32) };
    size_t first = 2 * (size_t) array;
    FillKey key = { fill_bits(whole, first), fill_bits(whole, first + 1) };

    return key;
}

/* For a second choice beside one that uses the high bits: the low half, independent of them. */
FILL_FN uint32_t fill_low(uint32_t bits)
{
    return bits & 0xffff;
}

#endif
