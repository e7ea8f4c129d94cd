/* likeness.h - similarity of one lab's kernels, by sim_c (similarity-tester). */
#ifndef GRADEBOOK_REPORT_LIKENESS_H
#define GRADEBOOK_REPORT_LIKENESS_H

#include <stdbool.h>

/* Percent. Among 430 pairs of honest kernels (tests/honest) the median is 11, the 99th percentile
 * is 43, and no pair reaches 60 (docs/class-reports.md). */
enum { LIKENESS_LISTED = 50, LIKENESS_ALIKE = 60, LIKENESS_PAIRS = 1000 };

typedef struct Likeness {
    int a, b;    /* indices of two texts, a < b */
    int percent; /* at least this share of each is found in the other */
} Likeness;

typedef struct Likenesses {
    Likeness list[LIKENESS_PAIRS]; /* most similar first */
    int count;
    bool cut; /* there were more */
} Likenesses;

typedef struct Compared {
    Likenesses pairs, fixed; /* pairs without a fixed text; pairs with one */
    char problem[300];       /* why nothing was compared, or "" */
} Compared;

/* Compares all texts with each other, except that the texts from index `fixed` on (the ladder) are
 * not compared among themselves. Ignores names, comments, layout, and statements that occur in the
 * starter (skeleton[0]) or in all other skeletons (the rungs). Lists pairs with `least` percent or
 * more. */
void likeness_find(const char *const *texts, int count, int fixed, const char *const *skeleton,
                   int skeletons, int least, Compared *found);

#endif
