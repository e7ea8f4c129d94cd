/* build_job.h - what is to be built, and what came of it. */
#ifndef BUILD_BUILD_JOB_H
#define BUILD_BUILD_JOB_H

#include <stdbool.h>
#include "base/diagnosis.h"
#include "lab.h"
#include "build/toolchain.h"

typedef enum BuildFault {
    BUILD_OK,
    BUILD_STUDENT, /* the source's fault: a `build` verdict */
    BUILD_MACHINE, /* no compiler, no space, unsupported host compiler...: nobody can be graded */
} BuildFault;

typedef struct Build {
    BuildFault fault;
    DiagnosisCode code; /* BUILD_STUDENT: why, from SAW_COMPILER on */
    char object[512];   /* path of kernel.so; or of what `portable` has made */
    char message[4096]; /* what was wrong: one sentence, then the compiler's lines, named after
                           `shown`, then the command to see them all */
    char note[256];     /* said although it built: newer GPU than nvcc knows, say; "" if nothing */
} Build;

typedef struct BuildJob {
    const Toolchain *toolchain;
    const char *source;  /* the kernel.cu to build */
    const char *shown;   /* how to call it in messages */
    const char *lab_dir; /* the trusted labs/NN_name: kernel.h and other headers */
    const char *common;  /* the trusted common/ */
    const char *cache;   /* folder of the cache: build/cache */
    const Lab *lab;      /* allowed symbols, the function's name */
    int cc;              /* 90 for sm_90: the graded device */

    /* Of our own kernels, without their text (build/stub.h): `portable` makes an object of one, for
     * all devices that nvcc knows, to be taken to another machine; `linked` makes a kernel.so of
     * such an object, which `source` then is. */
    bool portable, linked;
} BuildJob;

enum { BUILD_SOURCE_BYTES = 256 << 10 }; /* a larger source is refused */

#endif
