/* memory.c - allocation of device, pinned host and managed memory; attributes of pointers. */
#include "sim/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { PITCH_UNIT = 512, HOST_PAGE = 4096 };

/* ---- Kinds of addresses ---- */

static const Allocation *allocation_at(const void *pointer)
{
    return memory_find((uint64_t) (uintptr_t) pointer);
}

/* Whether the address was pinned memory that has been freed; malloc may return it again. */
bool is_host_again(uint64_t address)
{
    return memory_address_kind(address) == ADDRESS_FREED &&
           memory_nearest(address)->kind == HOST_PINNED;
}

bool is_device_side(uint64_t address)
{
    const Allocation *allocation = memory_find(address);
    AddressKind ground;

    if (allocation)
        return allocation->kind != HOST_PINNED;
    ground = memory_address_kind(address);
    return (ground == ADDRESS_FREED && !is_host_again(address)) || ground == ADDRESS_GUARD;
}

bool is_pinned(uint64_t address)
{
    const Allocation *allocation = memory_find(address);

    return allocation && (allocation->kind == HOST_PINNED || allocation->kind == MANAGED);
}

/* ---- cudaMalloc, cudaMallocPitch ---- */

static cudaError_t refuse_for_machine(size_t bytes)
{
    rt_finding(FINDING_LIMIT, false, NULL,
               "%zu MiB of device memory in addition to %zu MiB: the simulated GPU has enough, but "
               "this machine does not. The call returns cudaErrorMemoryAllocation",
               bytes >> 20, memory_in_use() >> 20);
    return cudaErrorMemoryAllocation;
}

/* Frees that are queued in streams give back memory before an allocation fails. */
static bool free_queued(void)
{
    const size_t before = memory_in_use();

    for (Stream *stream = rt.streams; stream; stream = stream->next) {
        uint64_t last = 0;
        for (const Work *work = stream->first; work; work = work->next)
            last = work->kind == WORK_FREE ? work->number : last;
        stream_do(stream, last);
    }
    return memory_in_use() < before;
}

cudaError_t allocate(void **pointer, size_t bytes, AllocationKind kind)
{
    Allocation *allocation;

    if (!pointer)
        return cudaErrorInvalidValue;
    *pointer = NULL;
    if (!bytes)
        return cudaSuccess;
    if (bytes <= rt.device.memory_bytes && !room_for(bytes) && !(free_queued() && room_for(bytes)))
        return refuse_for_machine(bytes);
    allocation = memory_allocate(bytes, kind, NULL);
    if (!allocation && free_queued())
        allocation = memory_allocate(bytes, kind, NULL);
    if (!allocation)
        return cudaErrorMemoryAllocation;
    if (kind == MANAGED)
        idle_watch_memory();
    *pointer = (void *) (uintptr_t) allocation->base;
    return cudaSuccess;
}

static cudaError_t allocate_rows(void **pointer, size_t *pitch, size_t width, size_t height)
{
    size_t row;

    if (!pitch || width > SIZE_MAX - PITCH_UNIT)
        return cudaErrorInvalidValue;
    row = (width + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT;
    if (height && row > SIZE_MAX / height)
        return cudaErrorMemoryAllocation;
    *pitch = row;
    return allocate(pointer, row * height, ALLOCATED);
}

static cudaError_t allocate_box(struct cudaPitchedPtr *box, struct cudaExtent extent)
{
    if (!box || (extent.height && extent.depth > SIZE_MAX / extent.height))
        return cudaErrorInvalidValue;
    box->xsize = extent.width;
    box->ysize = extent.height;
    return allocate_rows(&box->ptr, &box->pitch, extent.width, extent.height * extent.depth);
}

API cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return MAY_WAIT(allocate(pointer, bytes, ALLOCATED));
}

API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    return MAY_WAIT(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost
                        ? allocate(pointer, bytes, MANAGED)
                        : cudaErrorInvalidValue);
}

API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    return MAY_WAIT(allocate_rows(pointer, pitch, width, height));
}

API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *box, struct cudaExtent extent)
{
    return MAY_WAIT(allocate_box(box, extent));
}

/* ---- Freeing ---- */

