/* waiting.h - prints what waits for a person's decision, each with the evidence and the command to
 * type. */
#ifndef GRADEBOOK_REPORT_WAITING_H
#define GRADEBOOK_REPORT_WAITING_H

#include "gradebook/report/filter.h"

/* Why a result waits for a decision; NULL if it does not. */
const char *waiting_reason(const Row *row);

/* Prints the results that wait. `out`: the gradebook's folder, for the commands. If `to` is not
 * NULL, writes the kernels there. Returns false if that failed. */
bool waiting_print(Store *store, const Filter *filter, const char *out, const char *to);

#endif
