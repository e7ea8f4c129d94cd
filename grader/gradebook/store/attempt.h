/* attempt.h - an attempt at grading a kernel: its outcome, its log, its database rows. */
#ifndef GRADEBOOK_STORE_ATTEMPT_H
#define GRADEBOOK_STORE_ATTEMPT_H

#include "gradebook/store/queue.h"
#include "gradebook/store/parsed_result.h"
#include "gradebook/store/store.h"
#include "base/process.h"

typedef struct Attempt {
    const char *outcome; /* graded; or a machine error: unsound, died, late, garbled, noisy */
    char why[1000];      /* of a machine error */
    char device[64];
    char host[64];
    int64_t began;            /* seconds since 1970 */
    double seconds;           /* duration */
    const char *terms;        /* course_measured, when it was graded; NULL: the current terms */
    const char *out, *errors; /* what warpbook printed; "": nothing */
    ParsedResult result;      /* valid if it could be parsed */
    char *text;               /* owns the texts read from a log, or NULL */
    char own_terms[4096];     /* the terms read from a log */
} Attempt;

/* Sets the outcome of a program that graded this lab. It refers to the program's output. */
void attempt_of(const Program *program, const char *lab, const char *device, Attempt *attempt);

/* Sets the outcome of an attempt that was interrupted, and why. */
void attempt_lost(Attempt *attempt, const char *device, const char *why);
void attempt_free(Attempt *attempt);
bool attempt_graded(const Attempt *attempt);

void attempt_place(Attempt *attempt, const char *device); /* sets this host, and the device */

/* Writes the log, then the rows in one transaction. */
void attempt_record(Store *store, const Task *task, const Attempt *attempt);

/* Adds only the rows. The attempt has its terms. */
void attempt_add(Store *store, const Task *task, const Attempt *attempt, const char *log);

#endif
