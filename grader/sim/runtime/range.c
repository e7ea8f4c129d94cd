/* range.c - what a program has advised for ranges of managed memory, and its questions about that
 * (cudaMemRangeGetAttribute).
 *
 * It is kept for each page that an advice touches, as the driver does, whether or not time is
 * modelled. An answer holds for a whole range only if all pages agree.
 */
#include "sim/runtime/hint.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

typedef struct Advised {
    bool read_mostly, by_device, by_host; /* accessed by */
    Home preferred, prefetched;           /* type 0: none */
} Advised;

typedef struct Pages {
    Advised *first;
    size_t count;
} Pages;

/* The pages that contain a part of the range. Without `make`, none if nothing was advised. */
static Pages pages_of(const void *pointer, size_t bytes, bool make)
{
    const uint64_t address = (uint64_t) (uintptr_t) pointer;
    Allocation *a = memory_find(address);
    const uint64_t first = (address - a->base) / PAGE_BYTES;
    const uint64_t end = (address - a->base + bytes + PAGE_BYTES - 1) / PAGE_BYTES;

    if (!a->advised && make)
        a->advised = calloc((a->bytes + PAGE_BYTES - 1) / PAGE_BYTES, sizeof(Advised));
    return a->advised ? (Pages){ (Advised *) a->advised + first, end - first } : (Pages){ 0 };
}

/* ---- What is advised ---- */

cudaError_t range_prefetched(const void *pointer, size_t bytes, Home home)
{
    const Pages pages = pages_of(pointer, bytes, true);

    for (size_t i = 0; i < pages.count; i++)
        pages.first[i].prefetched = home;
    return pages.count ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void advise_page(Advised *page, enum cudaMemoryAdvise advice, Home home)
{
    bool *by = home.type == cudaMemLocationTypeDevice ? &page->by_device : &page->by_host;

    if (advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseUnsetReadMostly)
        page->read_mostly = advice == cudaMemAdviseSetReadMostly;
    else if (advice == cudaMemAdviseSetPreferredLocation)
        page->preferred = home;
    else if (advice == cudaMemAdviseUnsetPreferredLocation)
        page->preferred = (Home){ 0 };
    else
        *by = advice == cudaMemAdviseSetAccessedBy;
}

cudaError_t range_advised(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          Home home)
{
    const Pages pages = pages_of(pointer, bytes, true);

    for (size_t i = 0; i < pages.count; i++)
        advise_page(&pages.first[i], advice, home);
    return pages.count ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* ---- Questions ---- */

static Home common(Home a, Home b)
{
    return a.type == b.type && a.id == b.id ? a : (Home){ 0 };
}

/* What is true of all pages. */
static Advised summary(Pages pages)
{
    Advised sum = pages.count ? pages.first[0] : (Advised){ 0 };

    for (size_t i = 1; i < pages.count; i++) {
        const Advised *page = &pages.first[i];
        sum.read_mostly &= page->read_mostly;
        sum.by_device &= page->by_device;
        sum.by_host &= page->by_host;
        sum.preferred = common(sum.preferred, page->preferred);
        sum.prefetched = common(sum.prefetched, page->prefetched);
    }
    return sum;
}

static int device_of(Home home)
{
    return home.type == cudaMemLocationTypeDevice ? home.id
           : home.type == cudaMemLocationTypeHost ? cudaCpuDeviceId
                                                  : cudaInvalidDeviceId;
}

static int id_of(Home home)
{
    return home.type == cudaMemLocationTypeHostNuma ? home.id : device_of(home);
}

/* An attribute with one number as its answer. */
static int number(const Advised *sum, enum cudaMemRangeAttribute attribute)
{
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
        return sum->read_mostly;
    case cudaMemRangeAttributePreferredLocation:
        return device_of(sum->preferred);
    case cudaMemRangeAttributeLastPrefetchLocation:
        return device_of(sum->prefetched);
    case cudaMemRangeAttributePreferredLocationType:
        return sum->preferred.type;
    case cudaMemRangeAttributePreferredLocationId:
        return id_of(sum->preferred);
    case cudaMemRangeAttributeLastPrefetchLocationType:
        return sum->prefetched.type;
    default:
        return id_of(sum->prefetched);
    }
}

/* As many devices as there is room for, then invalid ones. */
static void list_devices(const Advised *sum, char *data, size_t bytes)
{
    int devices[] = { cudaInvalidDeviceId, cudaInvalidDeviceId, cudaInvalidDeviceId }, count = 0;

    if (sum->by_device)
        devices[count++] = 0;
    if (sum->by_host)
        devices[count++] = cudaCpuDeviceId;
    for (size_t i = 0; i < bytes / sizeof *devices; i++)
        memcpy(data + i * sizeof *devices, &devices[i < 2 ? i : 2], sizeof *devices);
}

static cudaError_t answer(void *data, size_t bytes, enum cudaMemRangeAttribute attribute,
                          const Advised *sum)
{
    if (!data || (int) attribute < cudaMemRangeAttributeReadMostly ||
        attribute > cudaMemRangeAttributeLastPrefetchLocationId || !bytes || bytes % sizeof(int))
        return cudaErrorInvalidValue;
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        list_devices(sum, data, bytes);
        return cudaSuccess;
    }
    if (bytes != sizeof(int))
        return cudaErrorInvalidValue;
    memcpy(data, &(int){ number(sum, attribute) }, sizeof(int));
    return cudaSuccess;
}

static cudaError_t get_all(void **data, const size_t *bytes,
                           const enum cudaMemRangeAttribute *attributes, size_t count,
                           const void *pointer, size_t range_bytes)
{
    cudaError_t error = hint_check_range(pointer, range_bytes);
    Advised sum;

    if (error || !range_bytes || !count || !data || !bytes || !attributes)
        return cudaErrorInvalidValue;
    sum = summary(pages_of(pointer, range_bytes, false));
    for (size_t i = 0; i < count && !error; i++)
        error = answer(data[i], bytes[i], attributes[i], &sum);
    return error;
}

API cudaError_t cudaMemRangeGetAttribute(void *data, size_t bytes,
                                         enum cudaMemRangeAttribute attribute, const void *pointer,
                                         size_t range_bytes)
{
    return CALL(get_all(&data, &bytes, &attribute, 1, pointer, range_bytes));
}

API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *bytes,
                                          enum cudaMemRangeAttribute *attributes, size_t count,
                                          const void *pointer, size_t range_bytes)
{
    return CALL(get_all(data, bytes, attributes, count, pointer, range_bytes));
}
