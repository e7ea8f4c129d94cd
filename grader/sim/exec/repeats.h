/* repeats.h - accesses that repeat the step's last one: they are only counted. They are added to
 * the launch's counters when the step does anything else, or the launch ends. */
#ifndef SIM_EXEC_REPEATS_H
#define SIM_EXEC_REPEATS_H

#include "sim/exec/shape.h"

/* From now on, the step's accesses with this shape, and within shape->room, only add 1 to
 * shape->repeats. `count`: the step's counters. */
void repeats_begin(Shape *shape, Launch *launch, Count *count);
/* Adds the repeats to the counters, and leaves no room for more. Must be called before the shape or
 * the step's array changes. */
void repeats_end(Shape *shape);
/* The same for all shapes of this thread. */
void repeats_end_all(void);

#endif
