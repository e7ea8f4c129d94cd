/* race_lines.c - the access history of global memory: see RaceLine. */
#include "sim/check/race_lines.h"

#include <stdlib.h>

struct RaceLines race_lines;

Side *line_spread(Slot *side)
{
    uint32_t number;
    Side *words;

    if (line_is_spread(*side))
        return line_side(*side);
    if (!(words = pool_take(&number)))
        return NULL;
    for (int i = 0; i < LINE; i++)
        side_put(words, i, line_word(*side, i));
    *side = (Slot){ race_lines.spread,
                    (number & ~LINE_SPREAD & WHO) | LINE_SPREAD | number >> 14 << 16 };
    return words;
}

Side *line_words_at(Slot side, int i, int count, Side *room)
{
    const bool is_old = side.when <= race_lines.ordered_until;
    const uint32_t tag = side.tag & ~(uint32_t) WHO_SHIFT;
    const int shift = side.tag >> 14 & 3;

    if (line_is_spread(side))
        return line_side(side);
    for (int k = i; k < i + count; k++)
        side_put(room, k,
                 is_old ? (Slot){ 0 } : (Slot){ side.when, tag + ((uint32_t) k >> shift) });
    return room;
}

/* Converts lines of 4-byte words to lines of single bytes. */
static void copy_lines(GlobalWords *to, const GlobalWords *from)
{
    const int more = from->log2_grain - to->log2_grain, lines = 1 << more;

    for (size_t n = 0; n <= (from->bytes >> from->log2_grain) / LINE; n++)
        for (int s = 0; s < 2; s++) {
            Slot old = from->line[n].side[s];
            if (old.when <= race_lines.ordered_until)
                continue;
            for (int k = 0; k < LINE * lines; k++) {
                size_t line = n * (size_t) lines + (size_t) k / LINE;
                Side *words = line <= (to->bytes >> to->log2_grain) / LINE
                                  ? line_spread(&to->line[line].side[s])
                                  : NULL;
                if (words)
                    side_put(words, k % LINE, line_word(old, k >> more));
            }
        }
}

static GlobalWords *new_words(size_t bytes, int log2_grain)
{
    size_t lines = ((bytes >> log2_grain) / LINE + 1) * sizeof(RaceLine);
    GlobalWords *words = pool_spend(lines) ? calloc(1, sizeof *words + lines) : NULL;

    if (!words)
        return NULL;
    words->bytes = bytes;
    words->log2_grain = log2_grain;
    return words;
}

GlobalWords *line_words(Allocation *a, int width)
{
    GlobalWords *old = a->races, *words;

    if (old && (old->log2_grain == 0 || width >= 4))
        return old;
    words = new_words(a->bytes, width < 4 ? 0 : 2);
    if (!words)
        return NULL;
    if (old)
        copy_lines(words, old);
    free(old);
    return a->races = words;
}
