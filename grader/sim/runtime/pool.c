/* pool.c - stream-ordered allocation: cudaMallocAsync, cudaFreeAsync, memory pools.
 *
 * Memory exists as soon as the call returns, and a program must order its use. A free is work in a
 * stream. A pool only counts: the bytes in use, and those that the driver would keep reserved for
 * later allocations (in units of 2 MiB, down to the release threshold whenever the host waits).
 *
 * An allocation that a capture makes belongs to the graph. It keeps its address, and lives from
 * the allocation to the free of each launch.
 */
#include "sim/runtime/graph.h"

#include <stdlib.h>

enum { UNIT = 2 << 20, FLAGS = 3 };

typedef struct Pool {
    struct Pool *next;
    bool destroyed;     /* freed once nothing of it is in use */
    int flags[FLAGS];   /* cudaMemPoolReuse... */
    uint64_t threshold; /* cudaMemPoolAttrReleaseThreshold */
    uint64_t most;      /* cudaMemPoolProps.maxSize; 0: none */
    uint64_t used, used_high, reserved, reserved_high;
    enum cudaMemAccessFlags access;
} Pool;

static Pool usual = { .flags = { 1, 1, 1 }, .access = cudaMemAccessFlagsProtReadWrite };
static Pool graphs; /* the allocations of graphs */
static Pool *created, *current = &usual;

/* ---- Counting ---- */

static uint64_t in_units(uint64_t bytes)
{
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

static void count_in(Pool *pool, size_t bytes)
{
    pool->used += bytes;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    if (in_units(pool->used) > pool->reserved)
        pool->reserved = in_units(pool->used);
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
}

static void trim(Pool *pool, uint64_t kept)
{
    const uint64_t least = in_units(pool->used);

    if (kept < pool->reserved)
        pool->reserved = in_units(kept) > least ? in_units(kept) : least;
}

void pools_trim(void)
{
    trim(&usual, usual.threshold);
    for (Pool *pool = created; pool; pool = pool->next)
        trim(pool, pool->threshold);
}

static void sweep(void)
{
    for (Pool **at = &created; *at;) {
        Pool *pool = *at;
        if (pool->destroyed && !pool->used) {
            *at = pool->next;
            free(pool);
        } else {
            at = &pool->next;
        }
    }
}

bool pool_free(uint64_t base)
{
    const Allocation *allocation = memory_find(base);
    Pool *pool = allocation ? allocation->pool : NULL;
    const size_t bytes = allocation ? allocation->bytes : 0;

    if (allocation)
        advice_free(allocation);
    if (!memory_free(base))
        return false;
    if (pool) {
        pool->used -= bytes;
        sweep();
    }
    return true;
}

void pools_drop(void)
{
    for (Pool *pool = created; pool; pool = pool->next) {
        handle_set(HANDLE_POOL, pool, NULL);
        pool->destroyed = true;
    }
    current = &usual;
}

/* ---- Allocating and freeing ---- */

static void reserve(Allocation *allocation)
{
    allocation->pool = &graphs;
    allocation->reserved = true;
    memory_free(allocation->base);
}

cudaError_t pool_reserve(void **pointer, size_t bytes)
{
    cudaError_t error = bytes ? allocate(pointer, bytes, ALLOCATED) : cudaErrorInvalidValue;

    if (!error)
        reserve(memory_find((uint64_t) (uintptr_t) *pointer));
    return error;
}

static cudaError_t capture_allocation(Stream *stream, Allocation *allocation)
{
    Work *work = work_new(WORK_ALLOCATE);

    reserve(allocation);
    if (work)
        work->base = allocation->base;
    return issue(stream, work);
}

static cudaError_t allocate_in(void **pointer, size_t bytes, Pool *pool, Stream *stream)
{
    cudaError_t error;

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!pool || !pointer)
        return cudaErrorInvalidValue;
    if (pool->most && bytes > pool->most - pool->used)
        return cudaErrorMemoryAllocation;
    if (!stream->capture && any_capture_refuses("cudaMallocAsync"))
        return cudaErrorStreamCaptureUnsupported;
    error = allocate(pointer, bytes, ALLOCATED);
    if (error || !*pointer)
        return error;
    Allocation *allocation = memory_find((uint64_t) (uintptr_t) *pointer);
    if (stream->capture)
        return capture_allocation(stream, allocation);
    allocation->pool = pool;
    count_in(pool, bytes);
    return cudaSuccess;
}

/* Memory of a graph is freed in the capture that allocated it; it is not live during the capture.
 */
static bool is_of_graph(const void *pointer)
{
    const Allocation *allocation = memory_nearest((uint64_t) (uintptr_t) pointer);

    return allocation && allocation->reserved && allocation->base == (uint64_t) (uintptr_t) pointer;
}

bool pool_may_free(const void *pointer)
{
    return is_of_graph(pointer) || !check_free(pointer, "a node that frees", false);
}

