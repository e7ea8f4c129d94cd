/* issue.h - how many instructions of the machine stand behind those of PTX, and with how many
 * threads. */
#ifndef SIM_MACHINE_ISSUE_H
#define SIM_MACHINE_ISSUE_H

#include "sim/exec/exec.h"

typedef struct Issue {
    uint64_t instructions, threads;
} Issue;

/* issues[i]: of step i, over all that `counts` counts. They are 0 on entry. */
void estimate_issues(const Code *code, const Count *counts, Issue *issues);

/* none[i]: step i is a branch in whose place the machine has predicates. They are false on entry.
 */
void find_predicated(const Code *code, bool *none);

#endif
