/* race_lines.h - the access history of global memory, in lines: see RaceLine. */
#ifndef SIM_CHECK_RACE_LINES_H
#define SIM_CHECK_RACE_LINES_H

#include "sim/check/race.h"

extern struct RaceLines {
    uint32_t ordered_until; /* the last epoch of earlier launches */
    uint32_t spread;        /* `when` of lines that have a Side in this launch */
} race_lines;

static inline bool line_is_spread(Slot side)
{
    return (side.tag & WHO_SHIFT) == LINE_SPREAD && side.when == race_lines.spread;
}

static inline Side *line_side(Slot side)
{
    return pool_side((side.tag & WHO & ~LINE_SPREAD) | side.tag >> 16 << 14);
}

static inline Slot line_word(Slot side, int i)
{
    if (line_is_spread(side))
        return side_get(line_side(side), i);
    if (side.when <= race_lines.ordered_until)
        return (Slot){ 0 };
    side.tag = (side.tag & ~(uint32_t) WHO_SHIFT) + ((uint32_t) i >> (side.tag >> 14 & 3));
    return side;
}

/* Whether one Slot can describe this side for accesses of this shift, or the side is empty. */
static inline bool line_fits(const Visit *v, Slot side, uint32_t shift)
{
    return side.when <= v->ordered_until || (side.tag & WHO_SHIFT) == shift;
}

/* The words of one side of a line, each with a history of its own. NULL: out of memory. */
Side *line_spread(Slot *side);
/* Where words i .. i + count - 1 of a side are: in its Side, or written out to the same places of
 * `room`. */
Side *line_words_at(Slot side, int i, int count, Side *room);
/* The history, with words small enough for accesses of `width` bytes; NULL if out of memory. */
GlobalWords *line_words(Allocation *a, int width);

#endif
