/* random.h - random numbers that nobody can foretell who has seen others of them.
 *
 * Inputs follow from draws, and a student's kernel sees its inputs; so from any number of draws no
 * other one may follow, neither later nor of another purpose. Each is SipHash-2-4 (J.-P. Aumasson,
 * D. J. Bernstein, 2012) of its purpose and number, under a key that never leaves this process.
 * With the same seed the same draws come again.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

typedef enum DrawPurpose {
    DRAW_CONTENTS = 1, /* of inputs: seeds of samples */
    DRAW_PLACES,       /* where outputs are compared */
    DRAW_ORDER,        /* of cases and sides */
    DRAW_SET,          /* of one buffer set, from its sample's seed */
    DRAW_KEY,
    DRAW_PURPOSES,
} DrawPurpose;

typedef struct Draws {
    uint64_t key[2], hidden[2];    /* of contents and sets; of places and order */
    uint64_t count[DRAW_PURPOSES]; /* drawn so far */
} Draws;

/* From a seed, what it is used for (a lab's folder), and the kernel's text: a kernel that prints
 * its inputs learns nothing about those of the next attempt, which is another text. NULL: none. A
 * seed may be small, or guessed at: each guess costs a millisecond. */
Draws draws_begin(uint64_t seed, const char *what, const char *text);

/* From now on places and order are nobody's to repeat: unless a run is to be replayed. */
void draws_hide(Draws *draws);

uint64_t draw(Draws *draws, DrawPurpose purpose);

/* The seed of buffer set k of a sample: neither that of the sample nor that of another set follows
 * from it. */
uint64_t set_seed(uint64_t seed, int set);

/* SipHash-2-4 of one word. */
uint64_t keyed_hash(const uint64_t key[2], uint64_t word);

#endif
