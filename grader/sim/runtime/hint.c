/* hint.c - cudaMemPrefetchAsync and cudaMemAdvise: where managed memory should be. Only modelled
 * time depends on them.
 *
 * CUDA 13 names a location, CUDA 12 a device.
 */
#include "sim/runtime/graph.h"
#include "sim/runtime/hint.h"

/* ---- Places ---- */

typedef enum Side { NO_SIDE, HOST_SIDE, DEVICE_SIDE } Side;

static Side side_of_device(int device)
{
    return device == cudaCpuDeviceId ? HOST_SIDE : device ? NO_SIDE : DEVICE_SIDE;
}

#if CUDART_VERSION >= 13000
/* A program built with CUDA 12 passes a device where the location's type is. */
static Side side_of(struct cudaMemLocation where)
{
    if (is_program_of_12())
        return side_of_device((int) where.type);
    switch (where.type) {
    case cudaMemLocationTypeDevice:
        return side_of_device(where.id);
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
        return HOST_SIDE;
    default:
        return NO_SIDE;
    }
}
#endif

static cudaError_t check_range(const void *pointer, size_t bytes)
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

static cudaError_t prefetch(Stream *stream, const void *pointer, size_t bytes, Side side)
{
    const cudaError_t error = check_range(pointer, bytes);

    if (error)
        return error;
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (side == NO_SIDE)
        return cudaErrorInvalidDevice;
    if (!bytes || !managed_is_at((uint64_t) (uintptr_t) pointer) || stream->capture)
        return cudaSuccess;
    return issue_prefetch(stream, pointer, bytes, side == DEVICE_SIDE);
}

cudaError_t hint_prefetch(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    return CALL(prefetch(stream_of(stream, false), pointer, bytes, side_of_device(device)));
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
    const cudaStream_t stream =
        is_program_of_12() ? (cudaStream_t) (uintptr_t) p.flags_or_stream : p.stream;

    return prefetch(stream_of(stream, per_thread), p.pointer, p.bytes, side_of(p.where));
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
            prefetch(stream_of(stream, per_thread), pointer, bytes, side_of_device(device)))
#endif

/* ---- Advice ---- */

static cudaError_t advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          Side side)
{
    const cudaError_t error = check_range(pointer, bytes);
    const bool has_side = advice != cudaMemAdviseSetReadMostly &&
                          advice != cudaMemAdviseUnsetReadMostly &&
                          advice != cudaMemAdviseUnsetPreferredLocation;

    if (error)
        return error;
    if ((int) advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return cudaErrorInvalidValue;
    if (has_side && side == NO_SIDE)
        return cudaErrorInvalidDevice;
    if (bytes && managed_is_at((uint64_t) (uintptr_t) pointer))
        managed_advise((uint64_t) (uintptr_t) pointer, bytes, advice, side == HOST_SIDE);
    return cudaSuccess;
}

cudaError_t hint_advise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
    return CALL(advise(pointer, bytes, advice, side_of_device(device)));
}

#undef cudaMemAdvise
#if CUDART_VERSION >= 13000
API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation where)
{
    return CALL(advise(pointer, bytes, advice, side_of(where)));
}
#else
API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                              int device)
{
    return CALL(advise(pointer, bytes, advice, side_of_device(device)));
}
#endif
