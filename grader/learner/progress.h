/* progress.h - what the workbook remembers of a learner: progress, hints. */
#ifndef LEARNER_PROGRESS_H
#define LEARNER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/registry.h"
#include "base/remedy.h"

/* .warpbook/progress: one line a lab, `lab:06_transpose verdict:slow best:pass ratio:0.55 hints:1
 * date:2026-11-21 format:2 saw:sectors_written case:flat told:3
 * explained:0123456789abcdef`. What follows `format` is there
 * only if it says something; without it the line is of format 1. Lines that cannot be read, or are
 * of a later format, are kept as they are, never lost. */
typedef struct Progress {
    Verdict latest, best;
    double ratio; /* of the latest grading, lowest over the timed cases; 0 if not judged */
    int hints;    /* levels shown so far */
    bool graded;
    char date[16];
    Diagnosis diagnosis; /* what the latest grading saw: codes and case */
    int remedy_shown;    /* the last remedy of the lab that was shown, from 1 on; 0: none */
    uint64_t explained;  /* predictions.h: the numbers that were explained; 0: none yet */
} Progress;

/* `file` is the progress file's path. Load gives zeros where there is no line. Save replaces the
 * lab's line, whole or not at all; false with errno set. */
void progress_load(const char *file, const LabEntry *entry, Progress *progress);
bool progress_save(const char *file, const LabEntry *entry, const Progress *progress);

/* True if verdict a is a better result than b. */
bool better(Verdict a, Verdict b);

int print_progress(const char *file); /* exit status */

/* learner/hints.c. Level 0: first what the lab has to say to the latest grading, if it has not been
 * shown; then the next level. */
int print_hint(const char *file, const LabEntry *entry, int level);

#endif
