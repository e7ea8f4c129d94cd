/* issue.h - estimates how many machine instructions ptxas generates from the PTX, and how many
 * threads execute them. */
#ifndef SIM_MACHINE_ISSUE_H
#define SIM_MACHINE_ISSUE_H

#include "sim/exec/exec.h"

typedef struct Issue {
    uint64_t instructions, threads;
} Issue;

/* issues[i]: the instructions of step i, for all executions in `counts`. All 0 on entry. */
void estimate_issues(const Code *code, const Count *counts, Issue *issues);

/* none[i]: step i is a branch that predicates replace. All false on entry. */
void find_predicated(const Code *code, bool *none);

#endif
