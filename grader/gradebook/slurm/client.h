/* client.h - runs sbatch, squeue and sacct, with limits on their time and output. */
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

typedef enum Reply {
    REPLY_KNOWN,   /* Slurm has answered */
    REPLY_UNKNOWN, /* Slurm has answered that it does not know the array */
    REPLY_NONE,    /* no answer: ask again later */
} Reply;

/* Submits a script with these options of sbatch (NULL-terminated). Sets `job` to the array's
 * number. On failure, returns false with sbatch's message in `error`. */
bool slurm_submit(const char *const options[], const char *script, char *job, size_t job_size,
                  char *error, size_t size);

/* Finds the number of this user's array of that name, if it is pending, running or just finished.
 */
Reply slurm_find(const char *name, char *job, size_t job_size, char *error, size_t size);

/* Asks squeue for the states of tasks 0 to count - 1 of an array. */
Reply slurm_states(const char *job, TaskState *states, int count, char *error, size_t size);

/* Asks accounting, if available, for the states of tasks that squeue no longer knows. */
void slurm_recall(const char *job, TaskState *states, int count);

/* Parses one line of squeue or sacct, "12_3|TIMEOUT|node7|None", into its task's state. Returns
 * false if the line is invalid. */
bool slurm_parse_line(const char *line, const char *job, TaskState *states, int count);

#endif
