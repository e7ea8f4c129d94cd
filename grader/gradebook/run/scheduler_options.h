/* scheduler_options.h - what may be said of gradings: on which devices, how many, how long; and who
 * looks on. */
#ifndef GRADEBOOK_RUN_SCHEDULER_OPTIONS_H
#define GRADEBOOK_RUN_SCHEDULER_OPTIONS_H

#include "gradebook/store/attempt.h"

enum { DEVICES = 16, SLOTS = 64 };

/* Somebody who looks on (gradebook/slurm/task.c): then a kernel has one attempt. */
typedef struct Watch {
    void *context;
    bool (*begins)(void *context, const Task *task); /* false: not here */
    void (*ended)(void *context, const Task *task, const char *device, const Program *program,
                  const Ended *ended);
} Watch;

typedef struct MarkingOptions {
    const char *devices[DEVICES]; /* "0", "1", or "sim", "sim:t4"; none: warpbook's choice */
    int device_count;
    int jobs; /* beside each other: gradings on a simulated GPU, builds for a real one; 0: as many
               * as there are processors */
    bool quick;
    double limit_s;      /* an attempt may take so long */
    size_t memory_bytes; /* and hold so much; 0: by the machine */
    bool asked[LABS];
    int64_t only;       /* this kernel alone; 0: all */
    const Watch *watch; /* NULL: nobody looks on */
} MarkingOptions;

#endif
