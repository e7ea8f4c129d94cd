/* hint.c - cudaMemPrefetchAsync and cudaMemAdvise: where managed memory should be. Only modelled
 * time depends on them.
 *
 * CUDA 13 names a location, CUDA 12 a device.
 */
#include "sim/runtime/graph.h"
#include "sim/runtime/hint.h"
#include "sim/runtime/program.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* ---- Places ---- */

enum { NUMA_NODES = 1024 }; /* that Linux can have */

static Home home_of_device(int device)
{
    return device == cudaCpuDeviceId ? (Home){ .type = cudaMemLocationTypeHost }
           : device                  ? (Home){ 0 }
                                     : (Home){ .type = cudaMemLocationTypeDevice };
}

/* The node of the CPU that runs this thread. */
static int16_t current_node(void)
{
    unsigned node = 0;

    return getcpu(NULL, &node) ? 0 : (int16_t) node;
}

/* A system that does not tell has one node. */
static bool has_node(int node)
{
    char path[64];

    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
    return node == 0 || (node > 0 && node < NUMA_NODES && !access(path, F_OK));
}

static Home home_at(struct cudaMemLocation where)
{
    switch (where.type) {
    case cudaMemLocationTypeDevice:
        return where.id ? (Home){ 0 } : (Home){ .type = cudaMemLocationTypeDevice };
    case cudaMemLocationTypeHost:
        return (Home){ .type = cudaMemLocationTypeHost };
    case cudaMemLocationTypeHostNuma:
        return has_node(where.id)
                   ? (Home){ .type = cudaMemLocationTypeHostNuma, .id = (int16_t) where.id }
                   : (Home){ 0 };
    case cudaMemLocationTypeHostNumaCurrent:
        return (Home){ .type = cudaMemLocationTypeHostNuma, .id = current_node() };
    default:
        return (Home){ 0 };
    }
}

#if CUDART_VERSION >= 13000
/* A program built with CUDA 12 passes a device where the location's type is. */
static Home home_of(struct cudaMemLocation where)
{
    return is_program_of_12() ? home_of_device((int) where.type) : home_at(where);
}
#endif

