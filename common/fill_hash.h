/* fill_hash.h - the pseudorandom function behind fill.h. */
#ifndef FILL_HASH_H
#define FILL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define FILL_FN static __host__ __device__ __forceinline__
#else
#define FILL_FN static inline
#endif

/* The secret that determines one array's contents. */
typedef struct FillKey {
    uint32_t a, b;
} FillKey;

/* One round of HalfSipHash (J.-P. Aumasson, D. J. Bernstein, 2012 and 2017), of words or of vectors
 * of words. */
#define FILL_TURN(x, by) ((x) << (by) | (x) >> (32 - (by)))
#define FILL_ROUND(v)                                                                              \
    do {                                                                                           \
        v[0] += v[1], v[1] = FILL_TURN(v[1], 5) ^ v[0], v[0] = FILL_TURN(v[0], 16);                \
        v[2] += v[3], v[3] = FILL_TURN(v[3], 8) ^ v[2];                                            \
        v[0] += v[3], v[3] = FILL_TURN(v[3], 7) ^ v[0];                                            \
        v[2] += v[1], v[1] = FILL_TURN(v[1], 13) ^ v[2], v[2] = FILL_TURN(v[2], 16);               \
    } while (0)

enum { FILL_ROUNDS = 6, FILL_DOMAIN = 0x6c796765 };

/* Words 4 group .. 4 group + 3 of the pseudorandom stream that the key selects.
 *
 * They are a permutation of key and position, plus key and position, as in ChaCha's block function
 * (D. J. Bernstein, 2008); the permutation applies HalfSipHash's round as often as HalfSipHash-1-3
 * does for eight bytes. The addition cannot be undone without the key, so the elements that a
 * kernel reads reveal neither the key nor any other element. A hash that can be inverted would
 * reveal the key, and a kernel that knows the key can write the expected result without doing the
 * work. */
FILL_FN void fill_words(FillKey key, uint64_t group, uint32_t words[4])
{
    const uint32_t first[4] = { key.a, key.b, (uint32_t) group,
                                (uint32_t) (group >> 32) ^ FILL_DOMAIN };

    for (int i = 0; i < 4; i++)
        words[i] = first[i];
    for (int round = 0; round < FILL_ROUNDS; round++)
        FILL_ROUND(words);
    for (int i = 0; i < 4; i++)
        words[i] += first[i];
}

/* Does not use words[i]: on a GPU an array with a variable index is stored in memory, not in
 * registers. */
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

#ifndef __CUDACC__
/* Several groups at a time; the compiler turns them into vector instructions. */
enum { FILL_LANES = 8 };
typedef uint32_t FillVector __attribute__((vector_size(4 * FILL_LANES)));

/* words[i][j] is word i of group[j]. */
static inline __attribute__((always_inline)) void
fill_words_of(FillKey key, const uint64_t group[FILL_LANES], uint32_t words[4][FILL_LANES])
{
    const FillVector none = { 0 };
    FillVector first[4] = { none + key.a, none + key.b }, v[4];

    for (int j = 0; j < FILL_LANES; j++) {
        words[0][j] = (uint32_t) group[j];
        words[1][j] = (uint32_t) (group[j] >> 32) ^ FILL_DOMAIN;
    }
    memcpy(&first[2], words, 2 * sizeof *first);
    memcpy(v, first, sizeof v);
    for (int round = 0; round < FILL_ROUNDS; round++)
        FILL_ROUND(v);
    for (int i = 0; i < 4; i++)
        v[i] += first[i];
    memcpy(words, v, sizeof v);
}

/* With gcc and glibc a function is compiled twice, once for processors with AVX2, and the loader
 * chooses. This matters because comparing 10^8 elements spends much of its time here. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__)
#define FILL_CLONES __attribute__((target_clones("avx2", "default"), unused)) static
#else
#define FILL_CLONES static inline
#endif

/* fill_bits() of `count` indices: first, first + step, ... */
FILL_CLONES void fill_bits_of(FillKey key, size_t first, size_t step, size_t count, uint32_t *bits)
{
    uint64_t group[FILL_LANES];
    uint32_t words[4][FILL_LANES];
    size_t i = 0;

    for (; step == 1 && i < count && (first + i) & 3; i++)
        bits[i] = fill_bits(key, first + i);
    for (; step == 1 && i + 4 * FILL_LANES <= count; i += 4 * FILL_LANES) {
        for (int j = 0; j < FILL_LANES; j++)
            group[j] = (first + i) / 4 + (size_t) j;
        fill_words_of(key, group, words);
        for (size_t j = 0; j < FILL_LANES; j++)
            for (size_t k = 0; k < 4; k++)
                bits[i + 4 * j + k] = words[k][j];
    }
    for (; step != 1 && i + FILL_LANES <= count; i += FILL_LANES) {
        for (size_t j = 0; j < FILL_LANES; j++)
            group[j] = (first + (i + j) * step) >> 2;
        fill_words_of(key, group, words);
        for (size_t j = 0; j < FILL_LANES; j++)
            bits[i + j] = words[(first + (i + j) * step) & 3][j];
    }
    for (; i < count; i++)
        bits[i] = fill_bits(key, first + i * step);
}
#endif

/* One array's key says nothing about the seed or about another array's key. */
FILL_FN FillKey fill_key(uint64_t seed, int array)
{
    FillKey whole = { (uint32_t) seed, (uint32_t) (seed >> 32) };
    size_t first = 2 * (size_t) array;
    FillKey key = { fill_bits(whole, first), fill_bits(whole, first + 1) };

    return key;
}

/* The low half, for a second choice that is independent of one made with the high bits. */
FILL_FN uint32_t fill_low(uint32_t bits)
{
    return bits & 0xffff;
}

#endif
