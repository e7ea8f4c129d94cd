/* overview.h - prints the gradebook on a terminal. */
#ifndef GRADEBOOK_REPORT_OVERVIEW_H
#define GRADEBOOK_REPORT_OVERVIEW_H

#include "gradebook/report/results_table.h"

void overview_status(Store *store, const Filter *filter); /* the progress */

/* Prints a line per student and what a human should check. With `verbose`, or for one student, it
 * prints a line per lab instead, and whole lists. Returns false if the filter takes nothing. */
bool overview_report(Store *store, const Filter *filter, bool verbose);

/* The report's lists, as far as the filter and its results take them; empty lists are left out. */
typedef struct Listener {
    void *context;
    void (*head)(void *context, const char *head);
    void (*entry)(void *context, const char *who, const char *what, const char *sentence);
} Listener;
void overview_each(Store *store, const Filter *filter, const ResultsTable *results,
                   const Listener *listener);

#endif