static cudaError_t not_freeable(const void *pointer, const char *call, const char *reason)
{
    const AddressKind ground = memory_address_kind((uint64_t) (uintptr_t) pointer);
    const FindingKind kind = ground == ADDRESS_FREED  ? FINDING_USE_AFTER_FREE
                             : ground == ADDRESS_HOST ? FINDING_HOST_POINTER
                                                      : FINDING_FORBIDDEN;
    char where[200];

    memory_describe((uint64_t) (uintptr_t) pointer, 1, where, sizeof where);
    if (!strcmp(reason, where))
        rt_finding(kind, true, NULL, "%s(%p): %s", call, pointer, reason);
    else
        rt_finding(kind, true, NULL, "%s(%p): %s: %s", call, pointer, reason, where);
    return cudaErrorInvalidValue;
}

cudaError_t check_free(const void *pointer, const char *call, bool pinned)
{
    const Allocation *allocation = allocation_at(pointer);

    if (!allocation && memory_address_kind((uint64_t) (uintptr_t) pointer) == ADDRESS_FREED)
        return not_freeable(pointer, call, "this was already freed");
    if (!allocation)
        return not_freeable(pointer, call, "nothing is allocated there");
    if (allocation->base != (uint64_t) (uintptr_t) pointer)
        return not_freeable(pointer, call, "not the beginning of an allocation");
    if (allocation->freeing)
        return not_freeable(pointer, call, "a cudaFreeAsync() of it is already queued");
    if (allocation->name || allocation->kind == DEVICE_HEAP ||
        (allocation->kind == HOST_PINNED) != pinned)
        return not_freeable(pointer, call, "this was not allocated by the matching call");
    return cudaSuccess;
}

/* All earlier work is executed first, as on a GPU. */
static cudaError_t release(void *pointer)
{
    cudaError_t error;

    error = pointer ? check_free(pointer, "cudaFree", false) : cudaSuccess;
    if (!error)
        error = any_capture_refuses("cudaFree");
    if (error || !pointer)
        return error;
    error = finish_all();
    pool_free((uint64_t) (uintptr_t) pointer);
    return error;
}

API cudaError_t cudaFree(void *pointer)
{
    return CALL(release(pointer));
}

/* ---- Pinned memory ---- */

/* With unified addressing, pinned memory is always mapped and portable. */
static bool adopt_host(void *memory, size_t bytes, unsigned flags)
{
    Allocation *allocation = memory_adopt(memory, bytes, HOST_PINNED);

    if (!allocation)
        return false;
    allocation->flags = flags | cudaHostAllocMapped | cudaHostAllocPortable;
    idle_watch_memory();
    return true;
}

static cudaError_t allocate_host(void **pointer, size_t bytes, unsigned flags)
{
    void *memory;

    if (!pointer)
        return cudaErrorInvalidValue;
    *pointer = NULL;
    if (!bytes)
        return cudaSuccess;
    if (posix_memalign(&memory, HOST_PAGE, bytes))
        return cudaErrorMemoryAllocation;
    if (!adopt_host(memory, bytes, flags)) {
        free(memory);
        return cudaErrorMemoryAllocation;
    }
    *pointer = memory;
    return handle_set(HANDLE_PINNED, memory, memory) ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t release_host(void *pointer)
{
    cudaError_t error;

    if (!pointer)
        return cudaSuccess;
    error = check_free(pointer, "cudaFreeHost", true);
    if (error)
        return error;
    if (!handle_get(HANDLE_PINNED, pointer))
        return not_freeable(pointer, "cudaFreeHost", "registered memory needs cudaHostUnregister");
    error = finish_all();
    handle_set(HANDLE_PINNED, pointer, NULL);
    memory_free((uint64_t) (uintptr_t) pointer);
    free(pointer);
    return error;
}

static cudaError_t register_host(void *pointer, size_t bytes, unsigned flags)
{
    if (!pointer || !bytes)
        return cudaErrorInvalidValue;
    if (allocation_at(pointer))
        return cudaErrorHostMemoryAlreadyRegistered;
    return adopt_host(pointer, bytes, flags) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t unregister_host(void *pointer)
{
    const Allocation *allocation = allocation_at(pointer);
    cudaError_t error;

    if (!allocation || allocation->kind != HOST_PINNED ||
        allocation->base != (uint64_t) (uintptr_t) pointer || handle_get(HANDLE_PINNED, pointer))
        return cudaErrorHostMemoryNotRegistered;
    error = finish_all();
    memory_free((uint64_t) (uintptr_t) pointer);
    return error;
}

static cudaError_t device_pointer(void **device, void *host, unsigned flags)
{
    const Allocation *allocation = allocation_at(host);

    if (!device || flags || !allocation || allocation->kind != HOST_PINNED)
        return cudaErrorInvalidValue;
    *device = host; /* one address space */
    return cudaSuccess;
}

static cudaError_t host_flags(unsigned *flags, void *host)
{
    const Allocation *allocation = allocation_at(host);

    if (!flags || !allocation || allocation->kind != HOST_PINNED)
        return cudaErrorInvalidValue;
    *flags = allocation->flags;
    return cudaSuccess;
}

API cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return MAY_WAIT(allocate_host(pointer, bytes, 0));
}

API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    return MAY_WAIT(flags & ~7u ? cudaErrorInvalidValue : allocate_host(pointer, bytes, flags));
}

