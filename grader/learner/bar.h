/* bar.h - a speed as a bar of characters, with a mark where the lab's bar is. */
#ifndef LEARNER_BAR_H
#define LEARNER_BAR_H

#include <stddef.h>

enum { BAR_CELLS = 20, BAR_COLUMNS = BAR_CELLS + 3 };

/* Draws "[#######....|.........]": `ratio` of the reference's speed, 1 or more filling the bar, and
 * a | at `bar` (0: no mark, and one more cell). The bar reaches the mark only if ratio >= bar.
 * Returns `text`. */
char *bar_draw(double ratio, double bar, char *text, size_t size);

/* A share as "37 %". It never rounds up to `bar`. */
char *bar_percent(double ratio, double bar, char *text, size_t size);

#endif
