/* digest.h - 128 bits that stand for any number of bytes.
 *
 * Different bytes practically never have the same digest. A digest is compared only with others of
 * the same process: each process has a seed of its own, so that no kernel can be written to have
 * the digest of another one.
 */
#ifndef SIM_TIME_DIGEST_H
#define SIM_TIME_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Digest {
    uint64_t low, high;
} Digest;

enum { DIGEST_LANES = 4 }; /* independent of each other, so that the host computes them together */

typedef struct Digester {
    uint64_t low[DIGEST_LANES], high[DIGEST_LANES];
} Digester;

void digest_begin(Digester *d);
/* Pieces count in their order. Zeros at the end of one do not, so the caller adds its length. */
void digest_bytes(Digester *d, const void *bytes, size_t count);
void digest_word(Digester *d, uint64_t word);
/* Of all pieces so far. */
Digest digest_of(const Digester *d);

static inline bool digest_is(Digest a, Digest b)
{
    return a.low == b.low && a.high == b.high;
}

#endif