API cudaError_t cudaFreeHost(void *pointer)
{
    return MAY_WAIT(release_host(pointer));
}

API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return MAY_WAIT(flags & ~15u ? cudaErrorInvalidValue : register_host(pointer, bytes, flags));
}

API cudaError_t cudaHostUnregister(void *pointer)
{
    return MAY_WAIT(unregister_host(pointer));
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    return CALL(device_pointer(device, host, flags));
}

API cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    return CALL(host_flags(flags, host));
}

/* ---- Attributes of pointers ---- */

static cudaError_t memory_info(size_t *free_bytes, size_t *total)
{
    size_t all = (size_t) rt.device.memory_bytes, used = memory_in_use();

    if (!free_bytes || !total)
        return cudaErrorInvalidValue;
    *free_bytes = used < all ? all - used : 0;
    *total = all;
    return cudaSuccess;
}

static cudaError_t pointer_attributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    const Allocation *allocation = allocation_at(pointer);

    if (!attributes)
        return cudaErrorInvalidValue;
    *attributes = (struct cudaPointerAttributes){ .type = cudaMemoryTypeUnregistered,
                                                  .device = cudaInvalidDeviceId };
    if (!allocation) {
        if (!is_device_side((uint64_t) (uintptr_t) pointer))
            attributes->hostPointer = (void *) pointer;
        return cudaSuccess;
    }
    attributes->device = 0;
    attributes->devicePointer = (void *) pointer;
    attributes->type = allocation->kind == HOST_PINNED ? cudaMemoryTypeHost
                       : allocation->kind == MANAGED   ? cudaMemoryTypeManaged
                                                       : cudaMemoryTypeDevice;
    if (attributes->type != cudaMemoryTypeDevice)
        attributes->hostPointer = (void *) pointer;
    return cudaSuccess;
}

API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    return CALL(memory_info(free_bytes, total));
}

API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                         const void *pointer)
{
    return CALL(pointer_attributes(attributes, pointer));
}

/* ---- Reset ---- */

typedef struct Bases {
    uint64_t *all;
    size_t count, room;
} Bases;

static void note_base(const Allocation *allocation, void *self)
{
    Bases *bases = self;

    if (bases->count == bases->room) {
        size_t room = bases->room ? 2 * bases->room : 64;
        uint64_t *all = realloc(bases->all, room * sizeof *all);
        if (!all)
            return;
        bases->all = all;
        bases->room = room;
    }
    bases->all[bases->count++] = allocation->base;
}

void memory_drop_all(void)
{
    Bases bases = { 0 };

    advice_free_all();
    memory_each(note_base, &bases);
    for (size_t i = 0; i < bases.count; i++) {
        void *pinned = handle_get(HANDLE_PINNED, (void *) (uintptr_t) bases.all[i]);
        memory_free(bases.all[i]);
        if (pinned) {
            handle_set(HANDLE_PINNED, pinned, NULL);
            free(pinned);
        }
    }
    free(bases.all);
    rt.workspace = 0;
    children_forget();
}
