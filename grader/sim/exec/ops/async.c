/* async.c - cp.async: copies from global to shared memory that arrive at a wait.
 *
 * On hardware a copy may arrive at any time up to the wait; here it always arrives as late as
 * allowed, so that a kernel that does not wait computes with the old bytes. Until then the bytes
 * also count as not written. The source is read, and both sides are checked, when the copy is
 * issued.
 */
#include "sim/exec/access.h"
#include "sim/exec/ops/mbarrier.h"
#include "sim/base/bits.h"
#include "sim/exec/ops/handlers.h"

#include <stdlib.h>

enum { LARGEST_COPY = 16, MOST_COPIES = 1 << 16 };

/* The copies of one instruction. Lanes leave the mask when their copies arrive. */
typedef struct AsyncCopy {
    const Step *step;
    uint32_t mask;
    int bytes;
    uint32_t issue; /* copies of the warp before this one */
    uint32_t group[LANES];
    uint64_t to[LANES];
    uint8_t data[LANES][LARGEST_COPY];
} AsyncCopy;

typedef struct Async {
    uint32_t open[LANES]; /* the number of the group that a lane's next copy joins */
    AsyncCopy *copies;    /* in flight, in order of issue */
    int count, room;
    uint32_t issued;
    struct Promise *promises;
    int promised, promises_room;
} Async;

/* Lanes that arrive at mbarriers once their copies before `issue` are complete. */
typedef struct Promise {
    const Step *step;
    uint32_t mask, issue;
    uint64_t address[LANES];
    const char *barrier[LANES];
} Promise;

static Async *async_of(Warp *warp)
{
    if (!warp->async)
        warp->async = calloc(1, sizeof(Async));
    return warp->async;
}

static AsyncCopy *new_copy(Async *async)
{
    if (async->count == MOST_COPIES)
        return NULL;
    if (async->count == async->room) {
        int room = async->room ? 2 * async->room : 8;
        AsyncCopy *copies = realloc(async->copies, (size_t) room * sizeof *copies);
        if (!copies)
            return NULL;
        async->copies = copies;
        async->room = room;
    }
    return &async->copies[async->count];
}

/* ---- Issue ---- */

static uint32_t value_of(Warp *warp, int slot, int lane)
{
    return ((const Lane32 *) plane(warp, slot))[slot < 0 ? 0 : lane];
}

static void begin(Access *x, Warp *warp, const Step *step, uint32_t mask, Space space, int bytes)
{
    x->warp = warp;
    x->step = step;
    x->mask = mask;
    x->space = space;
    x->kind = space == SPACE_SHARED ? ACCESS_STORE : ACCESS_LOAD;
    x->bytes = bytes;
    x->strong = x->release = false;
    x->value = NULL;
}

/* Full-size copies: one access of the warp, which is not yet counted. */
static bool read_whole(Access *x, AsyncCopy *copy)
{
    if (!access_find(x))
        return false;
    access_observe(x);
    for (uint32_t left = x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        memcpy(copy->data[lane], x->host + (ptrdiff_t) x->delta[lane], (size_t) x->bytes);
    }
    return true;
}

/* A lane that reads fewer bytes than it writes; the remaining bytes become zeros. Rare, so byte by
 * byte. */
static bool read_part(Access *x, AsyncCopy *copy, int lane, uint32_t bytes)
{
    Access byte = *x;

    byte.mask = 1u << lane;
    byte.bytes = 1;
    for (uint32_t i = 0; i < bytes; i++, byte.address[lane]++) {
        if (!access_find(&byte))
            return false;
        OBSERVE(x->warp->block->launch, copy_reads, &byte);
        copy->data[lane][i] = (uint8_t) *byte.host;
    }
    return true;
}

/* Lanes that read fewer bytes are in the same request as the others. Their bytes are in one sector,
 * so the request costs the same as with all of their bytes. */
static bool count_reads(Access *x, uint32_t mask, int bytes)
{
    x->mask = mask;
    x->bytes = 1; /* their other bytes may be outside the array */
    if (!access_find(x))
        return false;
    x->bytes = bytes;
    access_count(x);
    return true;
}

/* The number of bytes that a lane reads: the fourth operand, or none if that is a true predicate.
 */
static uint32_t source_bytes(Warp *warp, const Step *step, int lane, uint32_t bytes)
{
    if (step->copy.is_suppressed)
        return predicate_of(warp, step->e, step->negated_e) >> lane & 1 ? 0 : bytes;
    return value_of(warp, step->e, lane);
}

