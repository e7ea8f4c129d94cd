/* digest.c - computes digests, several bytes per cycle of the host. */
#include "sim/time/digest.h"

#include <string.h>
#include <sys/auxv.h>

enum { WORD = sizeof(uint64_t), PIECE = DIGEST_LANES * WORD };

static const uint64_t factors[DIGEST_LANES] = { 0x9e3779b97f4a7c15ull, 0xbf58476d1ce4e5b9ull,
                                                0x94d049bb133111ebull, 0xd6e8feb86659fd93ull };

/* Different words lead to different states, and a product of 128 bits carries the difference on. */
static inline void add(uint64_t *low, uint64_t *high, uint64_t word, uint64_t factor)
{
    const unsigned __int128 product = (unsigned __int128) (*low ^ word) * factor;

    *low = (uint64_t) product + *high;
    *high = (uint64_t) (product >> 64);
}

static inline uint64_t word_at(const unsigned char *at, size_t bytes)
{
    uint64_t word = 0;

    memcpy(&word, at, bytes);
    return word;
}

/* Whole words, and a last half of one: all arrays of a trace have nothing else. */
static inline void add_rest(Digester *d, const unsigned char *at, size_t count)
{
    int lane = 0;

    for (; count >= WORD; count -= WORD, at += WORD, lane++)
        add(&d->low[lane], &d->high[lane], word_at(at, WORD), factors[lane]);
    if (count == WORD / 2)
        add(&d->low[lane], &d->high[lane], word_at(at, WORD / 2), factors[lane]);
    else if (count)
        add(&d->low[lane], &d->high[lane], word_at(at, count), factors[lane]);
}

void digest_begin(Digester *d)
{
    /* The kernel gives each process 16 random bytes, without a system call. */
    const unsigned char *random = (const unsigned char *) (uintptr_t) getauxval(AT_RANDOM);
    uint64_t seed[2] = { 0 };

    if (random)
        memcpy(seed, random, sizeof seed);
    for (int i = 0; i < DIGEST_LANES; i++) {
        d->low[i] = seed[0] ^ factors[i];
        d->high[i] = seed[1];
    }
}

void digest_word(Digester *d, uint64_t word)
{
    add(&d->low[0], &d->high[0], word, factors[0]);
}

void digest_bytes(Digester *d, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    Digester now = *d; /* in registers */

    for (; count >= PIECE; count -= PIECE, at += PIECE)
        for (int i = 0; i < DIGEST_LANES; i++)
            add(&now.low[i], &now.high[i], word_at(at + i * WORD, WORD), factors[i]);
    *d = now;
    add_rest(d, at, count);
}

Digest digest_of(const Digester *d)
{
    uint64_t low = d->low[0], high = d->high[0];

    for (int i = 1; i < DIGEST_LANES; i++) {
        add(&low, &high, d->low[i], factors[i]);
        add(&low, &high, d->high[i], factors[i]);
    }
    add(&low, &high, high, factors[0]);
    return (Digest){ low, high };
}
