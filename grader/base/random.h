/* random.h - random numbers that cannot be predicted from others.
 *
 * Inputs follow from draws, and a student's kernel sees its inputs. So no set of draws may reveal
 * another one, whether a later one or one for another purpose. Each draw is SipHash-2-4 (J.-P.
 * Aumasson, D. J. Bernstein, 2012) of its purpose and number, under a key that never leaves this
 * process. The same seed gives the same draws.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

typedef enum DrawPurpose {
    DRAW_CONTENTS = 1, /* contents of inputs: seeds of samples */
    DRAW_PLACES,       /* places where outputs are compared */
    DRAW_ORDER,        /* the order of cases, and which kernel runs first */
    DRAW_SET,          /* the seed of one buffer set, from its sample's seed */
    DRAW_KEY,
    DRAW_PURPOSES,
} DrawPurpose;

typedef struct Draws {
    uint64_t key[2], hidden[2];    /* key: for contents and sets; hidden: for places and order */
    uint64_t count[DRAW_PURPOSES]; /* drawn so far */
} Draws;

/* The draws follow from a seed, its use (a lab's folder) and the kernel's text (NULL: none). The
 * text is included so that a kernel that prints its inputs learns nothing about those of the next
 * attempt, which has another text. The seed may be small or easy to guess: each guess costs a
 * millisecond. */
Draws draws_begin(uint64_t seed, const char *what, const char *text);

/* From now on no one can repeat the draws of places and order. Not called when a run is to be
 * replayed. */
void draws_hide(Draws *draws);

uint64_t draw(Draws *draws, DrawPurpose purpose);

/* The seed of buffer set k of a sample. It reveals neither the sample's seed nor another set's. */
uint64_t set_seed(uint64_t seed, int set);

/* SipHash-2-4 of one word. */
uint64_t keyed_hash(const uint64_t key[2], uint64_t word);

#endif