static bool read_source(Warp *warp, const Step *step, uint32_t mask, AsyncCopy *copy)
{
    bool has_size = step->in->count >= 4;
    Access x;
    uint32_t whole = mask, reading = mask;

    begin(&x, warp, step, mask, SPACE_GLOBAL, copy->bytes);
    access_addresses(x.address, warp, step->b, step->copy.address_size, step->copy.offset);
    for (uint32_t left = has_size ? mask : 0; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t bytes = source_bytes(warp, step, lane, (uint32_t) copy->bytes);
        if (bytes >= (uint32_t) copy->bytes)
            continue;
        whole &= ~(1u << lane);
        reading &= bytes ? reading : ~(1u << lane);
        if (!read_part(&x, copy, lane, bytes))
            return false;
    }
    x.mask = whole;
    if (whole && !read_whole(&x, copy))
        return false;
    return !reading || count_reads(&x, reading, copy->bytes);
}

/* From now on the target bytes count as unwritten, and accesses of other threads to them race with
 * the copy. */
static bool claim_target(Warp *warp, const Step *step, uint32_t mask, AsyncCopy *copy)
{
    Block *block = warp->block;
    Access x;

    begin(&x, warp, step, mask, SPACE_SHARED, copy->bytes);
    access_addresses(x.address, warp, step->a, step->address_size, step->offset);
    if (!access_find(&x))
        return false;
    access_count(&x);
    OBSERVE(block->launch, copy_claims, &x);
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        copy->to[lane] = x.address[lane];
        if (block->shared_written)
            bits_fill(block->shared_written, x.address[lane], (size_t) copy->bytes, false);
    }
    return true;
}

static void run_copy(Warp *warp, const Step *step, uint32_t mask)
{
    Async *async = async_of(warp);
    AsyncCopy *copy = async ? new_copy(async) : NULL;
    uint32_t bytes = value_of(warp, step->c, 0);

    if (!copy) {
        fail(warp, step, first_lane(mask), FINDING_LIMIT,
             "is one of more than %d copies that were never waited for", MOST_COPIES);
        return;
    }
    if (bytes != 4 && bytes != 8 && bytes != 16) {
        fail(warp, step, first_lane(mask), FINDING_UNKNOWN_INSTRUCTION,
             "copies %u bytes: it can copy 4, 8 or 16", bytes);
        return;
    }
    memset(copy, 0, sizeof *copy);
    copy->step = step;
    copy->mask = mask;
    copy->bytes = (int) bytes;
    copy->issue = async->issued++;
    memcpy(copy->group, async->open, sizeof copy->group);
    if (read_source(warp, step, mask, copy) && claim_target(warp, step, mask, copy))
        async->count++;
}

/* ---- Arrival ---- */

static void land(Warp *warp, AsyncCopy *copy, uint32_t lanes)
{
    Access x;

    begin(&x, warp, copy->step, lanes, SPACE_SHARED, copy->bytes);
    memcpy(x.address, copy->to, sizeof x.address);
    copy->mask &= ~lanes;
    if (!access_find(&x))
        return;
    OBSERVE(warp->block->launch, access, &x);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = first_lane(left);
        memcpy(x.host + (ptrdiff_t) x.delta[lane], copy->data[lane], (size_t) copy->bytes);
    }
}

/* Completes all copies of these lanes except those in their newest `keep` groups. */
static void land_all(Warp *warp, uint32_t mask, uint32_t keep, bool uncommitted)
{
    Async *async = warp->async;
    int kept = 0;

    for (int i = 0; async && i < async->count; i++) {
        AsyncCopy *copy = &async->copies[i];
        uint32_t lanes = 0;
        for (uint32_t left = copy->mask & mask; left; left &= left - 1) {
            int lane = first_lane(left);
            uint32_t newer = async->open[lane] - copy->group[lane]; /* 0: not committed */
            lanes |= (uint32_t) (uncommitted || newer > keep) << lane;
        }
        if (lanes)
            land(warp, copy, lanes);
        if (copy->mask)
            async->copies[kept++] = *copy;
    }
    if (async)
        async->count = kept;
}

/* Completes the copies of these lanes that were issued before `issue`. */
static void land_before(Warp *warp, uint32_t mask, uint32_t issue)
{
    Async *async = warp->async;
    int kept = 0;

    for (int i = 0; i < async->count; i++) {
        AsyncCopy *copy = &async->copies[i];
        if (copy->mask & mask && (int32_t) (copy->issue - issue) < 0)
            land(warp, copy, copy->mask & mask);
        if (copy->mask)
            async->copies[kept++] = *copy;
    }
    async->count = kept;
}

/* ---- cp.async.mbarrier.arrive ---- */

