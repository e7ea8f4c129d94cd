/* cgroup.h - kernel-enforced limits for a grading as a whole, where systemd can set them. */
#ifndef GRADEBOOK_RUN_CGROUP_H
#define GRADEBOOK_RUN_CGROUP_H

#include "gradebook/base/words.h"
#include "gradebook/run/limits.h"

typedef struct Cgroup {
    bool works;
    bool of_user;      /* systemd's user manager; else the system's, as root */
    Words environment; /* for systemd-run only; the program does not get it */
} Cgroup;

/* Tests whether systemd can start scopes for this user. `environment` is that of the programs to
 * start. */
void cgroup_open(Cgroup *cgroup, const Words *environment);
void cgroup_close(Cgroup *cgroup);

/* If scopes work, begins the command with a prefix that sets these limits. */
void cgroup_begin(const Cgroup *cgroup, const Limits *limits, Words *command);

#endif
