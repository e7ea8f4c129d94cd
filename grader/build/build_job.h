/* build_job.h - a build: what to build, and the result. */
#ifndef BUILD_BUILD_JOB_H
#define BUILD_BUILD_JOB_H

#include <stdbool.h>
#include "base/diagnosis.h"
#include "lab.h"
#include "build/diagnostics.h"
#include "build/toolchain.h"

typedef enum BuildFault {
    BUILD_OK,
    BUILD_STUDENT, /* the source's fault: a `build` verdict */
    BUILD_MACHINE, /* no compiler, no space, unsupported host compiler...: nothing can be graded */
} BuildFault;

/* The errors of a build that belong to a line. */
enum { BUILD_ERRORS = 12 };
typedef struct BuildErrors {
    int count;
    CompilerError error[BUILD_ERRORS];
} BuildErrors;

typedef struct Build {
    BuildFault fault;
    DiagnosisCode code; /* BUILD_STUDENT: why, from SAW_COMPILER on */
    char object[512];   /* path of kernel.so, or of the object that `portable` made */
    char message[4096]; /* the error: one sentence, then the compiler's lines with the name
                           `shown`, then the command that prints them all */
    BuildErrors errors; /* BUILD_STUDENT: those in `message` that name a line */
    char note[256];     /* a remark on a build that succeeded, for example that nvcc does not know
                           this GPU; "" if none */
} Build;

typedef struct BuildJob {
    const Toolchain *toolchain;
    const char *source;  /* the kernel.cu to build */
    const char *shown;   /* its name in messages */
    const char *lab_dir; /* the trusted labs/NN_name: kernel.h and other headers */
    const char *common;  /* the trusted common/ */
    const char *cache;   /* folder of the cache: build/cache */
    const Lab *lab;      /* allowed symbols, the function's name */
    int cc;              /* 90 for sm_90: the graded device */

    /* For workbook kernels whose text is hidden (build/stub.h). portable: builds an object for all
     * devices that nvcc knows, for use on another machine. linked: `source` is an object built that
     * way, and is linked to a kernel.so. */
    bool portable, linked;
} BuildJob;

enum { BUILD_SOURCE_BYTES = 256 << 10 }; /* a larger source is refused */

#endif
