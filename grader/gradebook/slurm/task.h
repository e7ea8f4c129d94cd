/* task.h - one task of a Slurm array: grades its share on the node where it runs. */
#ifndef GRADEBOOK_SLURM_TASK_H
#define GRADEBOOK_SLURM_TASK_H

#include <stdbool.h>
#include "gradebook/run/scheduler.h"

typedef enum TaskEnd {
    TASK_DONE,    /* each of its share has begun somewhere, and what began here is handed in */
    TASK_UNFIT,   /* this node or its GPU cannot grade; said on standard error */
    TASK_STOPPED, /* by a signal */
} TaskEnd;

/* `folder`: the round's (gradebook/slurm/work_item.h). Which share it is, Slurm's environment says.
 */
TaskEnd slurm_task(const char *folder, const MarkingOptions *options, bool trusting);

#endif
