/* bulk.c - cp.async.bulk: one thread copies many bytes between global and shared memory.
 *
 * The source is read when the copy is issued. A copy to shared memory arrives when a thread waits
 * for its mbarrier (mbarrier.c); until then the bytes count as unwritten. A copy to global memory
 * arrives at a wait for its group, or at the end of the block. The proxy fences that PTX requires
 * between ordinary writes and such copies are not checked.
 */
#include "sim/exec/ops/mbarrier.h"
#include "sim/exec/ops/handlers.h"
#include "sim/base/bits.h"

#include <stdlib.h>

enum { PIECE = 16, MOST_BULK = 1 << 12, LONGEST_BULK = 1 << 20 };

typedef struct BulkCopy {
    struct BulkCopy *next;
    Warp *warp;
    const Step *step;
    int lane;
    Space space; /* of the target */
    uint64_t to;
    uint32_t bytes, group;
    uint64_t barrier; /* address */
    const char *barrier_at;
    uint8_t data[];
} BulkCopy;

typedef struct Bulk {
    BulkCopy *first, **end; /* in order of issue */
    int count;
    uint32_t open[WARPS_A_BLOCK][LANES]; /* the group that a thread's next copy joins */
} Bulk;

static Bulk *bulk_of(Block *block)
{
    if (!block->bulk) {
        Bulk *bulk = block->bulk = calloc(1, sizeof *bulk);
        if (bulk)
            bulk->end = &bulk->first;
    }
    return block->bulk;
}

/* ---- Pieces of 16 bytes ---- */

/* The issuing thread's access to one piece. */
static Access piece_of(const BulkCopy *copy, Space space, AccessKind kind, uint64_t address)
{
    Access x = { .warp = copy->warp,
                 .step = copy->step,
                 .mask = 1u << copy->lane,
                 .space = space,
                 .kind = kind,
                 .bytes = PIECE };

    x.address[copy->lane] = address;
    return x;
}

/* Counts as many pieces at once as a warp has lanes. The model of time has no bulk copies. */
static bool count_pieces(const BulkCopy *copy, Space space, AccessKind kind, uint64_t address)
{
    struct Trace *trace = copy->warp->trace;

    for (uint32_t at = 0; space == SPACE_GLOBAL && at < copy->bytes; at += PIECE * LANES) {
        Access x = piece_of(copy, space, kind, 0);
        const uint32_t lanes = (copy->bytes - at) / PIECE;
        x.mask = lanes >= LANES ? ALL_LANES : (1u << lanes) - 1;
        for (int i = 0; i < LANES; i++)
            x.address[i] = address + at + (uint64_t) (PIECE * i);
        if (!access_find(&x))
            return false;
        copy->warp->trace = NULL;
        access_count(&x);
        copy->warp->trace = trace;
    }
    return true;
}

static bool read_source(BulkCopy *copy, Space space, uint64_t from)
{
    if (!count_pieces(copy, space, ACCESS_LOAD, from))
        return false;
    for (uint32_t at = 0; at < copy->bytes; at += PIECE) {
        Access x = piece_of(copy, space, ACCESS_LOAD, from + at);
        if (!access_find(&x))
            return false;
        access_observe(&x);
        memcpy(copy->data + at, x.host + (ptrdiff_t) x.delta[copy->lane], PIECE);
    }
    return true;
}

/* Checks the target. In shared memory its bytes now count as unwritten. */
static bool claim_target(const BulkCopy *copy)
{
    Block *block = copy->warp->block;

    if (!count_pieces(copy, copy->space, ACCESS_STORE, copy->to))
        return false;
    for (uint32_t at = 0; at < copy->bytes; at += PIECE) {
        Access x = piece_of(copy, copy->space, ACCESS_STORE, copy->to + at);
        if (!access_find(&x))
            return false;
        if (copy->space != SPACE_SHARED || x.remote)
            continue;
        OBSERVE(block->launch, copy_claims, &x);
        if (block->shared_written)
            bits_fill(block->shared_written, copy->to + at, PIECE, false);
    }
    return true;
}

/* ---- Arrival ---- */

static void write_target(const BulkCopy *copy)
{
    for (uint32_t at = 0; at < copy->bytes; at += PIECE) {
        Access x = piece_of(copy, copy->space, ACCESS_STORE, copy->to + at);
        if (!access_find(&x))
            return;
        access_observe(&x);
        memcpy(x.host + (ptrdiff_t) x.delta[copy->lane], copy->data + at, PIECE);
    }
}

static void report_bytes(const BulkCopy *copy)
{
    uint64_t address[LANES] = { 0 };
    Access x;

    address[copy->lane] = copy->barrier;
    if (!mbarrier_find(&x, copy->warp, copy->step, 1u << copy->lane, address, ACCESS_ATOMIC))
        return;
    access_observe(&x);
    mbarrier_change(&x, copy->lane, (Arrival){ .bytes = -(int64_t) copy->bytes });
}

static void arrive(Bulk *bulk, BulkCopy **at)
{
    BulkCopy *copy = *at;

    *at = copy->next;
    if (bulk->end == &copy->next)
        bulk->end = at;
    bulk->count--;
    if (!copy->warp->block->launch->failed)
        write_target(copy);
    if (copy->barrier_at && !copy->warp->block->launch->failed)
        report_bytes(copy);
    free(copy);
}

void bulk_deliver(Block *block, const char *barrier)
{
    Bulk *bulk = block->bulk;

    for (BulkCopy **at = bulk ? &bulk->first : NULL; at && *at;)
        if ((*at)->barrier_at == barrier)
            arrive(bulk, at);
        else
            at = &(*at)->next;
}