static cudaError_t free_later(void *pointer, Stream *stream)
{
    const bool captured = stream && stream->capture;
    cudaError_t error = cudaSuccess;
    Work *work;

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!captured || !is_of_graph(pointer))
        error = check_free(pointer, "cudaFreeAsync", false);
    if (error)
        return error;
    if (!captured)
        memory_find((uint64_t) (uintptr_t) pointer)->freeing = true;
    work = work_new(WORK_FREE);
    if (work)
        work->base = (uint64_t) (uintptr_t) pointer;
    return issue(stream, work);
}

static void refuse(const char *text, uint64_t base)
{
    char where[200];

    memory_describe(base, 1, where, sizeof where);
    rt_finding(FINDING_USE_AFTER_FREE, true, NULL, "a launch of a graph %s 0x%llx: %s", text,
               (unsigned long long) base, where);
    run_fail(cudaErrorIllegalAddress);
}

void pool_run(const Work *work)
{
    const Allocation *allocation;

    if (work->kind == WORK_FREE) {
        if (!pool_free(work->base))
            refuse("frees", work->base);
        return;
    }
    allocation = memory_find(work->base); /* not freed since the last launch: it is used again */
    if (!allocation && memory_revive(work->base))
        count_in(&graphs, memory_find(work->base)->bytes);
    else if (!allocation)
        refuse("cannot allocate", work->base);
}

static Pool *pool_of(cudaMemPool_t handle)
{
    return handle == (cudaMemPool_t) &usual ? &usual : handle_get(HANDLE_POOL, handle);
}

STREAM_CALL(cudaMallocAsync, per_thread, (void **pointer, size_t bytes, cudaStream_t stream),
            allocate_in(pointer, bytes, current, stream_of(stream, per_thread)))
STREAM_CALL(cudaMallocFromPoolAsync, per_thread,
            (void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
            allocate_in(pointer, bytes, pool_of(pool), stream_of(stream, per_thread)))
STREAM_CALL(cudaFreeAsync, per_thread, (void *pointer, cudaStream_t stream),
            free_later(pointer, stream_of(stream, per_thread)))

/* ---- Pools ---- */

static bool is_this_device(const struct cudaMemLocation *location)
{
    return location && location->type == cudaMemLocationTypeDevice && location->id == 0;
}

static cudaError_t create(cudaMemPool_t *handle, const struct cudaMemPoolProps *properties)
{
    Pool *pool;

    if (!handle || !properties || properties->allocType != cudaMemAllocationTypePinned ||
        !is_this_device(&properties->location))
        return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone)
        return cudaErrorNotSupported; /* there is no other process to share it with */
    pool = malloc(sizeof *pool);
    if (!pool || !handle_set(HANDLE_POOL, pool, pool)) {
        free(pool);
        return cudaErrorMemoryAllocation;
    }
    *pool = (Pool){ .next = created,
                    .flags = { 1, 1, 1 },
                    .most = properties->maxSize,
                    .access = cudaMemAccessFlagsProtReadWrite };
    created = pool;
    *handle = (cudaMemPool_t) pool;
    return cudaSuccess;
}

static cudaError_t destroy(Pool *pool)
{
    if (!pool || pool == &usual)
        return cudaErrorInvalidValue;
    if (current == pool)
        current = &usual;
    handle_set(HANDLE_POOL, pool, NULL);
    pool->destroyed = true;
    sweep();
    return cudaSuccess;
}

static cudaError_t give(cudaMemPool_t *handle, Pool *pool, int device)
{
    if (device)
        return cudaErrorInvalidDevice;
    if (!handle)
        return cudaErrorInvalidValue;
    *handle = (cudaMemPool_t) pool;
    return cudaSuccess;
}

static cudaError_t use(Pool *pool, int device)
{
    if (device || !pool)
        return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    current = pool;
    return cudaSuccess;
}

static cudaError_t trim_to(Pool *pool, size_t kept)
{
    if (!pool)
        return cudaErrorInvalidValue;
    trim(pool, kept);
    return cudaSuccess;
}

API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    return CALL(create(pool, properties));
}

API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return CALL(destroy(pool_of(pool)));
}

API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    return CALL(give(pool, &usual, device));
}

API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return CALL(give(pool, current, device));
}

API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    return CALL(use(pool_of(pool), device));
}

API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t kept)
{
    return CALL(trim_to(pool_of(pool), kept));
}

#if CUDART_VERSION >= 13000
static int device_at(const struct cudaMemLocation *location, enum cudaMemAllocationType type)
{
    return !is_this_device(location) || type != cudaMemAllocationTypePinned;
}

API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                         enum cudaMemAllocationType type)
{
    return CALL(give(pool, &usual, device_at(location, type)));
}

API cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                  enum cudaMemAllocationType type)
{
    return CALL(give(pool, current, device_at(location, type)));
}

API cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                                  cudaMemPool_t pool)
{
    return CALL(use(pool_of(pool), device_at(location, type)));
}
#endif

/* ---- Attributes ---- */

/* The count of an attribute that is a number of 64 bits; NULL: another attribute. */
static uint64_t *number_of(Pool *pool, enum cudaMemPoolAttr attribute)
{
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        return &pool->threshold;
    case cudaMemPoolAttrReservedMemCurrent:
        return &pool->reserved;
    case cudaMemPoolAttrReservedMemHigh:
        return &pool->reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
        return &pool->used;
    case cudaMemPoolAttrUsedMemHigh:
        return &pool->used_high;
    default:
        return NULL;
    }
}

static int *flag_of(Pool *pool, enum cudaMemPoolAttr attribute)
{
    const int flag = (int) attribute - (int) cudaMemPoolReuseFollowEventDependencies;

    return flag >= 0 && flag < FLAGS ? &pool->flags[flag] : NULL;
}

static cudaError_t get_attribute(Pool *pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (!pool || !value)
        return cudaErrorInvalidValue;
    if (flag_of(pool, attribute))
        *(int *) value = *flag_of(pool, attribute);
    else if (number_of(pool, attribute))
        *(uint64_t *) value = *number_of(pool, attribute);
    else
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* A high-water mark may only be reset to 0: it becomes the current value. */
static cudaError_t reset_high(uint64_t *high, uint64_t value, uint64_t now)
{
    if (value)
        return cudaErrorInvalidValue;
    *high = now;
    return cudaSuccess;
}

static cudaError_t set_attribute(Pool *pool, enum cudaMemPoolAttr attribute, const void *value)
{
    if (!pool || !value)
        return cudaErrorInvalidValue;
    if (flag_of(pool, attribute)) {
        *flag_of(pool, attribute) = *(const int *) value;
        return cudaSuccess;
    }
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        pool->threshold = *(const uint64_t *) value;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
        return reset_high(&pool->reserved_high, *(const uint64_t *) value, pool->reserved);
    case cudaMemPoolAttrUsedMemHigh:
        return reset_high(&pool->used_high, *(const uint64_t *) value, pool->used);
    default:
        return cudaErrorInvalidValue;
    }
}

static cudaError_t set_access(Pool *pool, const struct cudaMemAccessDesc *access, size_t count)
{
    if (!pool || (count && !access))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        if (!is_this_device(&access[i].location) || access[i].flags == cudaMemAccessFlagsProtNone)
            return cudaErrorInvalidValue; /* a device may not lose its own memory */
    return cudaSuccess;
}

static cudaError_t get_access(const Pool *pool, const struct cudaMemLocation *location,
                              enum cudaMemAccessFlags *access)
{
    if (!pool || !access || !is_this_device(location))
        return cudaErrorInvalidValue;
    *access = pool->access;
    return cudaSuccess;
}

API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    return CALL(get_attribute(pool_of(pool), attribute, value));
}

API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    return CALL(set_attribute(pool_of(pool), attribute, value));
}

API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
                                     size_t count)
{
    return CALL(set_access(pool_of(pool), access, count));
}

API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *access, cudaMemPool_t pool,
                                     struct cudaMemLocation *location)
{
    return CALL(get_access(pool_of(pool), location, access));
}

/* ---- The memory of graphs ---- */

/* Memory is used by graphs until it is trimmed, also while nothing in it is allocated
 * (tests/sim/programs/pools.cu on an H200). */
static cudaError_t graph_attribute(int device, enum cudaGraphMemAttributeType attribute,
                                   void *value, bool set)
{
    uint64_t *const counts[] = { [cudaGraphMemAttrUsedMemCurrent] = &graphs.reserved,
                                 [cudaGraphMemAttrUsedMemHigh] = &graphs.reserved_high,
                                 [cudaGraphMemAttrReservedMemCurrent] = &graphs.reserved,
                                 [cudaGraphMemAttrReservedMemHigh] = &graphs.reserved_high };

    if (device)
        return cudaErrorInvalidDevice;
    if (!value || (unsigned) attribute > cudaGraphMemAttrReservedMemHigh)
        return cudaErrorInvalidValue;
    if (!set)
        *(uint64_t *) value = *counts[attribute];
    else if (attribute == cudaGraphMemAttrUsedMemHigh ||
             attribute == cudaGraphMemAttrReservedMemHigh)
        return reset_high(&graphs.reserved_high, *(const uint64_t *) value, graphs.reserved);
    else
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                               void *value)
{
    return CALL(graph_attribute(device, attribute, value, false));
}

API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                               void *value)
{
    return CALL(graph_attribute(device, attribute, value, true));
}

API cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return CALL(device ? cudaErrorInvalidDevice : trim_to(&graphs, 0));
}
