/* overview.h - the gradebook for a reader at a terminal. */
#ifndef OVERVIEW_H
#define OVERVIEW_H

#include "store.h"

void overview_status(Store *store); /* how far it is */
void overview_report(Store *store); /* a table, and all that a human should look at */

#endif