void bulk_end(Block *block)
{
    Bulk *bulk = block->bulk;

    while (bulk && bulk->first) {
        if (bulk->first->barrier_at) /* no thread waited for it */
            bulk->first->bytes = 0, bulk->first->barrier_at = NULL;
        arrive(bulk, &bulk->first);
    }
    free(bulk);
    block->bulk = NULL;
}

const Step *bulk_pending(const Block *block, uint64_t offset, int bytes)
{
    const Bulk *bulk = block->bulk;

    for (const BulkCopy *copy = bulk ? bulk->first : NULL; copy; copy = copy->next)
        if (copy->space == SPACE_SHARED && copy->to < offset + (uint64_t) bytes &&
            offset < copy->to + copy->bytes)
            return copy->step;
    return NULL;
}

/* ---- Issue ---- */

static BulkCopy *new_copy(Warp *warp, const Step *step, int lane)
{
    const uint32_t bytes = ((const Lane32 *) plane(warp, step->c))[lane];
    Bulk *bulk = bulk_of(warp->block);
    BulkCopy *copy = NULL;

    if (bytes % PIECE || bytes > LONGEST_BULK)
        fail(warp, step, lane, FINDING_MISALIGNED,
             "copies %u bytes: a bulk copy needs a multiple of 16", bytes);
    else if (bulk && bulk->count < MOST_BULK)
        copy = calloc(1, sizeof *copy + bytes);
    if (!copy && !warp->block->launch->failed)
        fail(warp, step, lane, FINDING_LIMIT,
             "is one of more than %d bulk copies that were never waited for", MOST_BULK);
    if (copy) {
        copy->warp = warp;
        copy->step = step;
        copy->lane = lane;
        copy->bytes = bytes;
        copy->group = bulk->open[warp->number % WARPS_A_BLOCK][lane];
    }
    return copy;
}

static void keep(Block *block, BulkCopy *copy)
{
    Bulk *bulk = block->bulk;

    *bulk->end = copy;
    bulk->end = &copy->next;
    bulk->count++;
}

static uint64_t in_shared(uint64_t address)
{
    return address - SHARED_WINDOW < WINDOW_BYTES ? address - SHARED_WINDOW : address;
}

/* Finds the mbarrier to which the copy reports. */
static bool find_barrier(BulkCopy *copy, const uint64_t address[LANES])
{
    Access x;

    if (!mbarrier_find(&x, copy->warp, copy->step, 1u << copy->lane, address, ACCESS_LOAD))
        return false;
    copy->barrier = address[copy->lane];
    copy->barrier_at = mbarrier_at(&x, copy->lane);
    return true;
}

static bool is_to_shared(const Step *step)
{
    return step->in->count == 4;
}

static void run_copy(Warp *warp, const Step *step, uint32_t mask)
{
    const bool to_shared = is_to_shared(step);
    uint64_t to[LANES], from[LANES], barrier[LANES];

    access_addresses(to, warp, step->a, step->address_size, step->offset);
    access_addresses(from, warp, step->b, step->copy.address_size, step->copy.offset);
    if (to_shared)
        access_addresses(barrier, warp, step->e, step->copy.barrier_size,
                         step->copy.barrier_offset);
    FOR_LANES (lane, mask) {
        BulkCopy *copy = new_copy(warp, step, (int) lane);
        if (!copy)
            return;
        copy->space = to_shared ? SPACE_SHARED : SPACE_GLOBAL;
        copy->to = to_shared ? in_shared(to[lane]) : to[lane];
        const uint64_t source = to_shared ? from[lane] : in_shared(from[lane]);
        if ((to_shared && !find_barrier(copy, barrier)) ||
            !read_source(copy, to_shared ? SPACE_GLOBAL : SPACE_SHARED, source) ||
            !claim_target(copy)) {
            free(copy);
            return;
        }
        keep(warp->block, copy);
    }
}

static void run_commit(Warp *warp, const Step *step, uint32_t mask)
{
    Bulk *bulk = bulk_of(warp->block);

    (void) step;
    FOR_LANES (lane, mask)
        if (bulk)
            bulk->open[warp->number % WARPS_A_BLOCK][lane]++;
}

/* All copies of the lanes arrive, except those of their newest groups. */
static void run_wait_group(Warp *warp, const Step *step, uint32_t mask)
{
    const uint32_t keeps = *(const Lane32 *) plane(warp, step->a);
    Bulk *bulk = warp->block->bulk;

    for (BulkCopy **at = bulk ? &bulk->first : NULL; at && *at;) {
        const BulkCopy *copy = *at;
        const uint32_t newer =
            bulk->open[warp->number % WARPS_A_BLOCK][copy->lane] - copy->group; /* 0: open */
        if (!copy->barrier_at && copy->warp == warp && mask >> copy->lane & 1 && newer > keeps)
            arrive(bulk, at);
        else
            at = &(*at)->next;
    }
}

static void run_prefetch(Warp *warp, const Step *step, uint32_t mask)
{
    (void) warp, (void) step, (void) mask;
}

static bool says(const Instruction *in, const char *part)
{
    return memmem(in->text.at, (size_t) in->text.length, part, strlen(part)) != NULL;
}

bool bind_bulk(Step *step, const Instruction *in)
{
    if (!has_mod(in, MOD_bulk) || says(in, ".multicast"))
        return false;
    if (has_mod(in, MOD_commit_group))
        step->run = run_commit;
    else if (has_mod(in, MOD_wait_group))
        step->run = run_wait_group;
    else if (says(in, ".prefetch.") && in->count == 2)
        step->run = run_prefetch;
    else if (in->count == 4 && says(in, ".mbarrier::complete_tx::bytes") && says(in, ".global.mb"))
        step->run = run_copy;
    else if (in->count == 3 && has_mod(in, MOD_bulk_group))
        step->run = run_copy;
    return step->run;
}
