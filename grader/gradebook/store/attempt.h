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
    const char *terms;        /* under which it was graded (terms.h); NULL: the current terms */
    const char *out, *errors; /* what warpbook printed; "": nothing */
    ParsedResult result;      /* valid if it could be parsed */
    char *text;               /* owns the texts read from a log, or NULL */
} Attempt;

/* Sets the outcome of a program that graded this lab. It refers to the program's output. */
void attempt_of(const Program *program, const char *lab, const char *device, Attempt *attempt);

/* Sets the outcome of an attempt that was interrupted, and why. */
void attempt_lost(Attempt *attempt, const char *device, const char *why);
void attempt_free(Attempt *attempt);
bool attempt_graded(const Attempt *attempt);

/* Creates the log of an attempt that begins now, with this host's name. Returns false if the log
 * exists, since the attempt has then begun elsewhere. */
bool attempt_begin(Store *store, const Task *task, const char *device);

/* Reads the log of a finished attempt without trusting it. Returns false unless the log is complete
 * and valid and its result is for this lab. */
bool attempt_read_log(const char *path, const char *lab, Attempt *attempt);

/* The host on which the attempt of a log began; "" if unknown. */
char *attempt_log_host(const char *path, char *host, size_t size);

/* Writes and renames the log, then records the rest in one transaction. */
void attempt_record(Store *store, const Task *task, const Attempt *attempt);

#endif
