/* progress.h - gradings done, their rate, and the time left. */
#ifndef GRADEBOOK_RUN_PROGRESS_H
#define GRADEBOOK_RUN_PROGRESS_H

#include <stdbool.h>
#include "gradebook/import/extract.h"

typedef struct Progress {
    int all, done, errors, given_up;
    double began_s, shown_s;
    bool live;            /* a terminal: one line, updated in place */
    double seconds[LABS]; /* total of a lab's gradings */
    int counted[LABS];
    bool line_shown;
    bool one_host; /* real GPUs of one host: labs with streams are graded one at a time */
} Progress;

void progress_begin(Progress *progress, int all);
void progress_count(Progress *progress, int lab, double seconds); /* one more kernel was graded */
void progress_error(Progress *progress, bool given_up);           /* one more machine error */

/* Seconds left, estimated from each lab's average so far; < 0: still unknown. */
double progress_left(const Progress *progress, const int open[LABS], int workers);

/* Shows the progress at intervals. `workers`: number of simultaneous gradings. */
void progress_show(Progress *progress, const int open[LABS], int workers);

/* Prints a message on its own line. */
void progress_say(Progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress_end(Progress *progress);

/* "2 h 5 min", "40 s" */
char *progress_span(double seconds, char *text, size_t size);

#endif
