/* attempt.h - records a finished attempt as database rows and a log. */
#ifndef GRADEBOOK_STORE_ATTEMPT_H
#define GRADEBOOK_STORE_ATTEMPT_H

#include "gradebook/store/queue.h"
#include "gradebook/store/parsed_result.h"
#include "gradebook/store/store.h"
#include "base/process.h"

typedef struct Ended {
    const char *outcome;  /* graded, unsound, died, late, garbled */
    char why[1000];       /* unless graded */
    ParsedResult reading; /* if it could be parsed */
    int64_t began;        /* seconds since 1970 */
    double seconds;       /* that it took */
    const char *terms;    /* graded under (terms.h); NULL: the current terms */
} Ended;

/* The outcome of a program that graded this lab. */
void ended_of(const Program *program, const char *lab, Ended *ended);
void ended_free(Ended *ended);
bool ended_graded(const Ended *ended);

/* Writes and renames the log, then records the rest in one transaction. */
void take_over(Store *store, const Task *task, const char *device, const Program *program,
               const Ended *ended);

#endif
