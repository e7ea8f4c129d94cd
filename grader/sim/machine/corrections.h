/* corrections.h - how a step of PTX becomes machine instructions where the machine code is unknown.
 */
#ifndef SIM_MACHINE_CORRECTIONS_H
#define SIM_MACHINE_CORRECTIONS_H

#include "sim/machine/maker.h"

typedef struct PipeRow {
    Action action;
    Pipe pipe;
    size_t lanes, latency; /* figures of the device; lanes 0: as wide as issue */
} PipeRow;

/* Instructions that depend on each other. Its figures were measured on an H200
 * (tests/sim/time/mechanisms, latency.* and throughput.*) and are numbers of instructions, so that
 * they follow from a device's own widths and latencies. */
typedef struct Sequence {
    int on_pipe;        /* instructions that use the row's pipe; 0: the step is no sequence */
    int sfu, fp64, alu; /* of each kind, those of which each waits for the one before it */
} Sequence;

/* issues: the number of instructions that replace the step. */
typedef struct Correction {
    const char *name;
    bool (*applies)(const OperationMaker *maker, const Step *step);
    int issues;
    const PipeRow *row; /* NULL: that of its class */
    const char *reason;
    Sequence sequence;
} Correction;

extern const PipeRow pipe_of_class[CLASSES];
extern const PipeRow pipe_of_product, uniform_datapath; /* integers */
extern const PipeRow
    either_pipe; /* an addition that may use the integer pipe or that of products */

/* An operation between predicates, but no comparison. */
bool is_predicate_logic(const OperationMaker *maker, const Step *step);
/* The pipe of the step's class or opcode. */
const PipeRow *pipe_row(const Step *step);
/* How ptxas treats the step differently from one instruction on that pipe; NULL: it does not. */
const Correction *correction_of(const OperationMaker *maker, const Step *step);
/* sim/machine/chains.c: sets for how long a sequence occupies its pipe, and its latency. If it has
 * fewer instructions than usual, each pipe has its share of them. */
void set_sequence(const OperationMaker *maker, const Correction *correction,
                  const LoweredStep *lowered, Operation *to);

#endif
