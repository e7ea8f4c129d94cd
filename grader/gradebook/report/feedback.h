/* feedback.h - what a student is told of one lab: a list that any format can show.
 *
 * Nothing of others: not who handed in the same, nor a line of another's file. Nothing that a later
 * grading depends on: no seed, no log. The texts may hold what students wrote: escape them.
 */
#ifndef GRADEBOOK_REPORT_FEEDBACK_H
#define GRADEBOOK_REPORT_FEEDBACK_H

#include <stdio.h>
#include "gradebook/report/results_query.h"

typedef enum AdviceKind {
    SAYS,     /* a sentence or more */
    FIGURE,   /* a timed case: its ratio beside the bar */
    LIMIT,    /* what held the kernel up */
    SOURCE,   /* a line of the student's own file, "12: int x = 1;" */
    PRINTED,  /* what the kernel's process printed */
    HINT,     /* what to look at next */
    QUESTION, /* after the pass */
} AdviceKind;

enum { ADVICE_ITEMS = 40 };

typedef struct Advice {
    struct {
        AdviceKind kind;
        char *text;
    } items[ADVICE_ITEMS];
    int count;
} Advice;

void feedback_of(Store *store, const Row *row, Advice *advice);
void feedback_free(Advice *advice);
const char *feedback_head(AdviceKind kind); /* a few words to stand before it; "" */

/* The state in words: "right, but slower than the bar". */
const char *feedback_meaning(const Row *row);

/* As plain text, each line behind so many blanks. */
void feedback_print(FILE *to, const Advice *advice, int indent);

#endif
