/* children.h - what a kernel launches (CUDA dynamic parallelism): its calls of the device's runtime
 * (device_runtime.c), and the order in which its children run (children.c).
 *
 * A kernel cannot wait for its children, so they run after its end. A child is complete when all
 * that it launched is complete. So its own children run before the next child of its parent, and
 * tail launches run last. */
#ifndef SIM_EXEC_CHILDREN_H
#define SIM_EXEC_CHILDREN_H

#include "sim/exec/exec.h"

/* Streams with a meaning of their own, in kernels. */
enum { STREAM_TAIL = 3, STREAM_FIRE_AND_FORGET = 4, STREAM_CREATED = 16 };

/* ---- Their order ---- */

typedef struct Child {
    struct Child *next;
    int depth; /* 1: the host launched its parent. A tail launch has the depth of its parent */
    uint64_t stream;
    uint64_t buffer;       /* of its parameters; 0: it is no kernel */
    void *work;            /* the caller's */
    struct Family *family; /* the caller's */
} Child;

typedef struct ChildList {
    Child *first, *last;
} ChildList;

typedef struct ChildQueue {
    ChildList ready;           /* in the order in which they run */
    ChildList launched, tails; /* by the running kernel */
    long count;                /* of all lists */
} ChildQueue;

void children_add(ChildQueue *queue, Child *child);
/* The running kernel has ended: what it launched runs before all others, its tail launches last. */
void children_settle(ChildQueue *queue);
Child *children_take(ChildQueue *queue); /* NULL: none is left; the caller frees it */

/* ---- What the runtime does for a kernel ---- */

/* The errors here are values of cudaError_t: 0 is success. */

typedef struct ChildGrid {
    int function; /* of the module */
    uint32_t grid[3], block[3], shared_bytes;
} ChildGrid;

typedef struct ChildCalls {
    /* Where the kernel stores the child's parameters; 0 and *error: the launch is refused. */
    uint64_t (*buffer)(const Place *place, const ChildGrid *child, int *error);
    int (*launch)(const Place *place, uint64_t buffer, uint64_t stream);
    int (*copy)(uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream);
    int (*fill)(uint64_t to, int value, uint64_t bytes, uint64_t stream);
    uint64_t (*error_text)(int error, bool is_name); /* the address of a text; 0: out of memory */
} ChildCalls;

/* Returns false if the device's runtime has no such call, or the launch no `children`. */
bool device_runtime_call(Warp *warp, const Step *step, uint32_t mask, Name name);

#endif
