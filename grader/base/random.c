/* random.c - random numbers that cannot be predicted from others. */
#include "base/random.h"
#include "base/util.h"

#include <string.h>

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], int count)
{
    while (count--) {
        v[0] += v[1], v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

/* SipHash of an eight-byte message: one word, then a last word that holds the length. */
uint64_t keyed_hash(const uint64_t key[2], uint64_t word)
{
    const uint64_t message[2] = { word, (uint64_t) sizeof word << 56 };
    uint64_t v[4] = { key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
                      key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull };

    for (int i = 0; i < 2; i++) {
        v[3] ^= message[i];
        rounds(v, 2);
        v[0] ^= message[i];
    }
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t word_of(DrawPurpose purpose, uint64_t number)
{
    return (uint64_t) purpose << 56 | number;
}

/* Makes each guess at a seed expensive. */
enum { STRETCH = 20000 };

/* Mixes a text into the key, so that no student can choose two texts that give the same key. */
static void take_in(uint64_t key[2], const char *text)
{
    for (size_t length = strlen(text), at = 0; at <= length; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, text + at, length - at < sizeof word ? length - at : sizeof word);
        const uint64_t next[2] = { keyed_hash(key, word), keyed_hash(key, ~word) };
        memcpy(key, next, sizeof next);
    }
}

Draws draws_begin(uint64_t seed, const char *what, const char *text)
{
    Draws draws = { .key = { seed, DRAW_KEY } };

    take_in(draws.key, what);
    if (text)
        take_in(draws.key, text);
    for (int i = 0; i < STRETCH; i++) {
        const uint64_t next[2] = { keyed_hash(draws.key, word_of(DRAW_KEY, 0)),
                                   keyed_hash(draws.key, word_of(DRAW_KEY, 1)) };
        memcpy(draws.key, next, sizeof next);
    }
    memcpy(draws.hidden, draws.key, sizeof draws.hidden);
    return draws;
}

void draws_hide(Draws *draws)
{
    draws->hidden[0] = secret();
    draws->hidden[1] = secret();
}

uint64_t draw(Draws *draws, DrawPurpose purpose)
{
    bool hidden = purpose == DRAW_PLACES || purpose == DRAW_ORDER;

    return keyed_hash(hidden ? draws->hidden : draws->key,
                      word_of(purpose, draws->count[purpose]++));
}

uint64_t set_seed(uint64_t seed, int set)
{
    const uint64_t key[2] = { seed, DRAW_SET };

    return keyed_hash(key, word_of(DRAW_SET, (uint64_t) set));
}
