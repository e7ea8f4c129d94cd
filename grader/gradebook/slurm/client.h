/* client.h - Slurm's own programs: sbatch, squeue, sacct. Bounded in time and output. */
#ifndef GRADEBOOK_SLURM_CLIENT_H
#define GRADEBOOK_SLURM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct TaskState { /* of one task of an array */
    bool live;             /* pending, running or requeued */
    bool runs;
    char state[24]; /* Slurm's name: TIMEOUT; "": no longer known to Slurm */
    char node[64];  /* "" if it never ran */
    char reason[64];
} TaskState;

typedef enum Asked {
    ASKED_KNOWS, /* Slurm has answered */
    ASKED_NONE,  /* Slurm has answered that it does not know the array */
    ASKED_MUTE,  /* no answer: ask again later */
} Asked;

/* Submits; `options` are sbatch's, NULL-terminated. Sets `job` to the array's number. False, with
 * sbatch's message in `said`. */
bool slurm_submit(const char *const options[], const char *script, char *job, size_t job_size,
                  char *said, size_t size);

/* Finds the number of this user's array of that name, if it is pending, running or just finished.
 */
Asked slurm_find(const char *name, char *job, size_t job_size, char *said, size_t size);

/* The states of tasks 0 to count - 1 of an array, by squeue. */
Asked slurm_fates(const char *job, TaskState *fates, int count, char *said, size_t size);

/* The same for tasks no longer known to squeue, by accounting if available. */
void slurm_recall(const char *job, TaskState *fates, int count);

/* Parses a line of squeue or sacct, "12_3|TIMEOUT|node7|None", into its task's state. False if it
 * is invalid. */
bool slurm_take_line(const char *line, const char *job, TaskState *fates, int count);

#endif
