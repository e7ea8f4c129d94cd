/* path.h - follows the lanes of a launch from block to block of the machine code, while their PTX
 * runs.
 *
 * A lane is at a machine block. When it begins a basic block of the PTX, it goes the shortest way
 * to a machine block with the instructions of that one. So of several copies, which unrolling,
 * peeling or rotating a loop makes, each counts its own rounds. */
#ifndef SIM_MACHINE_PATH_H
#define SIM_MACHINE_PATH_H

#include "sim/exec/walk.h"
#include "sim/machine/lowering.h"

typedef struct PathCount {
    double threads, warps; /* that came to the machine block */
    bool is_known;    /* it is a copy of a basic block of the PTX, or on the way to one, and it is
                       * clear which copy lanes take */
    bool is_doubtful; /* it is on the way to one, but another way avoids it */
} PathCount;

/* Returns NULL if nothing is known (`lowering` NULL), the kernel is too large, or memory ran out.
 * Free with path_free. */
Walk *path_make(const Lowering *lowering, const Code *code);
void path_free(Walk *walk);

/* After the launch: counts[b] of each machine block, and taken[b], the threads that took its
 * branch. Returns false if the walk failed. */
bool path_counts(const Launch *launch, PathCount *counts);

#endif
