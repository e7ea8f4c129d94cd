/* scheduler_options.h - options of gradings: kernels, devices, parallelism, limits. */
#ifndef GRADEBOOK_RUN_SCHEDULER_OPTIONS_H
#define GRADEBOOK_RUN_SCHEDULER_OPTIONS_H

#include "gradebook/store/attempt.h"

enum { DEVICES = 16, MOST_WORKERS = 64 };

typedef struct GradingOptions {
    const char *devices[DEVICES]; /* "0", "1", or "sim", "sim:t4"; none: warpbook's choice */
    int device_count;
    int jobs; /* at the same time: gradings on a simulated GPU, builds for a real one; 0: one per
               * processor */
    bool quick;
    double limit_s;      /* per attempt */
    size_t memory_bytes; /* per attempt; 0: by the machine */
    bool requested[LABS];
    int64_t only;      /* only this kernel; 0: all */
    KernelList listed; /* --kernels: one attempt at each of these, under its number; none: all */
    int listed_lab;    /* their lab */
} GradingOptions;

#endif
