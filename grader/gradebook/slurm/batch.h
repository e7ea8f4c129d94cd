/* batch.h - cuts what is open into shares, and writes the round that an array will work on. */
#ifndef GRADEBOOK_SLURM_BATCH_H
#define GRADEBOOK_SLURM_BATCH_H

#include "gradebook/run/sandbox.h"
#include "gradebook/run/scheduler_options.h"
#include "gradebook/store/queue.h"
#include "gradebook/slurm/work_item.h"

enum { SLURM_OPTIONS = 32 };

typedef struct SlurmOptions {
    bool asked_for;                         /* --executor slurm */
    bool trusting;                          /* of the tasks */
    const char *account, *partition, *gres; /* NULL: not given */
    const char *options[SLURM_OPTIONS];     /* handed on to sbatch as they are */
    int option_count;
    const char *shared; /* a folder that all nodes see; NULL: --out is one */
    int batch;          /* so many kernels a task; 0: as many as take ten minutes */
} SlurmOptions;

/* Kernels of a lab that one task gets, given what one took (< 0: not known yet) and how many are
 * open of all labs. */
int share_size(const SlurmOptions *options, int jobs, double seconds, int open);

/* Writes slurm/round/ whole, or not at all; dies if the disk is full. */
void batch_make(Store *store, const Sandbox *cell, const MarkingOptions *marking,
                const SlurmOptions *options, const Queue *queue);

/* May this option of sbatch be handed on? Else it is one that we set ourselves. */
bool slurm_may_pass(const char *option);

/* What sbatch is told about a round; `unfit`: nodes to be left out, "" for none. */
Words sbatch_options(const MarkingOptions *marking, const SlurmOptions *options, const Batch *round,
                     const char *unfit);

/* 'it'\''s': a word of a shell script. */
char *shell_quote(const char *word, char *quoted, size_t size);

#endif
