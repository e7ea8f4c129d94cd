/* scheduler.h - grades all open kernels, several at the same time. */
#ifndef GRADEBOOK_RUN_SCHEDULER_H
#define GRADEBOOK_RUN_SCHEDULER_H

#include "gradebook/run/sandbox.h"
#include "gradebook/run/scheduler_options.h"
#include "gradebook/store/store.h"

typedef enum Marked {
    MARKED_ALL,     /* nothing is left; some may have been given up */
    MARKED_STOPPED, /* by Ctrl-C */
    MARKED_NO_DEVICE,
} Marked;

Marked marking_run(Store *store, const Sandbox *cell, const MarkingOptions *options);

#endif
