/* progress.h - how far it is, how fast it goes, and how long it will take. */
#ifndef GRADEBOOK_RUN_PROGRESS_H
#define GRADEBOOK_RUN_PROGRESS_H

#include <stdbool.h>
#include "gradebook/import/extract.h"

typedef struct Progress {
    int all, done, faults, given_up;
    double began_s, shown_s;
    bool live;            /* a terminal: one line that changes */
    double seconds[LABS]; /* that gradings of a lab took, all together */
    int counted[LABS];
    bool line_shown;
    bool one_host; /* real GPUs of one: labs with streams are graded one at a time there */
} Progress;

void progress_begin(Progress *pace, int all);
void progress_count(Progress *pace, int lab, double seconds); /* one more is graded */
void progress_fault(Progress *pace, bool given_up);           /* the machine failed one */

/* Seconds that are left, by what each lab has taken so far; < 0: not known yet. */
double progress_left(const Progress *pace, const int open[LABS], int workers);

/* Shows it, now and then; workers: gradings beside each other. */
void progress_show(Progress *pace, const int open[LABS], int workers);

/* A sentence of its own line. */
void progress_say(Progress *pace, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(Progress *pace);

/* "2 h 5 min", "40 s" */
char *progress_span(double seconds, char *text, size_t size);

#endif
