/* grade.h - what grade and regrade share. */
#ifndef GRADEBOOK_COMMANDS_GRADE_H
#define GRADEBOOK_COMMANDS_GRADE_H

#include "gradebook/commands/command.h"
#include "gradebook/run/sandbox.h"

/* Opens the sandbox for gradings. With Slurm, each node tests its own sandbox. On failure, returns
 * false with a sentence in `problem`. */
bool grade_open_sandbox(Sandbox *sandbox, Options *options, char *problem, size_t size);

/* Grades all open kernels, here or with Slurm, and prints how it ended. Returns the exit status. */
int grade_open_kernels(Store *store, const Sandbox *sandbox, const Options *options);

#endif
