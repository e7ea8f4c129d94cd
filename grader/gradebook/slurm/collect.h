/* collect.h - records the results of an array's tasks, and settles the rest when tasks have ended.
 */
#ifndef GRADEBOOK_SLURM_COLLECT_H
#define GRADEBOOK_SLURM_COLLECT_H

#include "gradebook/run/progress.h"
#include "gradebook/store/queue.h"
#include "gradebook/slurm/client.h"
#include "gradebook/slurm/batch.h"
#include "gradebook/slurm/work_item.h"
#include "gradebook/store/store.h"

/* A gradebook and its current array. */
typedef struct Cluster {
    Store *store;
    const Sandbox *cell;
    const MarkingOptions *marking;
    const SlurmOptions *options;
    Queue queue;
    Progress pace;
    Batch round;
    TaskState *fates; /* per share */
    double *ended_s;  /* when we learned that they ended; 0: not ended */
    int runs;         /* tasks, now */
    int taken;        /* attempts in this batch */
    char unfit[1000]; /* nodes that failed, for sbatch: a,b */
    char told[400];   /* the last message, to avoid repeating it for each task */
} Cluster;

/* Records all new results. */
void slurm_take(Cluster *c);

/* Settles tasks that ended `grace_s` ago with work left; by then all their files are visible. An
 * attempt that was begun counts as a machine error; the rest is for the next array. */
void slurm_settle(Cluster *c, double grace_s);

#endif
