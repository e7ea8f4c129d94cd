/* slurm.h - grades open kernels as job arrays of a Slurm cluster, one GPU per task. */
#ifndef GRADEBOOK_SLURM_SLURM_H
#define GRADEBOOK_SLURM_SLURM_H

#include "gradebook/run/scheduler.h"
#include "gradebook/slurm/job.h"

/* Submits arrays, follows them, and records their results, until no kernel is open. An array that
 * an earlier run submitted is followed, never submitted again. When Ctrl-C stops gradebook, it
 * prints the number of the array that keeps running. */
RunEnd slurm_run(Store *store, const Sandbox *sandbox, const GradingOptions *grading,
                 const SlurmOptions *options);

/* Sets `job` to the number of an earlier run's array that still has work ("?" if it is unknown).
 * Returns false if there is no such array. */
bool slurm_runs(const char *store, char *job, size_t size);

#endif
