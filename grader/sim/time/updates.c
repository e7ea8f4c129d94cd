/* updates.c - atomics on shared memory that the hardware lacks, such as on floating-point numbers.
 *
 * They are loops of a load, an operation and a compare-and-swap, which fails if another lane or
 * warp was first. So updates of one word follow each other: an H200 needs 50 cycles for each
 * (tests/sim/time/mechanisms, shared_f32.lanes).
 */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 4096 }; /* two words that share an entry wait for each other */

static uint64_t *word_of(const Sm *sm, const PlayedBlock *block, uint64_t word)
{
    const uint64_t key = (block->number << 32 | word) * 0x9e3779b97f4a7c15ull;

    return &sm->updates[key / (UINT64_MAX / WORDS + 1)];
}

uint64_t updates_play(Sm *sm, const PlayedWarp *w, const uint64_t *words, int count, uint64_t start)
{
    const uint64_t cycles = (uint64_t) sm->gpu->device.shared_update_cycles;
    uint64_t last = start;

    if (!sm->updates)
        sm->updates = calloc(WORDS, sizeof *sm->updates);
    sm->failed |= !sm->updates;
    for (int i = 0; i < count && sm->updates; i++) {
        uint64_t *free_at = word_of(sm, w->block, trace_number(words[i]));
        *free_at = later(*free_at, start) + trace_amount(words[i]) * cycles;
        last = later(last, *free_at);
    }
    return last;
}

void updates_forget(Sm *sm)
{
    if (sm->updates)
        memset(sm->updates, 0, WORDS * sizeof *sm->updates);
}
