/* rebuild.h - makes a gradebook from the logs of another one, whose database is lost. */
#ifndef GRADEBOOK_STORE_REBUILD_H
#define GRADEBOOK_STORE_REBUILD_H

#include "gradebook/store/store.h"

typedef struct RebuildCounts {
    int kernels, attempts; /* restored */
    int unreadable;        /* logs that are incomplete or invalid */
    int sourceless;        /* logs whose kernel is not there */
    bool course;           /* the course file was there, and valid */
} RebuildCounts;

/* Adds the kernels and attempts of from/logs, and the course file, to an empty gradebook. Students
 * are not in logs: when their submissions are imported again, equal kernels have their results. */
void rebuild_from_logs(Store *store, const char *from, RebuildCounts *counts);

#endif
