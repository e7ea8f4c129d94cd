/* progress.h - what the workbook remembers of a learner: progress, hints. */
#ifndef LEARNER_PROGRESS_H
#define LEARNER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/registry.h"
#include "base/remedy.h"

/* .warpbook/progress has one line per lab: `lab:06_transpose verdict:slow best:pass ratio:0.55
 * hints:2 date:2026-11-21 format:4 saw:sectors_written case:flat slow:400 told:3
 * explained:0123456789abcdef best_lab:0123456789abcdef time:22:51 attempts:4 first:0.0600
 * reached:0.5500 bar:0.75 key:0123456789abcdef first_case:flat hints_used:1`. The fields after
 * `format` are written only if they are needed; without them, the line has format 1, without those
 * after `best_lab`, format 2, and without those after `key`, format 3. Lines that cannot be read,
 * or have a later format, are kept unchanged. */
typedef struct Progress {
    Verdict latest, best;
    double ratio; /* of the latest grading, lowest over the timed cases; 0 if not judged */
    int hints;    /* levels shown so far */
    bool graded;
    char date[16];
    Diagnosis diagnosis; /* what the latest grading saw: codes and case */
    int remedy_shown;    /* the lab's remedy shown last, counted from 1; 0: none */
    uint64_t explained;  /* predictions.h: the numbers that were explained; 0: none yet */
    uint64_t best_lab;   /* lab_hash() of the lab for which `best` is valid; 0: unknown */
    char time[8];        /* of the latest grading: "22:51" */
    int attempts;        /* different kernels that were run up to the first pass; not the starter */
    double first_ratio;  /* the first speed that was seen, usually the starter's; 0: none */
    double reached, bar; /* the latest grading's case nearest to failing: its ratio and its bar */
    uint64_t key;        /* what the latest grading depended on (record.h); 0: unknown */
    const Case *first_case; /* the case of first_ratio: the one that was nearest to failing */
    int hints_used;         /* levels shown up to the first pass */
} Progress;

/* `file` is the path of the progress file. Loading a lab without a line gives zeros. Saving
 * replaces the lab's line, completely or not at all; returns false with errno set on failure. */
void progress_load(const char *file, const LabEntry *entry, Progress *progress);
bool progress_save(const char *file, const LabEntry *entry, const Progress *progress);

/* Saves, and says on standard error if that failed. */
void progress_keep(const char *file, const LabEntry *entry, const Progress *progress);

/* Updates latest and best by a verdict for the lab with this hash. A result for an earlier version
 * of the lab no longer counts as the best. */
void progress_graded(Progress *progress, Verdict verdict, uint64_t lab_hash);

/* True if verdict a is a better result than b. */
bool better(Verdict a, Verdict b);

int print_progress(const char *file); /* returns the exit status */

/* learner/hints.c. Level 0: first the lab's remedy for the latest grading, unless it has been
 * shown; then the next level. */
int print_hint(const char *file, const LabEntry *entry, int level);

#endif
