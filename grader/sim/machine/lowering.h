/* lowering.h - the machine code that a kernel's PTX became: basic blocks of machine instructions,
 * each of which knows its line of the PTX.
 */
#ifndef SIM_MACHINE_LOWERING_H
#define SIM_MACHINE_LOWERING_H

#include "sim/binary/machine_code.h"
#include "sim/ptx/module.h"

typedef struct MachineBlock {
    int first, count; /* instructions */
    int next, taken;  /* blocks that may follow: by falling through, by the branch; -1: none */
    int callee;       /* first block of the subroutine that it calls at its end; -1: none */
    bool leaves;      /* lanes may end here, or return */
    bool anywhere;    /* an indirect branch: its targets are unknown */
    bool calls_any;   /* an indirect call */
    bool is_reached;
    bool in_callee; /* only reached by calls */
} MachineBlock;

typedef struct Lowering {
    MachineCode code;
    MachineBlock *blocks; /* in order of address; block 0 is the kernel's entry */
    int block_count;
} Lowering;

/* Reads the machine code of a kernel of `module` for exactly this architecture. Returns NULL if the
 * fat binary has no such cubin, the cubin no line table, or its lines are not those of the module.
 * Free with lowering_free. */
Lowering *lowering_make(const Fatbin *fatbin, int arch, const Module *module, const char *kernel);
/* The same from one cubin. */
Lowering *lowering_of_cubin(const void *cubin, size_t size, int arch, const Module *module,
                            const char *kernel);
void lowering_free(Lowering *lowering);

/* The number of the basic block of the PTX that the branch in a line ends; -1: none. */
typedef int BranchEnds(const void *self, int line);
/* Whether the only way to a machine block passes the branch at the end of a basic block of the PTX.
 * What the machine block has of that one, ptxas has moved behind the branch. */
bool lowering_is_behind(const Lowering *lowering, int block, int ptx, BranchEnds *ends,
                        const void *self);

#endif
