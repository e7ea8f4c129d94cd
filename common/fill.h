/* fill.h - what an input array holds, as a function of seed, array and index alone.
 *
 * Host and device compute the same bits, so the grader knows any element of any input without
 * storing it, and a device fills memory as fast as it can write. Every element depends on its
 * index, so the comparison detects a kernel that swaps two elements.
 */
#ifndef FILL_H
#define FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fill_hash.h"

typedef enum FillKind {
    FILL_UNIFORM, /* reals in [-1, 1); one in 1024 is a spike, 1024 times as large */
    FILL_SMALL,   /* integers +-1 .. +-8, never 0: sums of them are exact in any order below 2^24 */
    FILL_WIDE,    /* reals of either sign, magnitudes log-uniform in [2^-20, 2^20) */
    FILL_RANGE,   /* integers lo .. hi - 1 */
    FILL_SUMMED,  /* as FILL_SMALL, but every 1024th makes its chunk's sum a hashed value */
    FILL_SKEWED,  /* as FILL_RANGE, but nine in ten are lo */
    FILL_RUNS,    /* as FILL_RANGE, but every 32 in a row (one warp's) are equal */
    FILL_UNIT,    /* reals in [-1, 1), without spikes */
    FILL_SIGNED,  /* integers +-1 .. +-hi; a hashed number of each chunk's are positive */
} FillKind;

/* FILL_SUMMED: elements per chunk. The last one brings the chunk's sum to a hashed value below
 * FILL_SUM in magnitude. So 10^5 hashes give the sum of 10^8 elements, and yet a kernel cannot
 * leave out any element: the sum of the others says nothing about it. */
enum { FILL_CHUNK = 1024, FILL_SUM = 512 };

/* FILL_SIGNED: of a chunk at least FILL_POSITIVE, and at most 127 more, are positive. Hashes alone
 * give the number of positive elements, and so where a compaction puts each. */
enum { FILL_POSITIVE = 448 };

typedef struct Fill {
    FillKind kind;
    int lo, hi; /* FILL_RANGE, FILL_SKEWED, FILL_RUNS; hi: FILL_SIGNED */
} Fill;

/* ---- Values from a word of the stream ---- */

FILL_FN int32_t fill_small_of(uint32_t bits)
{
    int32_t magnitude = (int32_t) (bits >> 29) + 1;

    return bits & 1 ? -magnitude : magnitude;
}

/* Not for FILL_SUMMED, nor for kinds that hold reals. */
FILL_FN int32_t fill_i32_of(Fill fill, uint32_t bits)
{
    /* Unsigned, since hi - lo may exceed an int. */
    uint32_t span = (uint32_t) fill.hi - (uint32_t) fill.lo;

    if (fill.kind == FILL_SMALL)
        return fill_small_of(bits);
    if (fill.kind == FILL_SIGNED) {
        int32_t magnitude = (int32_t) ((uint64_t) bits * (uint32_t) fill.hi >> 32) + 1;
        return bits & 1 ? magnitude : -magnitude;
    }
    if (fill.kind == FILL_SKEWED && fill_low(bits) % 10 != 0)
        return fill.lo;
    return (int32_t) ((uint32_t) fill.lo + (uint32_t) ((uint64_t) bits * span >> 32));
}

