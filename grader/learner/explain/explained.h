/* explained.h - what make explain finds out about two kernels, and how its parts are printed. */
#ifndef LEARNER_EXPLAIN_EXPLAINED_H
#define LEARNER_EXPLAIN_EXPLAINED_H

#include "judge/grade.h"
#include "learner/whatif.h"

enum { MOST_LINES = 3, COLUMNS = 80 };

/* One kernel on one case. */
typedef struct Seen {
    double ms;
    Limited limited;
    LineCost lines[MOST_LINES];
    int line_count;
    char why[900]; /* why it could not be run */
} Seen;

typedef struct Explained {
    Session *session;
    const LabEntry *entry;
    const char *source, *shown;
    Result result;
    const Case *asked;    /* the case that the user named; NULL: none */
    const Case *lab_case; /* the lab's row */
    Case sized;
    Seen yours, reference;
    WhatIf without[CAUSES]; /* your call without one cause each */
    int without_count;
    char why_not[400]; /* why these could not be run */
    double began_s;    /* by now_s() */
    int rung;          /* of the kernel next to it, counted from 1; 0: the reference */
    char other[20];    /* "reference", "rung 2" */
} Explained;

double explain_ratio(const Explained *e);
/* A share of the kernel's time in %. */
double explain_share(const Seen *seen, double ns);
/* The timed case with the worst measured ratio; NULL if none was measured. */
const Case *explain_worst(const Result *result);
/* The verdict of a kernel that may be the starter. */
Verdict explain_verdict(const Result *result);

void explain_print_table(const Explained *e);
void explain_print_lines(const Explained *e);
/* The case, and one sentence for each kernel. */
void explain_print_sentences(const Explained *e);
void explain_print_all(const Explained *e);
/* Why a kernel that is not correct is not explained. */
void explain_print_refusal(const Explained *e);

#endif
