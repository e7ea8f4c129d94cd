/* memory.c - the simulated GPU's memory: one reserved range, and a sorted table of its allocations.
 *
 * Both ranges are anonymous memory mapped without reserve: opening them takes two system calls, and
 * only touched pages occupy memory. New allocations go after all addresses used so far. Each is
 * followed by a gap of its own size and at least 64 KiB, so that an index that is wrong by a whole
 * array, or by a whole grid in a small array, hits no allocation. Freed addresses are reused only
 * after the range is exhausted.
 *
 * Not thread-safe: the runtime holds its lock around all of these functions.
 */
#include "sim/memory/memory.h"
#include "sim/memory/pages.h"
#include "sim/base/common.h"
#include "sim/base/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE = 4096, LEAST_GAP = 64 << 10, LONGEST_GAP = 16 << 20, MOST_FREED = 1 << 14 };
#define SMALLEST_RANGE ((size_t) 64 << 20)
#define LARGEST_RANGE  ((size_t) 1 << 40)

static struct {
    uint64_t base; /* start of the reserved range */
    char *view;    /* the range where the simulator keeps the bytes */
    size_t room;   /* size of each range in bytes */
    size_t next;   /* offset of the end of all addresses used so far */
    size_t most;   /* maximum that may be allocated at a time */
    size_t in_use, heap_in_use;
    bool track, follow;
    int followed;     /* allocations */
    int numbers;      /* allocations so far */
    Allocation **all; /* sorted by address, without overlaps */
    int count, capacity, freed;
    Allocation *last; /* the last one that memory_find() found */
} memory;

uint32_t memory_changes = 1;

/* ---- The range ---- */

static void *map(uint64_t address, size_t bytes, int protection, int more)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more;
    void *at = mmap((void *) (uintptr_t) address, bytes, protection, flags, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    if (address &&
        (uint64_t) (uintptr_t) at != address) { /* Linux before 4.17 takes the address as a hint */
        munmap(at, bytes);
        return NULL;
    }
    return at;
}

static bool reserve(size_t room)
{
    memory.view = map(0, room, PROT_READ | PROT_WRITE, 0);
    if (!memory.view)
        return false;
    for (int i = 0; i < GLOBAL_BASES; i++) {
        memory.base = GLOBAL_BASE + (uint64_t) i * GLOBAL_STEP;
        if (map(memory.base, room, PROT_NONE, MAP_FIXED_NOREPLACE)) {
            memory.room = room;
            return true;
        }
    }
    munmap(memory.view, room);
    return false;
}

/* Twice the maximum that may be allocated, because of gaps, and as much again for freed addresses.
 */
static size_t wanted_room(size_t most_bytes)
{
    if (most_bytes >= LARGEST_RANGE / 4)
        return LARGEST_RANGE;
    return round_up(4 * most_bytes, PAGE) + 4 * SMALLEST_RANGE;
}

bool memory_open(size_t most_bytes, bool track_uninitialised, char *why, size_t why_size)
{
    memory_close();
    for (size_t room = wanted_room(most_bytes); room >= SMALLEST_RANGE;
         room = round_up(room / 2, PAGE))
        if (reserve(room)) {
            memory.most = most_bytes;
            memory.track = track_uninitialised;
            return true;
        }
    snprintf(why, why_size,
             "cannot reserve %zu MiB of address space for the simulated GPU's memory",
             SMALLEST_RANGE >> 20);
    return false;
}

static void forget(Allocation *a)
{
    memory_changes++;
    if (memory.last == a)
        memory.last = NULL;
    free(a->written);
    free(a->forbidden);
    free(a->races);
    free(a->chunks);
    free(a->advised);
    free(a);
}

void memory_close(void)
{
    for (int i = 0; i < memory.count; i++)
        forget(memory.all[i]);
    free(memory.all);
    if (memory.room) {
        munmap(memory.view, memory.room);
        munmap((void *) (uintptr_t) memory.base, memory.room);
    }
    memset(&memory, 0, sizeof memory);
}

uint64_t memory_base(void)
{
    return memory.base;
}

