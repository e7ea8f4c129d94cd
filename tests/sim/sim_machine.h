/* sim_machine.h - for tests: machine code that ptxas makes from PTX when the test runs. */
#ifndef SIM_SIM_MACHINE_H
#define SIM_SIM_MACHINE_H

#include "base/util.h"
#include "sim/machine/lowering.h"
#include "sim/sim_launch.h"

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

#endif
