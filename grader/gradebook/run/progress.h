/* progress.h - how far it is, how fast it goes, and how long it will take. */
#ifndef GRADEBOOK_RUN_PROGRESS_H
#define GRADEBOOK_RUN_PROGRESS_H

#include <stdbool.h>
#include "gradebook/import/extract.h"

typedef struct Pace {
    int all, done, faults, given_up;
    double began_s, shown_s;
    bool live;            /* a terminal: one line that changes */
    double seconds[LABS]; /* that gradings of a lab took, all together */
    int counted[LABS];
    bool line_shown;
    bool one_host; /* real GPUs of one: labs with streams are graded one at a time there */
} Pace;

void pace_begin(Pace *pace, int all);
void pace_count(Pace *pace, int lab, double seconds); /* one more is graded */
void pace_fault(Pace *pace, bool given_up);           /* the machine failed one */

/* Seconds that are left, by what each lab has taken so far; < 0: not known yet. */
double pace_left(const Pace *pace, const int open[LABS], int slots);

/* Shows it, now and then; slots: gradings beside each other. */
void pace_show(Pace *pace, const int open[LABS], int slots);

/* A sentence of its own line. */
void pace_say(Pace *pace, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pace_end(Pace *pace);

/* "2 h 5 min", "40 s" */
char *pace_span(double seconds, char *text, size_t size);

#endif