/* Not for FILL_SUMMED. */
FILL_FN float fill_f32_of(Fill fill, uint32_t bits)
{
    uint32_t word;
    float value;

    if (fill.kind != FILL_UNIFORM && fill.kind != FILL_UNIT && fill.kind != FILL_WIDE)
        return (float) fill_i32_of(fill, bits);
    if (fill.kind == FILL_UNIFORM || fill.kind == FILL_UNIT) {
        /* 23 bits give an exact multiple of 2^-22 in [-1, 1), without any rounding. */
        value = (float) ((int32_t) (bits >> 9) - 4194304) * (1.0f / 4194304.0f);
        return fill.kind == FILL_UNIFORM && (bits & 1023u) == 0 ? value * 1024.0f : value;
    }
    /* FILL_WIDE: sign, an exponent in [-20, 20), the mantissa bits; assembled as IEEE 754. */
    word = (bits & 1u) << 31 | (107u + ((bits >> 1) & 0x1ffu) * 40u / 512u) << 23 | bits >> 9;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* ---- Values of an array's element ---- */

FILL_FN int32_t fill_small(FillKey key, size_t index)
{
    return fill_small_of(fill_bits(key, index));
}

/* What all elements of a chunk share, drawn with another key than the elements. */
FILL_FN uint32_t fill_chunk_bits(FillKey key, size_t chunk)
{
    FillKey other = { ~key.b, key.a };

    return fill_bits(other, chunk);
}

/* FILL_SUMMED: the sum of chunk `chunk`. */
FILL_FN int32_t fill_chunk_sum(FillKey key, size_t chunk)
{
    return (int32_t) (fill_chunk_bits(key, chunk) % (2 * FILL_SUM)) - FILL_SUM;
}

/* FILL_SIGNED: how many elements of a whole chunk are positive. */
FILL_FN uint32_t fill_chunk_positive(uint32_t chunk_bits)
{
    return FILL_POSITIVE + (chunk_bits & 127);
}

/* FILL_SIGNED: the word with the sign of its element in the lowest bit; 1 is positive. Each step
 * permutes the 1024 places of the chunk, and the first places are positive. */
FILL_FN uint32_t fill_sign(uint32_t bits, uint32_t chunk_bits, size_t index)
{
    uint32_t place = (uint32_t) index * (chunk_bits >> 7 | 1) + (chunk_bits >> 17);

    place &= FILL_CHUNK - 1;
    place ^= place >> 5;
    place = place * 0x2e5 & (FILL_CHUNK - 1);
    place ^= place >> 4;
    return (bits & ~1u) | (place < fill_chunk_positive(chunk_bits));
}

FILL_FN int32_t fill_summed(FillKey key, size_t index)
{
    size_t first = index - index % FILL_CHUNK;
    int32_t rest;

    if (index % FILL_CHUNK != FILL_CHUNK - 1)
        return fill_small(key, index);
    rest = fill_chunk_sum(key, index / FILL_CHUNK);
    for (size_t i = first; i < index; i++)
        rest -= fill_small(key, i);
    return rest;
}

/* FILL_SUMMED: the sum of the first `count` elements. */
FILL_FN int64_t fill_sum(FillKey key, size_t count)
{
    size_t chunks = count / FILL_CHUNK;
    int64_t sum = 0;

    for (size_t chunk = 0; chunk < chunks; chunk++)
        sum += fill_chunk_sum(key, chunk);
    for (size_t i = chunks * FILL_CHUNK; i < count; i++)
        sum += fill_small(key, i);
    return sum;
}

/* The random word that determines an element; not for FILL_SUMMED. */
FILL_FN uint32_t fill_element(Fill fill, FillKey key, size_t index)
{
    uint32_t bits = fill_bits(key, fill.kind == FILL_RUNS ? index / 32 : index);

    return fill.kind == FILL_SIGNED
               ? fill_sign(bits, fill_chunk_bits(key, index / FILL_CHUNK), index)
               : bits;
}

/* The value as an integer; not for kinds that hold reals. */
FILL_FN int32_t fill_i32(Fill fill, FillKey key, size_t index)
{
    return fill.kind == FILL_SUMMED ? fill_summed(key, index)
                                    : fill_i32_of(fill, fill_element(fill, key, index));
}

FILL_FN float fill_f32(Fill fill, FillKey key, size_t index)
{
    return fill.kind == FILL_SUMMED ? (float) fill_summed(key, index)
                                    : fill_f32_of(fill, fill_element(fill, key, index));
}

#ifndef __CUDACC__
/* Returns false if an element shares its word with others, or has none of its own. */
static inline bool fill_has_words(Fill fill)
{
    return fill.kind != FILL_SUMMED && fill.kind != FILL_RUNS && fill.kind != FILL_SIGNED;
}

/* fill_f32() of `count` elements first, first + step, ..., several at a time. */
static inline void fill_f32s(Fill fill, FillKey key, size_t first, size_t step, size_t count,
                             float *to)
{
    enum { PIECE = 256 };
    uint32_t bits[PIECE];

    for (size_t done = 0, now; done < count; done += now) {
        now = count - done < PIECE ? count - done : PIECE;
        if (fill_has_words(fill))
            fill_bits_of(key, first + done * step, step, now, bits);
        for (size_t i = 0; i < now; i++)
            to[done + i] = fill_has_words(fill) ? fill_f32_of(fill, bits[i])
                                                : fill_f32(fill, key, first + (done + i) * step);
    }
}
#endif

#endif
