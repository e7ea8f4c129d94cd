/* scheduler.h - grades what is open: several gradings beside each other, one a device. */
#ifndef GRADEBOOK_RUN_SCHEDULER_H
#define GRADEBOOK_RUN_SCHEDULER_H

#include "gradebook/run/sandbox.h"
#include "gradebook/run/scheduler_options.h"
#include "gradebook/store/store.h"

typedef enum Marked {
    MARKED_ALL,     /* nothing is open any more; some may have been given up */
    MARKED_STOPPED, /* by Ctrl-C */
    MARKED_NO_DEVICE,
} Marked;

Marked marking_run(Store *store, const Sandbox *cell, const MarkingOptions *options);

#endif
