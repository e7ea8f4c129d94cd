/* child_clock.h - when the children of kernels run in modelled time. */
#ifndef SIM_RUNTIME_CHILD_CLOCK_H
#define SIM_RUNTIME_CHILD_CLOCK_H

#include "sim/runtime/runtime.h"

/* A kernel and its children. NULL, which all functions accept: time is not modelled. */
typedef struct Family Family;

Family *family_of(Work *parent, bool of_host); /* of_host: the host launched the parent */
/* Before and after a child that was launched into this stream runs. */
void family_begin(Family *family, Work *child, uint64_t stream);
void family_done(Family *family, Work *child, uint64_t stream);
void families_end(void); /* all children of the host's launch have run */

#endif
