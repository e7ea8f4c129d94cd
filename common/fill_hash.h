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

enum { FILL_ROUNDS = 8 };

/* Words 4 group .. 4 group + 3 of the pseudorandom stream that the key selects.
 *
 * They are a permutation of key and position, plus key and position, as in ChaCha's block function
 * (D. J. Bernstein, 2008); the permutation has HalfSipHash's round and as many of them as Chaskey
 * (N. Mouha et al., 2014). Without the key nobody can undo the addition, so however many elements a
 * kernel reads, they give away neither the key nor any other element. A hash that can be inverted
 * would: a kernel that knows the key writes the expected result without doing the work. */
FILL_FN void fill_words(FillKey key, uint64_t group, uint32_t words[4])
{
    const uint32_t first[4] = { key.a, key.b, (uint32_t) group,
                                (uint32_t) (group >> 32) ^ 0x6c796765u };

    for (int i = 0; i < 4; i++)
        words[i] = first[i];
    for (int round = 0; round < FILL_ROUNDS; round++)
        fill_round(words);
    for (int i = 0; i < 4; i++)
        words[i] += first[i];
}

/* Not words[i]: an array with an index that is no constant lies in a GPU's memory. */
FILL_FN uint32_t fill_pick(const uint32_t words[4], size_t i)
{
    uint32_t low = i & 1 ? words[1] : words[0], high = i & 1 ? words[3] : words[2];

    return i & 2 ? high : low;
}

FILL_FN uint32_t fill_bits(FillKey key, size_t index)
{
    uint32_t words[4];

    fill_words(key, (uint64_t) index >> 2, words);
    return fill_pick(words, index);
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
