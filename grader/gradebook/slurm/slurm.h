/* slurm.h - grades what is open as job arrays of a Slurm cluster, one GPU a task. */
#ifndef GRADEBOOK_SLURM_SLURM_H
#define GRADEBOOK_SLURM_SLURM_H

#include "gradebook/run/scheduler.h"
#include "gradebook/slurm/batch.h"

/* Submits arrays, follows them, and takes their results into the database, until nothing is open.
 * An array that an earlier run submitted is followed, never submitted again. Stopped by Ctrl-C, it
 * says which array goes on. */
Marked slurm_run(Store *store, const Sandbox *cell, const MarkingOptions *marking,
                 const SlurmOptions *options);

/* An array of an earlier run that is still out: its number ("?" if that is not known). False if
 * there is none. */
bool slurm_is_out(const char *store, char *job, size_t size);

#endif
