/* batch.h - the folder through which a gradebook and the tasks of its Slurm array communicate.
 *
 * DIR/slurm/batch/ exists while an array runs. It contains:
 *
 *     name            NAME, the array's name in Slurm, by which it is found again
 *     job             its number, once known (the tasks write it, too)
 *     job.sh          what a task runs (slurm/task.sh)
 *     tasks           line N: the lab and kernels of task N-1, "06_transpose 17.1,18.1"
 *     kernels/17.cu   the sources
 *     course.ini      the course file at the time of submission; may be empty
 *     NAME/LAB/17.1.txt   the log of an attempt (store/attempt.h): created when it begins,
 *                     replaced when it has ended
 *     printed/3.txt   what task 3 printed
 *
 * The folder of logs is called NAME so that a task of an older array, on a node that Slurm cannot
 * reach, does not write into this batch.
 */
#ifndef GRADEBOOK_SLURM_BATCH_H
#define GRADEBOOK_SLURM_BATCH_H

#include "gradebook/store/queue.h"

typedef struct WorkItem { /* one attempt at one kernel */
    int task;
    int lab; /* index in all_labs */
    KernelAttempt attempt;
    bool settled; /* recorded in the database, or left for another batch */
} WorkItem;

typedef struct Batch {
    char folder[512];
    char name[64];
    char job[32]; /* "": not known to have been submitted */
    WorkItem *items;
    int count, tasks;
} Batch;

/* The folder of the current batch of a gradebook. */
void batch_folder(const char *store, char *folder, size_t size);
bool batch_exists(const char *store);

/* Creates DIR/slurm. With `shared`, a folder that all nodes see, DIR/slurm is a link to a new
 * folder there, so that the database may be on a local disk; an existing batch stays where it is.
 * On failure, returns false and sets `problem`. batch_leave removes DIR/slurm again if it holds no
 * batch. */
bool batch_place(const char *store, const char *shared, char *problem, size_t size);
void batch_leave(const char *store);

/* Reads a batch: tasks, name, job. On failure, returns false and sets `problem`. */
bool batch_read(const char *folder, Batch *batch, char *problem, size_t size);
bool batch_find_job(Batch *batch); /* reads the job's number, if known */
bool batch_write(const Batch *batch, const char *name, const char *text); /* writes one file */
void batch_free(Batch *batch);

/* The path of an attempt's log. */
char *batch_log(const Batch *batch, const WorkItem *item, char *path, size_t size);

#endif
