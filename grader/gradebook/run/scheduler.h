/* scheduler.h - grades all open kernels, several at the same time. */
#ifndef GRADEBOOK_RUN_SCHEDULER_H
#define GRADEBOOK_RUN_SCHEDULER_H

#include "gradebook/run/sandbox.h"
#include "gradebook/run/scheduler_options.h"
#include "gradebook/store/store.h"

typedef enum RunEnd {
    RUN_DONE,    /* nothing is left; some may have been given up */
    RUN_STOPPED, /* by Ctrl-C */
    RUN_NO_DEVICE,
} RunEnd;

RunEnd scheduler_run(Store *store, const Sandbox *sandbox, const GradingOptions *options);

#endif
