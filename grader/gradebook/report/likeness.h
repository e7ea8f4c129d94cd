/* likeness.h - how much kernels of one lab have in common, by sim_c (similarity-tester). */
#ifndef GRADEBOOK_REPORT_LIKENESS_H
#define GRADEBOOK_REPORT_LIKENESS_H

#include <stdbool.h>

/* Percent. Of 430 pairs of honest kernels (tests/honest) half have 11 or less in common, 99 of 100
 * have 43 or less, and none has 60 (docs/instructors.md). */
enum { LIKENESS_LISTED = 50, LIKENESS_ALIKE = 60, LIKENESS_PAIRS = 1000 };

typedef struct Likeness {
    int a, b;    /* places of two texts, a before b */
    int percent; /* of each of them is found in the other, at least */
} Likeness;

typedef struct Likenesses {
    Likeness list[LIKENESS_PAIRS]; /* the most alike first */
    int count;
    bool cut; /* there were more */
} Likenesses;

typedef struct Compared {
    Likenesses pairs, fixed; /* of texts that are not fixed; of one that is not and one that is */
    char problem[300];       /* why nothing could be said; "" */
} Compared;

/* Compares texts with each other; those from `fixed` on (the ladder) not among themselves.
 * Names, comments and layout don't count, nor do statements that are the starter's (skeleton[0]) or
 * in all that follow it (the rungs). Pairs with `least` percent or more are listed. */
void likeness_find(const char *const *texts, int count, int fixed, const char *const *skeleton,
                   int skeletons, int least, Compared *found);

#endif