cudaError_t hint_check_range(const void *pointer, size_t bytes)
{
    const Allocation *a = memory_find((uint64_t) (uintptr_t) pointer);

    return a && a->kind == MANAGED && bytes <= a->bytes - ((uint64_t) (uintptr_t) pointer - a->base)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

/* ---- Prefetches ---- */

static cudaError_t issue_prefetch(Stream *stream, const void *pointer, size_t bytes, bool to_device)
{
    Work *work = work_new(WORK_PREFETCH);

    if (work)
        work->prefetch = (PrefetchWork){ .at = (uint64_t) (uintptr_t) pointer,
                                         .bytes = bytes,
                                         .to_device = to_device };
    return issue(stream, work);
}

static cudaError_t check(const Stream *stream, const void *pointer, size_t bytes, Home home)
{
    const cudaError_t error = hint_check_range(pointer, bytes);

    if (error)
        return error;
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    return home.type ? cudaSuccess : cudaErrorInvalidDevice;
}

/* A location that no system has, whatever its number; an H200's driver tells it from a device that
 * this system does not have. */
static bool is_no_place(struct cudaMemLocation where)
{
    return !home_at(where).type && where.type != cudaMemLocationTypeDevice;
}

static cudaError_t prefetch(Stream *stream, const void *pointer, size_t bytes, Home home)
{
    cudaError_t error = check(stream, pointer, bytes, home);

    if (error || !bytes || stream->capture)
        return error;
    error = range_prefetched(pointer, bytes, home);
    if (error || !managed_is_at((uint64_t) (uintptr_t) pointer))
        return error;
    return issue_prefetch(stream, pointer, bytes, home.type == cudaMemLocationTypeDevice);
}

cudaError_t hint_check_prefetch(Stream *stream, const void *pointer, size_t bytes,
                                struct cudaMemLocation where)
{
    return check(stream, pointer, bytes, home_at(where));
}

cudaError_t hint_prefetch_to(Stream *stream, const void *pointer, size_t bytes,
                             struct cudaMemLocation where)
{
    return prefetch(stream, pointer, bytes, home_at(where));
}

cudaError_t hint_prefetch(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    return CALL(prefetch(stream_of(stream, false), pointer, bytes, home_of_device(device)));
}

#undef cudaMemPrefetchAsync
#if CUDART_VERSION >= 13000
/* CUDA 12 passes the stream in the place of CUDA 13's flags, so that parameter has room for
 * either. */
typedef struct Placement {
    const void *pointer;
    size_t bytes;
    struct cudaMemLocation where;
    uint64_t flags_or_stream;
    cudaStream_t stream;
} Placement;

static cudaError_t prefetch_to(Placement p, bool per_thread)
{
    const bool is_12 = is_program_of_12();
    const cudaStream_t stream = is_12 ? (cudaStream_t) (uintptr_t) p.flags_or_stream : p.stream;

    if (!p.bytes || (!is_12 && ((unsigned) p.flags_or_stream || is_no_place(p.where))))
        return cudaErrorInvalidValue;
    return prefetch(stream_of(stream, per_thread), p.pointer, p.bytes, home_of(p.where));
}

#define PREFETCH(name, symbol, per_thread)                                                         \
    API cudaError_t name(const void *pointer, size_t bytes, struct cudaMemLocation where,          \
                         uint64_t flags_or_stream, cudaStream_t stream) __asm__(symbol);           \
    API cudaError_t name(const void *pointer, size_t bytes, struct cudaMemLocation where,          \
                         uint64_t flags_or_stream, cudaStream_t stream)                            \
    {                                                                                              \
        return CALL(prefetch_to((Placement){ pointer, bytes, where, flags_or_stream, stream },     \
                                per_thread));                                                      \
    }
PREFETCH(prefetch_of_any, "cudaMemPrefetchAsync", false)
PREFETCH(prefetch_of_thread, "cudaMemPrefetchAsync_ptsz", true)
#undef PREFETCH
#else
STREAM_CALL(cudaMemPrefetchAsync, per_thread,
            (const void *pointer, size_t bytes, int device, cudaStream_t stream),
            prefetch(stream_of(stream, per_thread), pointer, bytes, home_of_device(device)))
#endif

/* Its name in CUDA 12 if it takes a location. */
#undef cudaMemPrefetchAsync_v2
cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, struct cudaMemLocation where,
                                    unsigned flags, cudaStream_t stream);
STREAM_CALL(cudaMemPrefetchAsync_v2, per_thread,
            (const void *pointer, size_t bytes, struct cudaMemLocation where, unsigned flags,
             cudaStream_t stream),
            flags || !bytes || is_no_place(where)
                ? cudaErrorInvalidValue
                : prefetch(stream_of(stream, per_thread), pointer, bytes, home_at(where)))

/* ---- Advice ---- */

static cudaError_t advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          Home home)
{
    cudaError_t error = hint_check_range(pointer, bytes);
    const bool has_home = advice != cudaMemAdviseSetReadMostly &&
                          advice != cudaMemAdviseUnsetReadMostly &&
                          advice != cudaMemAdviseUnsetPreferredLocation;

    if (error)
        return error;
    if ((int) advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return cudaErrorInvalidValue;
    if (!bytes || (has_home && !home.type))
        return cudaErrorInvalidValue;
    if (advice == cudaMemAdviseSetAccessedBy && home.type == cudaMemLocationTypeHostNuma)
        return cudaErrorInvalidValue;
    error = range_advised(pointer, bytes, advice, home);
    if (!error && managed_is_at((uint64_t) (uintptr_t) pointer))
        managed_advise((uint64_t) (uintptr_t) pointer, bytes, advice,
                       home.type > cudaMemLocationTypeDevice);
    return error;
}

cudaError_t hint_advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
    return CALL(advise(pointer, bytes, advice, home_of_device(device)));
}

#undef cudaMemAdvise
#if CUDART_VERSION >= 13000
API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation where)
{
    return CALL(advise(pointer, bytes, advice, home_of(where)));
}
#else
API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                              int device)
{
    return CALL(advise(pointer, bytes, advice, home_of_device(device)));
}
#endif

/* Its name in CUDA 12 if it takes a location. */
API cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation where);
API cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation where)
{
    return CALL(advise(pointer, bytes, advice, home_at(where)));
}
