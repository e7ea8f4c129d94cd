/* reset.h - make reset: puts a lab's starter back, and keeps a copy of the student's kernel. */
#ifndef LEARNER_WATCH_RESET_H
#define LEARNER_WATCH_RESET_H

#include "build/workbook.h"
#include "learner/command_line.h"

#include <stdbool.h>

typedef enum ResetResult {
    RESET_DONE,
    RESET_NOTHING, /* kernel.cu is the starter already */
    RESET_FAILED   /* nothing was changed */
} ResetResult;

/* Copies labs/NN/kernel.cu to the first free name of kernel.cu.1, kernel.cu.2, ... and then puts
 * the starter in its place. `message`: sentences for the student, each a line. */
ResetResult reset_lab(const Workbook *book, const LabEntry *entry, char *message, size_t size);

/* `warpbook reset LAB`. Asks on a terminal; without one it needs --yes. */
int run_reset(Options *options);

#endif
