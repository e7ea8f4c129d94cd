/* client.h - Slurm's own programs: sbatch, squeue, sacct. Bounded in time and output. */
#ifndef GRADEBOOK_SLURM_CLIENT_H
#define GRADEBOOK_SLURM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct TaskState { /* of one task of an array */
    bool live;             /* it waits, runs, or will run again */
    bool runs;
    char state[24]; /* as Slurm calls it: TIMEOUT; "": Slurm has forgotten it */
    char node[64];  /* "" where it never ran */
    char reason[64];
} TaskState;

typedef enum Asked {
    ASKED_KNOWS, /* Slurm has answered */
    ASKED_NONE,  /* it has, and knows no such array any more */
    ASKED_MUTE,  /* it has not: ask again later */
} Asked;

/* Submits: `options` are sbatch's, ended by NULL. Its number goes into `job`. False, with what
 * sbatch said. */
bool slurm_submit(const char *const options[], const char *script, char *job, size_t job_size,
                  char *said, size_t size);

/* The number of this user's array of that name that still waits or runs or has just ended. */
Asked slurm_find(const char *name, char *job, size_t job_size, char *said, size_t size);

/* How the tasks 0 to count - 1 of an array are, by squeue. */
Asked slurm_fates(const char *job, TaskState *fates, int count, char *said, size_t size);

/* The same of those that squeue has forgotten, by accounting where there is any. */
void slurm_recall(const char *job, TaskState *fates, int count);

/* A line of squeue or sacct, "12_3|TIMEOUT|node7|None", into its task's fate. False if it is none.
 */
bool slurm_take_line(const char *line, const char *job, TaskState *fates, int count);

#endif
