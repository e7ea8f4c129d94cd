/* sim_counted.h - for tests: a kernel whose machine instructions are counted. */
#ifndef SIM_SIM_COUNTED_H
#define SIM_SIM_COUNTED_H

#include "sim/sim_machine.h"

enum { ARCH = 90, THREADS = 64, WARPS = THREADS / LANES };

/* A kernel, its machine code and a run of it. */
typedef struct Counted {
    Trial trial;
    Built built;
    Lowering *lowering;
    Issue all;
} Counted;

/* Returns false if there is no ptxas. */
static inline bool count_kernel(Counted *counted, const char *ptx, uint32_t n)
{
    *counted = (Counted){ .trial = { .ptx = ptx, .threads = THREADS, .n = n } };
    if (!build(ptx, ARCH, &counted->built))
        return false;
    counted->lowering = lower(&counted->built, ARCH, ptx);
    CU_ASSERT_PTR_NOT_NULL_FATAL(counted->lowering);
    counted->trial.lowering = counted->lowering;
    CU_ASSERT_FATAL(trial_run(&counted->trial));
    counted->all = all_issues(counted->lowering, &counted->trial);
    return true;
}

static inline void release(Counted *counted)
{
    trial_close(&counted->trial);
    lowering_free(counted->lowering);
    free(counted->built.cubin);
}

static inline bool is_guarded(const MachineInstruction *in)
{
    return in->guard != MACHINE_ALWAYS && machine_pipe(ARCH, in->opcode) != MACHINE_CONTROL;
}

/* How often its basic blocks ran. Free it. */
static inline BlockFlow *flows_of(const Counted *counted)
{
    BlockFlow *flows = calloc((size_t) counted->lowering->block_count, sizeof *flows);

    CU_ASSERT_PTR_NOT_NULL_FATAL(flows);
    CU_ASSERT_TRUE(flow_find(counted->lowering, &counted->trial.launch, flows));
    return flows;
}

#endif
