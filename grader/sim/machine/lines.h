/* lines.h - what the simulator counted, by line of the PTX: how many threads and warps reached each
 * instruction of a launch. */
#ifndef SIM_MACHINE_LINES_H
#define SIM_MACHINE_LINES_H

#include "sim/exec/exec.h"

/* The lanes that need a step's value, as a selp chose. */
typedef struct Selected {
    double share; /* of all that execute it; -1: unknown */
    bool or_zero; /* it adds a number, and 0 for the others */
} Selected;

typedef struct LineCount {
    int function;     /* 0: the kernel; f: function f - 1 of the module */
    const Step *step; /* NULL: no instruction that could have run is in this line */
    int block;        /* number of its basic block of the PTX; the lines of one follow each other */
    double entries;   /* if that block is a loop: threads that entered it; otherwise -1 */
    const LoopCount *loop; /* its rounds; NULL: unknown */
    double reached;        /* threads that came to it; -1: unknown */
    double lanes;          /* threads whose guard was true */
    Selected selected;
    double long_lanes, long_warps; /* of a quotient, root or power of two: as in Count */
    double warps;                  /* that came to it */
    uint64_t parts;     /* of warps that have diverged and meet again where its basic block starts,
                         * not counting one per warp */
    uint64_t divergent; /* branches that split a warp; of an atomic: rounds of its loop */
} LineCount;

typedef struct LineCounts {
    LineCount *lines; /* by line of the PTX */
    int count;
    int block_count;
} LineCounts;

/* starts[i]: a basic block of the PTX starts at step i; room for step_count + 2. All false on
 * entry.
 */
void code_blocks(const Code *code, bool *starts);

/* selected[i]: of step i (sim/machine/selected.c). Returns false if memory ran out. */
bool find_selected(const Code *code, const Count *counts, Selected *selected);

/* Returns false if memory ran out. Free with line_counts_free. */
bool line_counts_make(const Launch *launch, LineCounts *counts);
void line_counts_free(LineCounts *counts);

/* NULL: none. */
const LineCount *line_count_at(const LineCounts *counts, int line);

#endif
