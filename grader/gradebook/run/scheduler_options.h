/* scheduler_options.h - options of gradings: kernels, devices, parallelism, limits. */
#ifndef GRADEBOOK_RUN_SCHEDULER_OPTIONS_H
#define GRADEBOOK_RUN_SCHEDULER_OPTIONS_H

#include "gradebook/store/attempt.h"

enum { DEVICES = 16, MOST_WORKERS = 64 };

typedef struct GradingOptions {
    const char *devices[DEVICES]; /* "0", "1", or "sim", "sim:t4"; empty: warpbook chooses */
    int device_count;
    int jobs; /* number of simultaneous gradings on a simulated GPU, or builds for real GPUs; 0: one
                 per processor */
    bool quick;
    double limit_s;      /* per attempt */
    size_t memory_bytes; /* per attempt; 0: depends on the machine */
    bool requested[LABS];
    bool only_wanted;  /* only the kernels that this run requested (requests.h) */
    KernelList listed; /* --kernels: one attempt at each of these kernels, with the given number;
                          empty: all kernels */
    int listed_lab;    /* the lab of `listed` */
} GradingOptions;

#endif
