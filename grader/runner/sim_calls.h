/* sim_calls.h - the CUDA calls that a guest passes on to a runner whose GPU is simulated.
 *
 * The guest's libcudart (sim/guest) has no GPU: it sends each call as a GUEST_REQUEST and waits
 * for its GUEST_REPLY (guest_wire.h). The runner (sim_serve.c) checks every number and then makes
 * the call in the simulated library. Kernels, streams and events are indices into the runner's own
 * tables, never pointers; a memory address must be inside an array. Data in the guest's own memory
 * follows the words as bytes.
 */
#ifndef RUNNER_SIM_CALLS_H
#define RUNNER_SIM_CALLS_H

#include <stdint.h>

typedef enum SimCallKind {
    CALL_MODULE = 1,  /* version; bytes: the fat binary                    -> module */
    CALL_FUNCTION,    /* module; bytes: its name                           -> kernel */
    CALL_LAYOUT,      /* kernel              -> count; bytes: a size (uint32_t) for each argument */
    CALL_LAUNCH,      /* kernel, grid x y, grid z + flags, block x y, block z, shared, stream */
    CALL_ATTRIBUTES,  /* kernel                          -> bytes: struct cudaFuncAttributes */
    CALL_SET,         /* kernel, attribute, value */
    CALL_PREFER,      /* kernel, cache configuration */
    CALL_OCCUPANCY,   /* kernel, threads, shared, flags                    -> blocks */
    CALL_DEVICE,      /* attribute                                         -> value */
    CALL_COPY,        /* to, from, bytes, kind, stream, CopyFlags; bytes   -> bytes */
    CALL_STREAM,      /* flags                                             -> stream */
    CALL_STREAM_END,  /* stream */
    CALL_STREAM_SYNC, /* stream */
    CALL_STREAM_ASK,  /* stream */
    CALL_STREAM_WAIT, /* stream, event, flags */
    CALL_EVENT,       /* flags                                             -> event */
    CALL_EVENT_END,   /* event */
    CALL_EVENT_MARK,  /* event, stream */
    CALL_EVENT_SYNC,  /* event */
    CALL_EVENT_ASK,   /* event */
    CALL_ELAPSED,     /* begin, end                                        -> a float's bits */
    CALL_SYNC,        /* */
    CALL_TOUCH,       /* address, 1 if it is written   -> first address, bytes; a descriptor */
    SIM_CALLS
} SimCallKind;

/* In the upper half of a launch's third word. */
enum { LAUNCH_TOGETHER = 1, LAUNCH_CLUSTERS = 2 };

/* Which sides of a copy are in the guest's own memory. */
enum { COPY_BLOCKS = 1, COPY_TO_GUEST = 2, COPY_FROM_GUEST = 4 };

enum {
    SIM_WORDS = 8,
    SIM_MOST_BYTES = 16 << 20, /* after a call's or a reply's words */
    SIM_MOST_ARGUMENTS = 512,  /* of a kernel */
    SIM_MOST_ARGUMENT_BYTES = 1 << 16,
    SIM_FIRST_HANDLE = 16, /* streams and events; smaller numbers are CUDA's special handles */
};

/* The address range of the host's pinned arrays, in the runner and in the guest. Nothing else is
 * mapped there; programs, libraries and the simulated GPU's memory (sim/memory.h) are elsewhere. */
#define HOST_ARRAYS_BEGIN 0x6e0000000000ull
#define HOST_ARRAYS_END   0x6f0000000000ull

typedef struct SimCall {
    uint64_t kind, word[SIM_WORDS];
} SimCall;

typedef struct SimReply {
    int64_t error; /* cudaError_t */
    uint64_t word[2];
} SimReply;

#endif
