/* sim_machine.h - for tests: machine code that ptxas makes from PTX when the test runs. */
#ifndef SIM_SIM_MACHINE_H
#define SIM_SIM_MACHINE_H

#include "base/util.h"
#include "sim/machine/flow.h"
#include "sim/machine/lowered.h"
#include "sim/sim_launch.h"
#include "sim/sim_time.h"

#include <unistd.h>

/* A loop that ptxas unrolls: the sum of n words. */
#define LOOP                                                                                       \
    "mov.u32 %r7, 0;\nmov.f32 %f1, 0f00000000;\nROUND:\nld.global.f32 %f2, [%rd2];\n"              \
    "add.rn.f32 %f1, %f1, %f2;\nadd.s32 %r7, %r7, 1;\nadd.s64 %rd2, %rd2, 4;\n"                    \
    "setp.lt.s32 %p1, %r7, %r3;\n@%p1 bra ROUND;\nst.global.f32 [%rd1], %f1;\n"

typedef struct Built {
    char *cubin;
    size_t size;
} Built;

/* Returns false if there is no ptxas. */
static inline bool build(const char *ptx, int arch, Built *built)
{
    char folder[] = "/tmp/test_sim_machine.XXXXXX", path[64], command[400];
    FILE *file = mkdtemp(folder) ? fopen(PUT(path, "%s/k.ptx", folder), "w") : NULL;
    bool fine;

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(ptx, file);
    fclose(file);
    PUT(command,
        "bash -c '. grader/build/toolkit.sh; [ -n \"$nvcc\" ] && $(dirname $nvcc)/ptxas "
        "-arch=sm_%d "
        "-lineinfo -o %s/k.cubin %s/k.ptx' >/dev/null 2>&1",
        arch, folder, folder);
    fine = !system(command);
    built->cubin = fine ? read_file(PUT(path, "%s/k.cubin", folder), 1 << 20, &built->size) : NULL;
    PUT(command, "rm -rf %s", folder);
    fine &= !system(command);
    if (!fine)
        printf("(no ptxas for sm_%d) ", arch);
    return fine && built->cubin;
}

static inline Lowering *lower(const Built *built, int arch, const char *ptx)
{
    char why[200];
    Module *module = module_parse(ptx, strlen(ptx), why, sizeof why);
    Lowering *lowering;

    CU_ASSERT_PTR_NOT_NULL_FATAL(module);
    lowering = lowering_of_cubin(built->cubin, built->size, arch, module, "k");
    module_free(module);
    return lowering;
}

/* A kernel `k` and what its machine code says about its steps. */
typedef struct Sample {
    Built built;
    Module *module;
    Code *code;
    Lowering *lowering;
    Lowered lowered;
} Sample;

/* Returns false if there is no ptxas. Free with forget. */
static inline bool know(const char *ptx, int arch, Sample *known)
{
    static const uint64_t variables[] = { 1 << 20 };
    char why[200];

    if (!build(ptx, arch, &known->built))
        return false;
    known->module = module_parse(ptx, strlen(ptx), why, sizeof why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(known->module);
    known->code = code_make(known->module, 0, variables, why, sizeof why);
    known->lowering = lower(&known->built, arch, ptx);
    CU_ASSERT_PTR_NOT_NULL_FATAL(known->code);
    CU_ASSERT_PTR_NOT_NULL_FATAL(known->lowering);
    CU_ASSERT_TRUE_FATAL(lowered_make(&known->lowered, known->lowering, known->code));
    return true;
}

static inline void forget(Sample *known)
{
    lowered_free(&known->lowered);
    lowering_free(known->lowering);
    code_free(known->code);
    module_free(known->module);
    free(known->built.cubin);
}

/* The n-th step of an opcode. */
static inline const LoweredStep *step_of(const Sample *known, Op op, int n)
{
    for (int i = 0; i < known->code->step_count; i++)
        if (known->code->steps[i].in && known->code->steps[i].in->op == op && !n--)
            return &known->lowered.steps[i];
    CU_FAIL_FATAL("no such step");
    return NULL;
}

/* The threads that execute the machine's loads from global memory, and the warps. */
static inline double loads(const Lowering *lowering, const Trial *trial, double *warps)
{
    enum { LDG = 0x181 };
    BlockFlow *flows = calloc((size_t) lowering->block_count, sizeof *flows);
    double threads = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(flows);
    CU_ASSERT_TRUE(flow_find(lowering, &trial->launch, flows));
    *warps = 0;
    for (int b = 0; b < lowering->block_count; b++) {
        const MachineBlock *block = &lowering->blocks[b];
        for (int i = block->first; i < block->first + block->count; i++)
            if ((lowering->code.instructions[i].opcode & MACHINE_OPERATION_BITS) == LDG) {
                threads += flows[b].threads;
                *warps += flows[b].warps;
            }
    }
    free(flows);
    return threads;
}

/* Instructions of all steps, and the threads that execute them. */
static inline Issue all_issues(const Lowering *lowering, const Trial *trial)
{
    const int steps = trial->launch.kernel->step_count;
    Issue *issues[2] = { calloc((size_t) steps + 1, sizeof *issues[0]) }, sum = { 0 };

    CU_ASSERT_PTR_NOT_NULL_FATAL(issues[0]);
    CU_ASSERT_TRUE(count_machine(lowering, &trial->launch, issues));
    for (int i = 0; i < steps; i++) {
        sum.instructions += issues[0][i].instructions;
        sum.threads += issues[0][i].threads;
    }
    free(issues[0]);
    return sum;
}

static inline long instructions(const Lowering *lowering, const Trial *trial)
{
    return (long) all_issues(lowering, trial).instructions;
}

/* The time of one warp with this parameter, without these causes of slowness. Returns false if
 * there is no ptxas. */
static inline bool machine_time(CauseSet causes, uint32_t n, const Device *device, const char *ptx,
                                TimingResult *result)
{
    Trial trial = { .ptx = ptx, .n = n };
    Lowering *lowering;
    Built built;

    if (!build(ptx, 90, &built))
        return false;
    trial.lowering = lowering = lower(&built, 90, ptx);
    CU_ASSERT_PTR_NOT_NULL_FATAL(lowering);
    *result = play_without(causes, device, trial);
    lowering_free(lowering);
    free(built.cubin);
    return true;
}

static inline bool machine_cycles(uint32_t n, const Device *device, const char *ptx, double *result)
{
    TimingResult time = { 0 };
    const bool well = machine_time(0, n, device, ptx, &time);

    *result = time.cycles;
    return well;
}

#endif
