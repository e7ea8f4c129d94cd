/* next.h - the one thing to do next, and `make` alone, which shows it. */
#ifndef LEARNER_NEXT_H
#define LEARNER_NEXT_H

#include "build/workbook.h"
#include "learner/command_line.h"
#include "learner/progress.h"

/* Set by make watch for the programs that it runs: the folder of the lab that its key n turns to;
 * "-" if there is none. */
#define NEXT_IN_WATCH "WARPBOOK_IN_WATCH"

/* Stands before the page of a grading in the words of make watch, and again before the same page
 * in the words of a shell. */
enum { NEXT_FORM = '\f' };

/* True if the learner can continue with the next lab: it was passed, or it was correct where speed
 * cannot be judged. */
bool next_is_done(const Progress *progress);

/* How many labs are done, of how many. */
int next_count_done(const char *file, int *labs);

/* The first lab that is not done; NULL if all are. `file`: of the progress. */
const LabEntry *next_lab(const char *file);

/* Writes the next step in this lab as a clause without a full stop: "make hint LAB=transpose". */
void next_step(const LabEntry *entry, const Progress *progress, char *text, size_t size);

/* Prints "Next: " and the step of the lab to continue with, or that all labs are done. */
void print_next(const char *file);

/* The same after a grading of this lab: the next one that is not done, as key n of make watch
 * chooses it. */
void print_next_after(const Workbook *book, const LabEntry *entry);

/* True in a program that `make watch` runs: its keys and saves stand for commands. */
bool next_in_watch(void);

int run_next(Options *options); /* `make` alone; returns the exit status */

#endif
