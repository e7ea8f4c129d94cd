/* result.h - the result of one attempt, as a file from a task to the gradebook. */
#ifndef GRADEBOOK_SLURM_RESULT_H
#define GRADEBOOK_SLURM_RESULT_H

#include "base/process.h"
#include <stdint.h>

typedef struct Result {
    char device[64]; /* "node3: 0" */
    int64_t began;   /* seconds since 1970 */
    double seconds;  /* that it took */
    Program program; /* finished; free it with program_free */
} Result;

/* Written completely, then renamed. False with errno set. */
bool result_write(const char *path, const Result *result);

/* Trusts no input. False if the file is missing; a damaged one becomes a program whose `trouble`
 * says so. */
bool result_read(const char *path, Result *result);

/* The result of a lost attempt, and why. */
void result_lost(Result *result, const char *device, const char *why);

#endif
