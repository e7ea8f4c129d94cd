/* collect.h - takes in what the tasks of an array hand in, and settles what those that have
 * ended left. */
#ifndef GRADEBOOK_SLURM_COLLECT_H
#define GRADEBOOK_SLURM_COLLECT_H

#include "gradebook/run/progress.h"
#include "gradebook/store/queue.h"
#include "gradebook/slurm/client.h"
#include "gradebook/slurm/batch.h"
#include "gradebook/slurm/work_item.h"
#include "gradebook/store/store.h"

/* A gradebook and the array that is out for it. */
typedef struct Cluster {
    Store *store;
    const Sandbox *cell;
    const MarkingOptions *marking;
    const SlurmOptions *options;
    Queue queue;
    Progress pace;
    Batch round;
    TaskState *fates; /* of the round's shares */
    double *ended_s;  /* since when we know that they have ended; 0: they have not */
    int runs;         /* tasks, now */
    int taken;        /* attempts, in this round */
    char unfit[1000]; /* nodes that could grade nothing, for sbatch: a,b */
    char told[400];   /* the last thing said, lest it be said for each task */
} Cluster;

/* Takes in what lies there and was not taken yet. */
void slurm_take(Cluster *c);

/* Of tasks with something left to do that ended `grace_s` ago, so that all they wrote has been
 * seen: what a task had begun is a fault of the machine, the rest is for the next array. */
void slurm_settle(Cluster *c, double grace_s);

#endif
