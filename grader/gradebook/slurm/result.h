/* result.h - what came of one attempt, as a file from a task to the gradebook. */
#ifndef GRADEBOOK_SLURM_RESULT_H
#define GRADEBOOK_SLURM_RESULT_H

#include "base/process.h"
#include <stdint.h>

typedef struct Result {
    char device[64]; /* "node3: 0" */
    int64_t began;   /* seconds since 1970 */
    double seconds;  /* that it took */
    Program program; /* over; free it with program_free */
} Result;

/* Written whole, then renamed. False with errno set. */
bool result_write(const char *path, const Result *result);

/* Trusts nothing of it. False if there is none; what is there but damaged is a program whose
 * `trouble` says so. */
bool result_read(const char *path, Result *result);

/* An attempt of which nothing came, and why. */
void result_lost(Result *result, const char *device, const char *why);

#endif
