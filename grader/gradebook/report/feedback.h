/* feedback.h - a student's feedback on one lab, as a list for any format.
 *
 * It contains nothing about other students, neither who submitted the same kernel nor a line of
 * their files, and nothing that a later grading depends on: no seed, no log. The texts may contain
 * what students wrote: escape them.
 */
#ifndef GRADEBOOK_REPORT_FEEDBACK_H
#define GRADEBOOK_REPORT_FEEDBACK_H

#include <stdio.h>
#include "gradebook/report/results_query.h"

typedef enum AdviceKind {
    SAYS,     /* one or more sentences */
    FIGURE,   /* a timed case: its ratio and the bar */
    LIMIT,    /* what limits the kernel's speed */
    SOURCE,   /* a line of the student's own file, "12: int x = 1;" */
    PRINTED,  /* what the kernel's process printed */
    HINT,     /* what to do next */
    QUESTION, /* a question after a pass */
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
const char *feedback_head(AdviceKind kind); /* a short heading; or "" */

/* The state as students read it: a person's decision comes before the verdict. */
const char *feedback_state(const Row *row);

/* That state in words: "correct, but slower than the bar". */
const char *feedback_meaning(const Row *row);

/* Prints plain text, each line indented by `indent` spaces. */
void feedback_print(FILE *to, const Advice *advice, int indent);

#endif
