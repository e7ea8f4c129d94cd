/* current_lab.h - the lab of a command that takes one, if none is named. */
#ifndef LEARNER_CURRENT_LAB_H
#define LEARNER_CURRENT_LAB_H

#include "build/workbook.h"
#include "learner/command_line.h"

/* What a command is about. */
typedef enum LabWanted {
    WANTS_OPEN,  /* the one graded last, if it failed; otherwise the first that is not passed */
    WANTS_PASSED /* the one that was passed last; before a first pass, as above */
} LabWanted;

/* NULL: all labs are passed, and none of them is known to be the last. */
const LabEntry *current_lab(const Workbook *book, LabWanted wanted);

/* False before the first grading of a changed kernel, if no hint was read. */
bool lab_is_begun(const Workbook *book, const LabEntry *entry);

/* Makes sure that `options` names one lab: without LAB and without a submission, it takes the
 * current one and says so on standard error. Returns false if the command cannot run, after a
 * message about what to type; its exit status is then *status. */
bool one_lab(Options *options, const char *command, LabWanted wanted, int *status);

#endif