static Promise *new_promise(Async *async)
{
    if (async->promised == MOST_COPIES)
        return NULL;
    if (async->promised == async->promises_room) {
        int room = async->promises_room ? 2 * async->promises_room : 8;
        Promise *promises = realloc(async->promises, (size_t) room * sizeof *promises);
        if (!promises)
            return NULL;
        async->promises = promises;
        async->promises_room = room;
    }
    return &async->promises[async->promised];
}

/* Without .noinc, the phase waits for this arrival in addition to those it expects. */
static void run_arrive(Warp *warp, const Step *step, uint32_t mask)
{
    Async *async = async_of(warp);
    Promise *promise = async ? new_promise(async) : NULL;
    Access x;

    if (!promise) {
        fail(warp, step, first_lane(mask), FINDING_LIMIT,
             "is one of more than %d arrivals that were never waited for", MOST_COPIES);
        return;
    }
    *promise = (Promise){ .step = step, .mask = mask, .issue = async->issued };
    access_addresses(promise->address, warp, step->a, step->address_size, step->offset);
    if (!mbarrier_find(&x, warp, step, mask, promise->address, ACCESS_ATOMIC))
        return;
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        promise->barrier[lane] = mbarrier_at(&x, lane);
        if (!has_mod(step->in, MOD_noinc) &&
            !mbarrier_count(warp, step, lane, promise->address[lane], -1))
            return;
    }
    async->promised++;
}

/* Keeps the promises that the lanes of a warp have made to this mbarrier. */
static void keep_promises(Warp *warp, const char *barrier)
{
    Async *async = warp->async;
    int kept = 0;

    for (int i = 0; i < async->promised; i++) {
        Promise *promise = &async->promises[i];
        for (uint32_t left = promise->mask; left; left &= left - 1) {
            const int lane = first_lane(left);
            if (promise->barrier[lane] != barrier || warp->block->launch->failed)
                continue;
            promise->mask &= ~(1u << lane);
            land_before(warp, 1u << lane, promise->issue);
            mbarrier_count(warp, promise->step, lane, promise->address[lane], 1);
        }
        if (promise->mask)
            async->promises[kept++] = *promise;
    }
    async->promised = kept;
}

void async_deliver(Block *block, const char *barrier)
{
    for (int w = 0; w < block->warp_count; w++)
        if (block->warps[w].async)
            keep_promises(&block->warps[w], barrier);
}

/* ---- Groups ---- */

static void run_commit(Warp *warp, const Step *step, uint32_t mask)
{
    Async *async = async_of(warp);

    (void) step;
    for (int i = 0; async && i < LANES; i++)
        async->open[i] += mask >> i & 1;
}

static void run_wait_group(Warp *warp, const Step *step, uint32_t mask)
{
    land_all(warp, mask, value_of(warp, step->a, first_lane(mask)), false);
}

static void run_wait_all(Warp *warp, const Step *step, uint32_t mask)
{
    (void) step;
    land_all(warp, mask, 0, true);
}

void async_end_warp(Warp *warp)
{
    const Async *async = warp->async;

    if (async && !async->promised)
        async_end(warp);
}

void async_end(Warp *warp)
{
    Async *async = warp->async;

    if (!async)
        return;
    free(async->copies);
    free(async->promises);
    free(async);
    warp->async = NULL;
}

const Step *async_pending(const Block *block, uint64_t offset, int bytes)
{
    for (int w = 0; w < block->warp_count; w++) {
        const Async *async = block->warps[w].async;
        for (int i = 0; async && i < async->count; i++) {
            const AsyncCopy *copy = &async->copies[i];
            for (uint32_t left = copy->mask; left; left &= left - 1) {
                uint64_t to = copy->to[first_lane(left)];
                if (to < offset + (uint64_t) bytes && offset < to + (uint64_t) copy->bytes)
                    return copy->step;
            }
        }
    }
    return bulk_pending(block, offset, bytes);
}

/* ---- Binding ---- */

bool bind_async(Step *step, const Instruction *in)
{
    if (!has_mod(in, MOD_async) || has_mod(in, MOD_bulk))
        return false;
    if (has_mod(in, MOD_commit_group))
        step->run = run_commit;
    else if (has_mod(in, MOD_wait_group))
        step->run = run_wait_group;
    else if (has_mod(in, MOD_wait_all))
        step->run = run_wait_all;
    else if (has_mod(in, MOD_mbarrier) && has_mod(in, MOD_arrive))
        step->run = run_arrive;
    else if ((has_mod(in, MOD_ca) || has_mod(in, MOD_cg)) && in->count >= 3)
        step->run = run_copy;
    return step->run;
}
