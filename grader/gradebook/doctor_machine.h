/* doctor_machine.h - is the machine around the GPUs fit to grade? */
#ifndef DOCTOR_MACHINE_H
#define DOCTOR_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "gradebook/health.h"

typedef struct Checkup {
    const char *out;   /* folder of the gradebook; NULL: not told */
    bool trusting;     /* --trust-submissions */
    int gpus;          /* to grade on at a time */
    char toolkit[128]; /* nvcc's version, once machine_diagnose has found it; else "" */
} Checkup;

void machine_diagnose(Checkup *checkup, HealthReport *all);

/* The parts that tests look into. */

/* A file system by statfs's number: "NFS"; NULL if it is none over a network. */
const char *network_disk(int64_t type);

/* Where the root of cgroup v2 is mounted, is our group there delegated, with memory among what may
 * be set? `root`: /sys/fs/cgroup; `own`: the text of /proc/self/cgroup. */
void cgroup_diagnose(const char *root, const char *own, HealthReport *all);

#endif
