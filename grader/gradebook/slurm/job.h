/* job.h - divides open work into tasks and writes the batch for a Slurm array. */
#ifndef GRADEBOOK_SLURM_JOB_H
#define GRADEBOOK_SLURM_JOB_H

#include "gradebook/run/sandbox.h"
#include "gradebook/run/scheduler_options.h"
#include "gradebook/store/queue.h"
#include "gradebook/slurm/batch.h"

enum { SLURM_OPTIONS = 32 };

typedef struct SlurmOptions {
    bool requested;                         /* --executor slurm */
    bool trusting;                          /* --trust-submissions */
    const char *account, *partition, *gres; /* NULL: not given */
    const char *options[SLURM_OPTIONS];     /* passed to sbatch unchanged */
    int option_count;
    const char *shared; /* a folder that all nodes see; NULL: --out is such a folder */
    int batch;          /* kernels per task; 0: about ten minutes' work */
} SlurmOptions;

/* The number of kernels per task. `seconds`: average per kernel of the lab (< 0: still unknown);
 * `open`: number of open kernels of all labs. */
int task_size(const SlurmOptions *options, int jobs, double seconds, int open);

/* Writes slurm/batch/ atomically; exits on failure. */
void batch_make(Store *store, const Sandbox *sandbox, const GradingOptions *grading,
                const SlurmOptions *options, const Queue *queue);

/* True if the user may pass this option to sbatch; false for options that gradebook sets. */
bool slurm_may_pass(const char *option);

/* sbatch's options for a batch. */
Words sbatch_options(const GradingOptions *grading, const SlurmOptions *options,
                     const Batch *batch);

extern const char task_script[]; /* slurm/task.sh */

/* Quotes a word for a shell script: 'it'\''s'. */
char *shell_quote(const char *word, char *quoted, size_t size);

#endif
