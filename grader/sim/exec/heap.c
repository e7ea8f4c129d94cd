/* heap.c - malloc() and free() inside a kernel: the device's heap.
 *
 * Each block of memory is an allocation of its own, so that accesses outside it and after its free
 * are found. The heap lives as long as the program's context: a later kernel may free it.
 */
#include "sim/exec/warp.h"

#include <string.h>

uint64_t heap_allocate(const Launch *launch, uint64_t bytes)
{
    const uint64_t used = memory_heap_in_use();
    const Allocation *allocation = NULL;

    if (bytes && used <= launch->heap_bytes && bytes <= launch->heap_bytes - used)
        allocation = memory_allocate((size_t) bytes, DEVICE_HEAP, NULL);
    return allocation ? allocation->base : 0;
}

static void allocate(Warp *warp, const Step *step, int lane, uint64_t bytes)
{
    const uint64_t address = heap_allocate(warp->block->launch, bytes);
    uint8_t *result = call_return(warp, step, lane, 8);

    if (result)
        memcpy(result, &address, sizeof address);
}

void run_malloc(Warp *warp, const Step *step, uint32_t mask, Name name)
{
    (void) name;
    for (uint32_t left = mask; left; left &= left - 1)
        allocate(warp, step, __builtin_ctz(left),
                 system_argument(warp, step, 0, __builtin_ctz(left), 8));
}

bool heap_release(Warp *warp, const Step *step, int lane, uint64_t address)
{
    const Allocation *allocation = memory_find(address);
    const bool freed = memory_address_kind(address) == ADDRESS_FREED;
    char where[200];

    if (!address)
        return true;
    if (allocation && allocation->kind == DEVICE_HEAP && allocation->base == address)
        return memory_free(address);
    memory_describe(address, 1, where, sizeof where);
    fail(warp, step, lane, freed ? FINDING_USE_AFTER_FREE : FINDING_FORBIDDEN,
         "frees 0x%llx: %s: %s", (unsigned long long) address,
         freed ? "this was already freed" : "malloc() in a kernel did not return this address",
         where);
    return false;
}

void run_free(Warp *warp, const Step *step, uint32_t mask, Name name)
{
    (void) name;
    for (uint32_t left = mask; left; left &= left - 1)
        if (!heap_release(warp, step, __builtin_ctz(left),
                          system_argument(warp, step, 0, __builtin_ctz(left), 8)))
            return;
}
