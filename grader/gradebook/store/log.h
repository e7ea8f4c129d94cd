/* log.h - the log of an attempt, and the source of its kernel next to it. */
#ifndef GRADEBOOK_STORE_LOG_H
#define GRADEBOOK_STORE_LOG_H

#include "gradebook/store/attempt.h"

/* Creates the log of an attempt that begins now, with this host's name. Returns false if the log
 * exists, since the attempt has then begun elsewhere. */
bool attempt_begin(Store *store, const Task *task, const char *device);

/* Writes the log of a finished attempt, and the kernel's source if it is missing there. Sets the
 * log's name in the database. */
void log_write(Store *store, const Task *task, const Attempt *attempt, char log[200]);

/* Writes the kernel's source next to its logs, if it is missing there. */
void log_source(Store *store, int64_t kernel, const char *lab);
void log_sources(Store *store); /* of all kernels with attempts */

/* Reads the log of a finished attempt without trusting it. Returns false unless the log is complete
 * and valid and its result is for this lab. */
bool attempt_read_log(const char *path, const char *lab, Attempt *attempt);

/* The host on which the attempt of a log began; "" if unknown. */
char *attempt_log_host(const char *path, char *host, size_t size);

#endif
