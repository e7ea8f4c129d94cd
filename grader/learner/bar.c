/* bar.c - draws a speed as a bar of characters. */
#include "learner/bar.h"
#include "base/marks.h"
#include "base/util.h"

#include <math.h>

static int clamp(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

/* How many of these cells are full. Only a kernel without any speed has none. */
static int cells_full(double ratio, double bar, int cells, int mark)
{
    const int full = clamp((int) lround(fmin(ratio, 1) * cells), ratio > 0, cells);

    if (mark < 0)
        return full;
    return ratio >= bar ? clamp(full, mark, cells) : clamp(full, 0, mark > 1 ? mark - 1 : 0);
}

char *bar_draw(double ratio, double bar, char *text, size_t size)
{
    const int mark = bar > 0 ? clamp((int) lround(bar * BAR_CELLS), 0, BAR_CELLS) : -1;
    const int cells = mark < 0 ? BAR_CELLS + 1 : BAR_CELLS;
    const int full = cells_full(ratio, bar, cells, mark);

    put(text, size, "[");
    for (int i = 0; i < cells; i++)
        append(text, size, "%s%c", i == mark ? "|" : "", i < full ? '#' : '.');
    return append(text, size, "%s]", mark == cells ? "|" : "");
}

char *bar_percent(double ratio, double bar, char *text, size_t size)
{
    return put(text, size, "%.0f %%", 100 * ratio_shown(ratio, bar, 2));
}
