/* issue.h - estimates how many machine instructions the PTX becomes, with how many threads. */
#ifndef SIM_MACHINE_ISSUE_H
#define SIM_MACHINE_ISSUE_H

#include "sim/exec/exec.h"

typedef struct Issue {
    uint64_t instructions, threads;
} Issue;

/* issues[i]: of step i, for all executions in `counts`. They are 0 on entry. */
void estimate_issues(const Code *code, const Count *counts, Issue *issues);

/* none[i]: step i is a branch that predicates replace. They are false on entry.
 */
void find_predicated(const Code *code, bool *none);

#endif
