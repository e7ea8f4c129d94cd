/* driver.h - shared by the parts of the driver API (cu...), which uses the runtime's own
 * implementation: streams, events, memory, arrays and kernels are the same objects in both, so a
 * program may mix the two.
 *
 * Numbers of errors are those of the runtime, except where the runtime has several for one of the
 * driver's. Calls of the driver do not change what cudaGetLastError returns.
 */
#ifndef SIM_RUNTIME_DRIVER_DRIVER_H
#define SIM_RUNTIME_DRIVER_DRIVER_H

#include "sim/runtime/runtime.h"

#include <cuda.h>

/* Defines a call. `expression` is a cudaError_t or CUresult. */
#define DRIVER_CALL(name, parameters, expression)                                                  \
    API CUresult CUDAAPI name parameters;                                                          \
    API CUresult CUDAAPI name parameters                                                           \
    {                                                                                              \
        const CUresult refused = driver_enter(true);                                               \
        return refused ? refused : driver_leave((int) (expression));                               \
    }

/* The same for calls that need no current context. */
#define DRIVER_CALL_ANYWHERE(name, parameters, expression)                                         \
    API CUresult CUDAAPI name parameters;                                                          \
    API CUresult CUDAAPI name parameters                                                           \
    {                                                                                              \
        const CUresult refused = driver_enter(false);                                              \
        return refused ? refused : driver_leave((int) (expression));                               \
    }

/* A call that takes a stream, and its twin for programs with per-thread default streams: `on` is
 * the name of the stream to use for `stream` in the expression. */
#define DRIVER_STREAM_CALL(name, parameters, stream, on, expression)                               \
    DRIVER_TWINS(name, name##_ptsz, parameters, stream, on, expression)

/* A blocking call of stream 0. `on` is that stream, or the thread's own. */
#define DRIVER_BLOCKING_CALL(name, parameters, on, expression)                                     \
    DRIVER_TWINS(name, name##_ptds, parameters, NULL, on, expression)

#define DRIVER_TWINS(name, twin, parameters, stream, on, expression)                               \
    API CUresult CUDAAPI name parameters;                                                          \
    API CUresult CUDAAPI twin parameters;                                                          \
    API CUresult CUDAAPI name parameters                                                           \
    {                                                                                              \
        const CUstream on = stream;                                                                \
        const CUresult refused = driver_enter(true);                                               \
        (void) on;                                                                                 \
        return refused ? refused : driver_leave((int) (expression));                               \
    }                                                                                              \
    API CUresult CUDAAPI twin parameters                                                           \
    {                                                                                              \
        const CUstream on = stream ? stream : CU_STREAM_PER_THREAD;                                \
        const CUresult refused = driver_enter(true);                                               \
        (void) on;                                                                                 \
        return refused ? refused : driver_leave((int) (expression));                               \
    }

/* driver.c */
CUresult driver_enter(bool needs_context); /* not CUDA_SUCCESS: the call must return it */
CUresult driver_leave(int error);
CUresult driver_result(cudaError_t error);

/* context.c */
CUcontext context_current(void); /* NULL: none */
bool context_is_current(void);

/* entry.c: the address of a call by its name in the header, for a version of CUDA such as 12000;
 * NULL: there is none. `per_thread`: for programs with per-thread default streams. */
void *entry_find(const char *name, int version, bool per_thread);

static inline void *pointer_of(CUdeviceptr address)
{
    return (void *) (uintptr_t) address;
}

#endif
