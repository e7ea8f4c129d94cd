/* overview.h - prints the gradebook on a terminal. */
#ifndef GRADEBOOK_REPORT_OVERVIEW_H
#define GRADEBOOK_REPORT_OVERVIEW_H

#include "gradebook/store/store.h"

void overview_status(Store *store); /* the progress */
void overview_report(Store *store); /* a table, and all that a human should check */

/* The report's lists, for other formats; empty lists are left out. */
typedef struct Listener {
    void *context;
    void (*head)(void *context, const char *head);
    void (*entry)(void *context, const char *who, const char *what, const char *sentence);
} Listener;
void overview_each(Store *store, const Listener *listener);

#endif
