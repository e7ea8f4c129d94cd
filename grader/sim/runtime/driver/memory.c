/* memory.c - allocation, copies of bytes and rows, fills, and attributes of pointers. */
#include "sim/runtime/driver/driver.h"
#include "sim/runtime/graph.h"
#include "sim/runtime/hint.h"

#include <string.h>

/* ---- Allocation ---- */

static cudaError_t allocate_bytes(CUdeviceptr *address, size_t bytes)
{
    return address && bytes ? cudaMalloc((void **) address, bytes) : cudaErrorInvalidValue;
}

static cudaError_t allocate_managed(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    return address && bytes ? cudaMallocManaged((void **) address, bytes, flags)
                            : cudaErrorInvalidValue;
}

static cudaError_t allocate_rows(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                                 unsigned element)
{
    if (!address || !width || !height || (element != 4 && element != 8 && element != 16))
        return cudaErrorInvalidValue;
    return cudaMallocPitch((void **) address, pitch, width, height);
}

DRIVER_CALL(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), allocate_bytes(address, bytes))
DRIVER_CALL(cuMemAllocPitch_v2,
            (CUdeviceptr * address, size_t *pitch, size_t width, size_t height, unsigned element),
            allocate_rows(address, pitch, width, height, element))
DRIVER_CALL(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags),
            allocate_managed(address, bytes, flags))
DRIVER_CALL(cuMemFree_v2, (CUdeviceptr address), cudaFree(pointer_of(address)))
DRIVER_CALL(cuMemAllocHost_v2, (void **pointer, size_t bytes),
            bytes ? cudaMallocHost(pointer, bytes) : cudaErrorInvalidValue)
DRIVER_CALL(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags),
            bytes ? cudaHostAlloc(pointer, bytes, flags) : cudaErrorInvalidValue)
DRIVER_CALL(cuMemFreeHost, (void *pointer), cudaFreeHost(pointer))
DRIVER_CALL(cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags),
            cudaHostRegister(pointer, bytes, flags))
DRIVER_CALL(cuMemHostUnregister, (void *pointer), cudaHostUnregister(pointer))
DRIVER_CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr * address, void *host, unsigned flags),
            cudaHostGetDevicePointer((void **) address, host, flags))
DRIVER_CALL(cuMemHostGetFlags, (unsigned *flags, void *host), cudaHostGetFlags(flags, host))
DRIVER_CALL(cuMemGetInfo_v2, (size_t * left, size_t *total), cudaMemGetInfo(left, total))
DRIVER_STREAM_CALL(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream), stream,
                   on, cudaMallocAsync((void **) address, bytes, on))
DRIVER_STREAM_CALL(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), stream, on,
                   cudaFreeAsync(pointer_of(address), on))

/* ---- Copies ---- */

DRIVER_BLOCKING_CALL(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), on,
                     cudaMemcpy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault))
DRIVER_BLOCKING_CALL(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), on,
                     cudaMemcpy(pointer_of(to), from, bytes, cudaMemcpyHostToDevice))
DRIVER_BLOCKING_CALL(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), on,
                     cudaMemcpy(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost))
DRIVER_BLOCKING_CALL(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), on,
                     cudaMemcpy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice))
DRIVER_STREAM_CALL(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
                   stream, on,
                   cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, on))
DRIVER_STREAM_CALL(cuMemcpyHtoDAsync_v2,
                   (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), stream, on,
                   cudaMemcpyAsync(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, on))
DRIVER_STREAM_CALL(cuMemcpyDtoHAsync_v2,
                   (void *to, CUdeviceptr from, size_t bytes, CUstream stream), stream, on,
                   cudaMemcpyAsync(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, on))
DRIVER_STREAM_CALL(cuMemcpyDtoDAsync_v2,
                   (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), stream, on,
                   cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes,
                                   cudaMemcpyDeviceToDevice, on))

/* ---- Fills ---- */

static cudaError_t fill(CUstream stream, CUdeviceptr to, size_t pitch, unsigned value,
                        unsigned unit, size_t width, size_t height, bool blocking)
{
    if (to % unit || (height > 1 && pitch % unit))
        return cudaErrorInvalidValue;
    return fill_with(stream_of(stream, false), "cuMemset",
                     &(struct cudaMemsetParams){ .dst = pointer_of(to),
                                                 .pitch = pitch,
                                                 .value = value,
                                                 .elementSize = unit,
                                                 .width = width,
                                                 .height = height },
                     blocking);
}

#define FILLS(bits, Value)                                                                         \
    DRIVER_BLOCKING_CALL(cuMemsetD##bits##_v2, (CUdeviceptr to, Value value, size_t count), on,    \
                         CALL(fill(on, to, count *(bits / 8), value, bits / 8, count, 1, true)))   \
    DRIVER_STREAM_CALL(cuMemsetD##bits##Async,                                                     \
                       (CUdeviceptr to, Value value, size_t count, CUstream stream), stream, on,   \
                       CALL(fill(on, to, count *(bits / 8), value, bits / 8, count, 1, false)))    \
    DRIVER_BLOCKING_CALL(cuMemsetD2D##bits##_v2,                                                   \
                         (CUdeviceptr to, size_t pitch, Value value, size_t width, size_t height), \
                         on, CALL(fill(on, to, pitch, value, bits / 8, width, height, true)))      \
    DRIVER_STREAM_CALL(                                                                            \
        cuMemsetD2D##bits##Async,                                                                  \
        (CUdeviceptr to, size_t pitch, Value value, size_t width, size_t height, CUstream stream), \
        stream, on, CALL(fill(on, to, pitch, value, bits / 8, width, height, false)))

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

