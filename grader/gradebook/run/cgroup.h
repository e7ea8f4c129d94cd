/* cgroup.h - limits that the kernel keeps for a grading as a whole, where systemd may set them. */
#ifndef GRADEBOOK_RUN_CGROUP_H
#define GRADEBOOK_RUN_CGROUP_H

#include "gradebook/base/words.h"
#include "gradebook/run/limits.h"

typedef struct Cgroup {
    bool works;
    bool of_user;      /* systemd's manager of this user; else that of the machine: we are root */
    Words environment; /* with what systemd-run needs to know; the program does not get it */
} Cgroup;

/* Tries whether systemd starts scopes for us. `environment`: of the programs to be started. */
void cgroup_open(Cgroup *cgroup, const Words *environment);
void cgroup_close(Cgroup *cgroup);

/* What stands before a command, if it works, so that it gets those limits. */
void cgroup_begin(const Cgroup *cgroup, const Limits *fence, Words *command);

#endif