bool memory_tracks(void)
{
    return memory.track;
}

/* ---- The table ---- */

/* The number of allocations that begin at or below the address. */
static int count_below(uint64_t address)
{
    int low = 0, high = memory.count;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (memory.all[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool holds(const Allocation *a, uint64_t address)
{
    return address - a->base < a->bytes;
}

/* The allocation that contains the byte, freed or not. */
static Allocation *find_any(uint64_t address)
{
    int below = count_below(address);

    return below && holds(memory.all[below - 1], address) ? memory.all[below - 1] : NULL;
}

Allocation *memory_find(uint64_t address)
{
    Allocation *last = __atomic_load_n(&memory.last, __ATOMIC_RELAXED); /* threads of ahead.h */

    if (last && holds(last, address))
        return last;
    Allocation *found = find_any(address);
    if (!found || found->freed)
        return NULL;
    __atomic_store_n(&memory.last, found, __ATOMIC_RELAXED);
    return found;
}

static void take_out(int from, int to)
{
    for (int i = from; i < to; i++) {
        memory.freed -= memory.all[i]->freed;
        forget(memory.all[i]);
    }
    memmove(memory.all + from, memory.all + to, (size_t) (memory.count - to) * sizeof *memory.all);
    memory.count -= to - from;
}

/* Forgets the older half of the freed allocations; their addresses become a gap. */
static void thin_out_freed(void)
{
    int oldest = memory.numbers - MOST_FREED / 2, kept = 0;

    for (int i = 0; i < memory.count; i++)
        if (memory.all[i]->freed && !memory.all[i]->reserved && memory.all[i]->number <= oldest) {
            memory.freed--;
            forget(memory.all[i]);
        } else {
            memory.all[kept++] = memory.all[i];
        }
    memory.count = kept;
}

static bool make_room_in_table(void)
{
    if (memory.count < memory.capacity)
        return true;
    int capacity = memory.capacity ? 2 * memory.capacity : 64;
    Allocation **all = realloc(memory.all, (size_t) capacity * sizeof *all);
    if (!all)
        return false;
    memory.all = all;
    memory.capacity = capacity;
    return true;
}

static Allocation *enter(const Allocation *model)
{
    Allocation *a = make_room_in_table() ? malloc(sizeof *a) : NULL;

    if (!a)
        return NULL;
    int at = count_below(model->base);
    *a = *model;
    a->number = ++memory.numbers;
    memmove(memory.all + at + 1, memory.all + at,
            (size_t) (memory.count - at) * sizeof *memory.all);
    memory.all[at] = a;
    memory.count++;
    return a;
}

/* ---- Choosing addresses ---- */

static size_t gap_after(size_t bytes)
{
    size_t gap = round_up(bytes, ALLOCATION_ALIGN);

    if (gap < LEAST_GAP)
        return LEAST_GAP;
    return gap < LONGEST_GAP ? gap : LONGEST_GAP;
}

static bool is_ours(uint64_t address)
{
    return address - memory.base < memory.room;
}

/* An address just before the range belongs to the first array. */
static bool is_near(uint64_t address)
{
    return address - (memory.base - LONGEST_GAP) < memory.room + LONGEST_GAP;
}

/* Finds `bytes` of room between two live allocations, and forgets the freed ones there. SIZE_MAX:
 * not found. */
static size_t place_among_freed(size_t bytes, size_t align)
{
    size_t begin = 0;
    int first = 0; /* first freed one after the last live one */

    for (int i = 0; i <= memory.count; i++) {
        const Allocation *a = i < memory.count ? memory.all[i] : NULL;
        if (a && ((a->freed && !a->reserved) || !is_ours(a->base)))
            continue;
        size_t end = a ? a->base - memory.base : memory.room;
        if (begin <= end && end - begin >= bytes) {
            for (int k = i - 1; k >= first; k--)
                if (is_ours(memory.all[k]->base))
                    take_out(k, k + 1);
            return begin;
        }
        if (a)
            begin = round_up(end + a->bytes + ALLOCATION_ALIGN, align);
        first = i + 1;
    }
    return SIZE_MAX;
}

/* The offset of room for `bytes`, including the gap. */
static size_t place(size_t bytes, size_t align)
{
    size_t at = round_up(memory.next, align), all = bytes + gap_after(bytes);

    if (at <= memory.room && all <= memory.room - at) {
        memory.next = at + all;
        return at;
    }
    at = place_among_freed(bytes + ALLOCATION_ALIGN, align);
    if (at != SIZE_MAX && at + bytes + ALLOCATION_ALIGN > memory.next)
        memory.next = at + bytes + ALLOCATION_ALIGN;
    return at;
}

static uint8_t *new_bits(size_t bytes)
{
    return calloc(bits_room(bytes), 1);
}

static Allocation *give_up(Allocation *a)
{
    int at = count_below(a->base) - 1;

    take_out(at, at + 1);
    return NULL;
}

static size_t pages_of(const Allocation *managed)
{
    return round_up(managed->bytes + !managed->bytes, PAGE);
}

/* Host and device use managed memory at the same address. */
static bool open_to_host(Allocation *a)
{
    if (a->kind != MANAGED)
        return true;
    a->host = (char *) (uintptr_t) a->base;
    a->followed = memory.follow && pages_open(a->host, pages_of(a));
    memory.followed += a->followed;
    return a->followed || !mprotect(a->host, pages_of(a), PROT_READ | PROT_WRITE);
}

Allocation *memory_allocate(size_t bytes, AllocationKind kind, const char *name)
{
    size_t align = kind != MANAGED ? ALLOCATION_ALIGN : memory.follow ? CHUNK_BYTES : PAGE;

    if (!memory.room || bytes > memory.most || memory.in_use > memory.most - bytes)
        return NULL;
    if (memory.freed > MOST_FREED)
        thin_out_freed();
    size_t at = place(round_up(bytes + !bytes, align), align);
    if (at == SIZE_MAX)
        return NULL;
    Allocation *a = enter(&(Allocation){ .base = memory.base + at,
                                         .bytes = bytes,
                                         .host = memory.view + at,
                                         .kind = kind,
                                         .name = name });
    if (!a)
        return NULL;
    if (memory.track && (kind == ALLOCATED || kind == DEVICE_HEAP || kind == ARRAY_MEMORY) &&
        !(a->written = new_bits(bytes)))
        return give_up(a);
    if (!open_to_host(a))
        return give_up(a);
    memory.in_use += bytes;
    memory.heap_in_use += kind == DEVICE_HEAP ? bytes : 0;
    return a;
}

/* malloc may return a host range that was freed before. */
static bool clear_for_host(uint64_t base, size_t bytes)
{
    for (int i = memory.count - 1; i >= 0; i--) {
        const Allocation *a = memory.all[i];
        if (a->base >= base + bytes || a->base + a->bytes <= base)
            continue;
        if (!a->freed)
            return false;
        take_out(i, i + 1);
    }
    return true;
}

Allocation *memory_adopt(void *host, size_t bytes, AllocationKind kind)
{
    uint64_t base = (uint64_t) (uintptr_t) host;

    if (!host || !bytes || bytes > UINT64_MAX - base || is_ours(base))
        return NULL;
    if (!clear_for_host(base, bytes))
        return NULL;
    return enter(
        &(Allocation){ .base = base, .bytes = bytes, .host = host, .kind = kind, .on_host = true });
}

/* Returns whole pages to the system. */
static void drop_pages(Allocation *a)
{
    const uintptr_t begin = round_up((uintptr_t) a->host, PAGE);
    const uintptr_t end = ((uintptr_t) a->host + a->bytes) / PAGE * PAGE;

    if (a->kind == MANAGED)
        pages_close(a->host, pages_of(a));
    else if (end > begin)
        madvise((void *) begin, end - begin, MADV_DONTNEED);
}

bool memory_free(uint64_t base)
{
    int below = count_below(base);
    Allocation *a = below ? memory.all[below - 1] : NULL;

    if (!a || a->base != base || a->freed)
        return false;
    a->freed = true;
    memory_changes++;
    memory.freed++;
    if (is_ours(base)) {
        memory.in_use -= a->bytes;
        memory.heap_in_use -= a->kind == DEVICE_HEAP ? a->bytes : 0;
        drop_pages(a);
    }
    memory.followed -= a->followed;
    a->freeing = false;
    if (memory.last == a)
        memory.last = NULL;
    free(a->written);
    free(a->forbidden);
    free(a->races);
    free(a->chunks);
    free(a->advised);
    a->written = a->forbidden = NULL;
    a->races = a->chunks = a->advised = NULL;
    a->followed = false;
    return true;
}

bool memory_revive(uint64_t base)
{
    Allocation *a = find_any(base);

    if (!a || a->base != base || !a->freed || !a->reserved ||
        memory.in_use > memory.most - a->bytes)
        return false;
    if (memory.track && !(a->written = new_bits(a->bytes)))
        return false;
    a->freed = a->freeing = false;
    memory.freed--;
    memory.in_use += a->bytes;
    return true;
}

void memory_follow(void)
{
    memory.follow = true;
}

bool memory_follows(void)
{
    return memory.followed;
}

size_t memory_in_use(void)
{
    return memory.in_use;
}

size_t memory_heap_in_use(void)
{
    return memory.heap_in_use;
}

void memory_each(void (*visit)(const Allocation *, void *), void *self)
{
    for (int i = 0; i < memory.count; i++)
        if (!memory.all[i]->freed)
            visit(memory.all[i], self);
}

/* ---- For the runtime ---- */

static Allocation *find_range(uint64_t address, size_t bytes)
{
    Allocation *a = memory_find(address);

    return a && bytes <= a->bytes - (address - a->base) ? a : NULL;
}

char *memory_range(uint64_t address, size_t bytes, bool writing)
{
    Allocation *a = find_range(address, bytes);

    if (!a)
        return NULL;
    if (writing && a->written)
        bits_fill(a->written, address - a->base, bytes, true);
    return a->host + (address - a->base);
}

bool memory_mark(uint64_t address, size_t bytes, MarkKind kind)
{
    Allocation *a = find_range(address, bytes);

    if (!a)
        return false;
    size_t at = address - a->base;
    memory_changes++;
    if (kind == MARK_NO_ACCESS && !a->forbidden && !(a->forbidden = new_bits(a->bytes)))
        return false;
    if (a->forbidden)
        bits_fill(a->forbidden, at, bytes, kind == MARK_NO_ACCESS);
    if (a->written)
        bits_fill(a->written, at, bytes, kind == MARK_OK);
    return true;
}

/* ---- Classifying addresses ---- */

/* mincore() reports whether a page is mapped, whatever its protection. */
static bool is_mapped(uint64_t address)
{
    unsigned char resident;

    return address < (uint64_t) 1 << 47 &&
           !mincore((void *) (uintptr_t) (address / PAGE * PAGE), 1, &resident);
}

AddressKind memory_address_kind(uint64_t address)
{
    const Allocation *a = find_any(address);

    if (a)
        return a->freed ? ADDRESS_FREED : ADDRESS_LIVE;
    if (memory.room && is_near(address))
        return ADDRESS_GUARD;
    if (address < PAGE)
        return ADDRESS_NULL;
    return is_mapped(address) ? ADDRESS_HOST : ADDRESS_NOTHING;
}

static uint64_t distance(const Allocation *a, uint64_t address)
{
    if (address < a->base)
        return a->base - address;
    return holds(a, address) ? 0 : address - a->base - a->bytes;
}

/* In a tie, the allocation before the address. */
const Allocation *memory_nearest(uint64_t address)
{
    int below = count_below(address);
    const Allocation *best = find_any(address);

    if (best || !memory.room || !is_near(address))
        return best;

    for (int i = below - 1; i <= below; i++) {
        const Allocation *a = i >= 0 && i < memory.count ? memory.all[i] : NULL;
        if (a && is_ours(a->base) && (!best || distance(a, address) < distance(best, address)))
            best = a;
    }
    return best;
}
