/* submission.h - finds the kernel of a lab: in labs/, or in what --submission names. */
#ifndef LEARNER_SUBMISSION_H
#define LEARNER_SUBMISSION_H

#include "build/workbook.h"
#include "learner/command_line.h"

#include <stdbool.h>

/* Finds a lab's kernel: labs/06_transpose/kernel.cu of the workbook or, in a submission, the file
 * itself, DIR/06_transpose or DIR/labs/06_transpose. `source` and `shown`, of PATH bytes: the path
 * and its form for messages. `source` is empty if a symbolic link leads out of the submission. */
void submission_find(const Workbook *book, const Options *options, const LabEntry *entry,
                     char *source, char *shown);

/* Returns false after reporting what is wrong with --submission. */
bool submission_fits(const Options *options);

#endif
