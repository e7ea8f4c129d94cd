/* dispatch.h - what runs next: a device's self-test, an early build, or a grading. */
#ifndef GRADEBOOK_RUN_DISPATCH_H
#define GRADEBOOK_RUN_DISPATCH_H

#include "gradebook/run/workers.h"

/* Gives each idle worker its next work, if there is any. Counts GPUs locked by others in
 * s->waiting. */
void dispatch_work(Scheduler *s);

#endif
