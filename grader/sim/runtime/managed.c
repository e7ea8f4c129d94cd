/* managed.c - managed memory moves between host and device, while time is modelled.
 *
 * Before a kernel or a copy runs, what was used since the last one was used by the host; after it,
 * what was used meanwhile was used by the device (pages.h). A host thread that uses managed memory
 * while a kernel runs counts as the kernel. The time that the host waits for its pages is not
 * modelled, as any work of the host.
 */
#include "sim/runtime/runtime.h"
#include "sim/memory/pages.h"
#include "sim/time/migration.h"

#include <stdlib.h>

typedef void Visit(Chunks *chunks, const bool *used, void *self);

typedef struct Visitor {
    Visit *visit;
    void *self;
} Visitor;

static bool is_blind; /* the system does not tell which pages are used */

static bool refuse(void)
{
    if (!is_blind)
        rt_say(
            "managed memory does not move in modelled time: this system does not tell which of its "
            "pages are used");
    is_blind = true;
    return false;
}

static bool *room_for_chunks(size_t count)
{
    static bool *used;
    static size_t room;
    bool *more;

    if (count <= room)
        return used;
    more = realloc(used, count * sizeof *more);
    if (!more)
        return NULL;
    room = count;
    return used = more;
}

/* Visits the allocation's chunks with what has been used of them since the last visit. */
static void visit(const Allocation *a, void *self)
{
    const Visitor *visitor = self;
    Allocation *followed = a->followed && !is_blind ? memory_find(a->base) : NULL;
    bool *used = followed ? room_for_chunks(chunks_in(a->bytes)) : NULL;

    if (followed && !followed->chunks)
        followed->chunks = chunks_new(a->host, a->bytes);
    if (!used || !followed->chunks || (!pages_used(a->host, a->bytes, used) && !refuse()))
        return;
    visitor->visit(followed->chunks, used, visitor->self);
    followed->on_host = chunks_stay(followed->chunks);
    if (!pages_forget(a->host, a->bytes))
        refuse();
}

static void visit_all(Visit *with, void *self)
{
    Visitor visitor = { with, self };

    if (rt.settings.time && memory_follows())
        memory_each(visit, &visitor);
}

static void used_by_host(Chunks *chunks, const bool *used, void *self)
{
    (void) self;
    chunks_host_used(chunks, used);
}

static void used_by_copy(Chunks *chunks, const bool *used, void *self)
{
    (void) self;
    chunks_copied(chunks, used);
}

static void used_by_kernel(Chunks *chunks, const bool *used, void *self)
{
    chunks_kernel_used(chunks, used, &rt.device, self);
}

bool managed_is_at(uint64_t address)
{
    const Allocation *a = memory_follows() ? memory_find(address) : NULL;

    return a && a->followed;
}

void managed_before_device(void)
{
    visit_all(used_by_host, NULL);
}

void managed_after_copy(void)
{
    visit_all(used_by_copy, NULL);
}

Migration managed_after_kernel(void)
{
    Migration sum = { 0 };

    visit_all(used_by_kernel, &sum);
    migration_first_faults(&sum, &rt.device);
    return sum;
}

/* ---- Hints ---- */

/* The chunks that contain a part of a range: first .. end - 1. NULL: not followed. */
static Chunks *chunks_at(uint64_t address, size_t bytes, size_t *first, size_t *end)
{
    const Allocation *a = memory_find(address);

    if (!a || !a->followed || !a->chunks)
        return NULL;
    *first = (address - a->base) / CHUNK_BYTES;
    *end = chunks_in(address - a->base + bytes);
    return *end <= ((Chunks *) a->chunks)->count ? a->chunks : NULL;
}

/* The simulator may have read the memory to know its contents. */
static void settle(uint64_t address)
{
    Allocation *a = memory_find(address);

    a->on_host = chunks_stay(a->chunks);
    if (!pages_forget(a->host, a->bytes))
        refuse();
}

void managed_prefetch(PrefetchWork *prefetch)
{
    size_t first, end;
    Chunks *chunks;
    Migration moved;

    managed_before_device();
    chunks = chunks_at(prefetch->at, prefetch->bytes, &first, &end);
    if (!chunks)
        return;
    moved = prefetch->to_device ? chunks_prefetch(chunks, first, end, &rt.device)
                                : chunks_take_back(chunks, first, end, &rt.device);
    prefetch->us = moved.us;
    prefetch->moved = moved.bytes;
    settle(prefetch->at);
}

void managed_advise(uint64_t address, size_t bytes, enum cudaMemoryAdvise advice, bool for_host)
{
    size_t first, end;
    Chunks *chunks;

    managed_before_device();
    chunks = chunks_at(address, bytes, &first, &end);
    if (!chunks)
        return;
    if (advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseUnsetReadMostly)
        chunks_read_mostly(chunks, first, end, advice == cudaMemAdviseSetReadMostly);
    else if (advice == cudaMemAdviseSetPreferredLocation ||
             advice == cudaMemAdviseUnsetPreferredLocation)
        chunks_prefer_host(chunks, first, end,
                           for_host && advice == cudaMemAdviseSetPreferredLocation);
    settle(address);
}
