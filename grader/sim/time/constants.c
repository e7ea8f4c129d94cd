/* constants.c - an SM's loads of constants (LDC).
 *
 * Their unit takes a cycle or two for each address that lanes have. Pieces of 64 bytes that its
 * small cache lacks come from the next cache one after the other, while other loads continue
 * (tests/sim/time/mechanisms, constants).
 */
#include "sim/time/model.h"

#include <string.h>

/* Occupies the unit. A warp whose loads wait issues later. Returns when the unit begins. */
static uint64_t begin_load(Sm *sm, PlayedWarp *w, uint64_t now, uint64_t cycles)
{
    const uint64_t start = later(now, sm->constants_free);

    sm->constants_free = start + cycles;
    w->next += start - now;
    return start;
}

/* Makes the piece the most recently used one. Returns when it is in the cache. */
static uint64_t fetch_piece(Sm *sm, uint64_t piece, uint64_t now)
{
    ConstantPiece *pieces = sm->constants, wanted = { .number = piece };
    int at = 0;

    while (at < CONSTANT_PIECES - 1 && pieces[at].number != piece)
        at++;
    if (pieces[at].number == piece)
        wanted.ready = pieces[at].ready;
    else
        wanted.ready = sm->pieces_free =
            later(sm->pieces_free, now) + (uint64_t) sm->gpu->device.constant_miss_cycles;
    memmove(pieces + 1, pieces, (size_t) at * sizeof *pieces);
    pieces[0] = wanted;
    return wanted.ready;
}

uint64_t constants_load(Sm *sm, PlayedWarp *w, uint64_t now)
{
    const Operation *o = w->step->operation;
    const uint64_t *words = w->step->accesses ? w->access[w->step->access] : NULL;
    const uint64_t cycles = o->cycles * (words ? trace_wavefronts(*words) : 1);
    const uint64_t start = begin_load(sm, w, now, cycles);
    uint64_t there = start + cycles;

    for (int i = 1; words && i <= trace_following(*words); i++)
        there = later(there, fetch_piece(sm, words[i], start));
    return there - o->cycles + o->latency;
}

uint64_t constants_operands(Sm *sm, PlayedWarp *w, uint64_t now)
{
    const Operation *o = w->step->operation;

    return begin_load(sm, w, now, (uint64_t) (o->constants * sm->gpu->device.constant_cycles)) -
           now;
}

void constants_forget(Sm *sm)
{
    for (int i = 0; i < CONSTANT_PIECES; i++)
        sm->constants[i] = (ConstantPiece){ .number = NO_LINE };
    sm->constants_free = sm->pieces_free = 0;
}
