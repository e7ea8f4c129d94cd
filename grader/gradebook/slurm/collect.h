/* collect.h - imports the logs of an array's attempts, and settles the rest when tasks have ended.
 */
#ifndef GRADEBOOK_SLURM_COLLECT_H
#define GRADEBOOK_SLURM_COLLECT_H

#include "gradebook/run/progress.h"
#include "gradebook/slurm/batch.h"
#include "gradebook/slurm/client.h"
#include "gradebook/slurm/job.h"
#include "gradebook/store/queue.h"

/* A gradebook and its current array. */
typedef struct Cluster {
    Store *store;
    const Sandbox *sandbox;
    const GradingOptions *grading;
    const SlurmOptions *options;
    Queue queue;
    Progress progress;
    Batch batch;
    TaskState *states; /* per task */
    double *ended_s;   /* when we learned that the task ended; 0: not ended */
    int running;       /* number of tasks running now */
    int recorded;      /* number of attempts of this batch recorded so far */
    char message[400]; /* the last message, to avoid repeating it for each task */
} Cluster;

/* Records the attempts that have ended. */
void slurm_collect(Cluster *c);

/* Settles tasks that ended `grace_s` ago; by then all their files are visible. An attempt that has
 * begun but has no valid result is a machine error. The rest is left for the next array. */
void slurm_settle(Cluster *c, double grace_s);

#endif
