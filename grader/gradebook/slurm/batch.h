/* batch.h - cuts open work into shares and writes the batch for a Slurm array. */
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
    const char *options[SLURM_OPTIONS];     /* passed to sbatch unchanged */
    int option_count;
    const char *shared; /* a folder that all nodes see; NULL: --out is one */
    int batch;          /* kernels per task; 0: about ten minutes' work */
} SlurmOptions;

/* The number of a lab's kernels per task. `seconds`: per kernel (< 0: not known yet); `open`: of
 * all labs. */
int share_size(const SlurmOptions *options, int jobs, double seconds, int open);

/* Writes slurm/round/ atomically; exits if the disk is full. */
void batch_make(Store *store, const Sandbox *cell, const MarkingOptions *marking,
                const SlurmOptions *options, const Queue *queue);

/* True if the user may pass this option to sbatch; false for those that we set. */
bool slurm_may_pass(const char *option);

/* sbatch's options for a batch. `unfit`: nodes to exclude, or "". */
Words sbatch_options(const MarkingOptions *marking, const SlurmOptions *options, const Batch *round,
                     const char *unfit);

/* Quotes a word for a shell script: 'it'\''s'. */
char *shell_quote(const char *word, char *quoted, size_t size);

#endif
