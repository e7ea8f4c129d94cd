/* doctor_machine.h - is the machine around the GPUs fit to grade? */
#ifndef DOCTOR_MACHINE_H
#define DOCTOR_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "gradebook/health.h"

typedef struct Checkup {
    const char *out;   /* folder of the gradebook; NULL: not given */
    bool trusting;     /* --trust-submissions */
    int gpus;          /* graded on at the same time */
    char toolkit[128]; /* nvcc's version, once machine_diagnose has found it; else "" */
} Checkup;

void machine_diagnose(Checkup *checkup, HealthReport *all);

/* Exposed for tests. */

/* The name of a network file system by statfs's number ("NFS"); NULL for any other. */
const char *network_disk(int64_t type);

/* Checks that cgroup v2 is mounted and that our group is delegated with the memory controller.
 * `root`: /sys/fs/cgroup; `own`: the text of /proc/self/cgroup. */
void cgroup_diagnose(const char *root, const char *own, HealthReport *all);

#endif
