/* bits.h - one bit per byte of memory: marks bytes as written, or as forbidden. */
#ifndef SIM_BASE_BITS_H
#define SIM_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline size_t bits_room(size_t bytes)
{
    return bytes / 8 + 1;
}

/* Mask for the bits of bytes first .. first + count - 1 (1 <= count <= 8) that lie in one byte of
 * the map. */
static inline uint8_t bits_few(size_t first, size_t count)
{
    return (uint8_t) (((1u << count) - 1) << (first & 7));
}

static inline void bits_fill(uint8_t *bits, size_t first, size_t count, bool value)
{
    while (count) {
        size_t room = 8 - (first & 7), n = count < room ? count : room;
        if (n == 8 && count >= 64) {
            memset(bits + first / 8, value ? 255 : 0, count / 8);
            n = count / 8 * 8;
        } else if (value) {
            bits[first / 8] |= bits_few(first, n);
        } else {
            bits[first / 8] &= (uint8_t) ~bits_few(first, n);
        }
        first += n;
        count -= n;
    }
}

/* The first of `count` bits, starting at `first`, that differs from `value`; first + count if none
 * does. */
static inline size_t bits_other(const uint8_t *bits, size_t first, size_t count, bool value)
{
    const uint8_t same = value ? 255 : 0;
    const uint64_t same8 = value ? UINT64_MAX : 0;
    size_t end = first + count;

    while (first < end) {
        if (!(first & 7) && end - first >= 64 && !memcmp(bits + first / 8, &same8, 8))
            first += 64;
        else if (!(first & 7) && end - first >= 8 && bits[first / 8] == same)
            first += 8;
        else if ((bits[first / 8] >> (first & 7) & 1) == value)
            first++;
        else
            break;
    }
    return first;
}

static inline uint64_t bits_word(const uint8_t *bits)
{
    uint64_t word;

    memcpy(&word, bits, sizeof word);
    return word;
}

/* As bits_all(), for at least 64 bits: whole words, of which the last two may overlap. */
static inline bool bits_all_words(const uint8_t *bits, size_t first, size_t count, bool value)
{
    const uint64_t same = value ? UINT64_MAX : 0;
    const size_t end = first + count, stop = (end + 7) / 8;
    uint64_t wrong = (bits_word(bits + first / 8) ^ same) >> (first & 7);

    for (size_t at = first / 8 + 8; at + 8 < stop && !wrong; at += 8)
        wrong |= bits_word(bits + at) ^ same;
    wrong |= (bits_word(bits + stop - 8) ^ same) << (stop * 8 - end);
    return !wrong;
}

static inline bool bits_all(const uint8_t *bits, size_t first, size_t count, bool value)
{
    if (count >= 64)
        return bits_all_words(bits, first, count, value);
    const uint8_t same = value ? 255 : 0;
    const size_t end = first + count;
    size_t at = first / 8;

    if ((first & 7) + count <= 8)
        return ((bits[at] ^ same) & bits_few(first, count)) == 0;
    unsigned wrong = (unsigned) (bits[at++] ^ same) >> (first & 7);
    for (; at < end / 8; at++)
        wrong |= bits[at] ^ same;
    if (end & 7)
        wrong |= (bits[at] ^ same) & bits_few(0, end & 7);
    return !wrong;
}

#endif
