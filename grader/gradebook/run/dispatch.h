/* dispatch.h - what runs next: a device proves itself, a build goes ahead, a kernel is graded. */
#ifndef GRADEBOOK_RUN_DISPATCH_H
#define GRADEBOOK_RUN_DISPATCH_H

#include "gradebook/run/workers.h"

/* Each worker that does nothing gets something to do, if there is anything for it now. Counts GPUs
 * that others hold in m->waiting. */
void feed_workers(Marking *m);

#endif