/* ---- Pointers ---- */

static cudaError_t address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    const Allocation *allocation = memory_find(address);

    if (!allocation)
        return cudaErrorSymbolNotFound;
    if (base)
        *base = allocation->base;
    if (bytes)
        *bytes = allocation->bytes;
    return cudaSuccess;
}

static unsigned memory_type(const Allocation *allocation)
{
    return allocation->kind == HOST_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static bool host_reaches(const Allocation *allocation)
{
    return allocation->kind == HOST_PINNED || allocation->kind == MANAGED;
}

/* All contexts share one memory, so an allocation belongs to the current one. */
#define POINTER_ATTRIBUTES(ROW)                                                                    \
    ROW(CONTEXT, CUcontext, context_current())                                                     \
    ROW(MEMORY_TYPE, unsigned, memory_type(allocation))                                            \
    ROW(DEVICE_POINTER, CUdeviceptr, address)                                                      \
    ROW(HOST_POINTER, void *, host_reaches(allocation) ? pointer_of(address) : NULL)               \
    ROW(SYNC_MEMOPS, unsigned, 0)                                                                  \
    ROW(BUFFER_ID, unsigned long long, (unsigned long long) allocation->number)                    \
    ROW(IS_MANAGED, unsigned, allocation->kind == MANAGED)                                         \
    ROW(DEVICE_ORDINAL, int, 0)                                                                    \
    ROW(RANGE_START_ADDR, CUdeviceptr, allocation->base)                                           \
    ROW(RANGE_SIZE, size_t, allocation->bytes)                                                     \
    ROW(MAPPED, unsigned, 1)                                                                       \
    ROW(MEMPOOL_HANDLE, CUmemoryPool, allocation->pool)

/* Without an allocation, the value is 0. */
static cudaError_t give_attribute(void *to, CUpointer_attribute attribute, CUdeviceptr address,
                                  const Allocation *allocation)
{
    if (!to)
        return cudaErrorInvalidValue;
    switch (attribute) {
#define ROW(name, type, value)                                                                     \
    case CU_POINTER_ATTRIBUTE_##name:                                                              \
        *(type *) to = allocation ? (value) : (type) 0;                                            \
        return cudaSuccess;
        POINTER_ATTRIBUTES(ROW)
#undef ROW
    default:
        return cudaErrorNotSupported;
    }
}

static cudaError_t pointer_attribute(void *to, CUpointer_attribute attribute, CUdeviceptr address)
{
    const Allocation *allocation = memory_find(address);

    if (!allocation ||
        (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && !host_reaches(allocation)))
        return cudaErrorInvalidValue;
    return give_attribute(to, attribute, address, allocation);
}

/* An attribute that does not apply to the pointer is 0, and no error. */
static cudaError_t pointer_attributes(unsigned count, const CUpointer_attribute *attributes,
                                      void **to, CUdeviceptr address)
{
    const Allocation *allocation = memory_find(address);
    cudaError_t error = count && attributes && to ? cudaSuccess : cudaErrorInvalidValue;

    for (unsigned i = 0; i < count && !error; i++)
        error = give_attribute(to[i], attributes[i], address, allocation);
    return error;
}

DRIVER_CALL(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *bytes, CUdeviceptr address),
            CALL(address_range(base, bytes, address)))
DRIVER_CALL(cuPointerGetAttribute, (void *to, CUpointer_attribute attribute, CUdeviceptr address),
            CALL(pointer_attribute(to, attribute, address)))
DRIVER_CALL(cuPointerGetAttributes,
            (unsigned count, CUpointer_attribute *attributes, void **to, CUdeviceptr address),
            CALL(pointer_attributes(count, attributes, to, address)))

/* ---- Hints for managed memory ---- */

/* As a device: the host has a number of its own. */
static int device_of(CUmemLocation where)
{
    switch (where.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return where.id;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return CU_DEVICE_CPU;
    default:
        return CU_DEVICE_INVALID;
    }
}

#undef cuMemPrefetchAsync
#undef cuMemAdvise
DRIVER_STREAM_CALL(cuMemPrefetchAsync,
                   (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream), stream,
                   on, hint_prefetch(pointer_of(address), bytes, device, on))
DRIVER_STREAM_CALL(cuMemPrefetchAsync_v2,
                   (CUdeviceptr address, size_t bytes, CUmemLocation where, unsigned flags,
                    CUstream stream),
                   stream, on,
                   ((void) flags, hint_prefetch(pointer_of(address), bytes, device_of(where), on)))
DRIVER_CALL(cuMemAdvise, (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device),
            hint_advise(pointer_of(address), bytes, (enum cudaMemoryAdvise) advice, device))
DRIVER_CALL(cuMemAdvise_v2,
            (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation where),
            hint_advise(pointer_of(address), bytes, (enum cudaMemoryAdvise) advice,
                        device_of(where)))
DRIVER_CALL(cuMemRangeGetAttribute,
            (void *data, size_t bytes, CUmem_range_attribute attribute, CUdeviceptr address,
             size_t range_bytes),
            cudaMemRangeGetAttribute(data, bytes, (enum cudaMemRangeAttribute) attribute,
                                     pointer_of(address), range_bytes))
DRIVER_CALL(cuMemRangeGetAttributes,
            (void **data, size_t *bytes, CUmem_range_attribute *attributes, size_t count,
             CUdeviceptr address, size_t range_bytes),
            cudaMemRangeGetAttributes(data, bytes, (enum cudaMemRangeAttribute *) attributes, count,
                                      pointer_of(address), range_bytes))
