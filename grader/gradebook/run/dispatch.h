/* dispatch.h - what runs next: a device's self-test, an early build, or a grading. */
#ifndef GRADEBOOK_RUN_DISPATCH_H
#define GRADEBOOK_RUN_DISPATCH_H

#include "gradebook/run/workers.h"

/* Starts the next activity, if any, of each idle worker. Sets s->waiting to the number of GPUs that
 * other processes have locked. */
void dispatch_work(Scheduler *s);

#endif
