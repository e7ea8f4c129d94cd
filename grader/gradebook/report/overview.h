/* overview.h - the gradebook for a reader at a terminal. */
#ifndef GRADEBOOK_REPORT_OVERVIEW_H
#define GRADEBOOK_REPORT_OVERVIEW_H

#include "gradebook/store/store.h"

void overview_status(Store *store); /* how far it is */
void overview_report(Store *store); /* a table, and all that a human should look at */

/* The lists of the latter, for another reader; those that are empty are left out. */
typedef struct Listener {
    void *context;
    void (*head)(void *context, const char *head);
    void (*entry)(void *context, const char *who, const char *what, const char *sentence);
} Listener;
void overview_each(Store *store, const Listener *listener);

#endif
