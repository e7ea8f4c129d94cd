/* access.c - one access of a warp to memory: finds the allocation, checks the access and counts its
 * cost.
 *
 * Nearly always all lanes are in one allocation. Then checking the lowest and highest address and
 * the alignment of the pattern is enough. Only if that check fails is each lane checked in order,
 * so that the finding names the first faulty lane. */
#include "sim/exec/access_words.h"
#include "sim/exec/ahead.h"
#include "sim/base/bits.h"
#include "sim/base/common.h"
#include "sim/exec/ops/handlers.h"
#include "sim/exec/trace.h"

#include <stdio.h>
#include <stdlib.h>

const char *access_verb(const Access *access)
{
    static const char *const verbs[] = {
        [ACCESS_LOAD] = "reads", [ACCESS_STORE] = "writes", [ACCESS_ATOMIC] = "updates"
    };

    return verbs[access->kind];
}

bool is_release(const Instruction *in)
{
    return has_mod(in, MOD_release) || has_mod(in, MOD_acq_rel) || has_mod(in, MOD_sc);
}

bool is_strong(const Instruction *in)
{
    return is_release(in) || has_mod(in, MOD_volatile) || has_mod(in, MOD_relaxed) ||
           has_mod(in, MOD_acquire) || has_mod(in, MOD_mmio);
}

/* ---- Addresses ---- */

WITH_VECTORS void access_addresses(uint64_t address[LANES], Warp *warp, int slot, int size,
                                   int64_t offset)
{
    const Lane32 *narrow = plane(warp, slot);
    const Lane64 *wide = plane(warp, slot);

    if (size == 4 && slot >= 0) {
        for (int i = 0; i < LANES; i++)
            address[i] = narrow[i] + (uint32_t) offset;
        return;
    }
    for (int i = 0; i < LANES; i++)
        address[i] = wide[i] + (uint64_t) offset;
}

static const struct Window {
    Space space;
    uint64_t begin;
} windows[] = {
    { SPACE_SHARED, SHARED_WINDOW },
    { SPACE_LOCAL, LOCAL_WINDOW },
    { SPACE_PARAM, PARAM_WINDOW },
};
enum { WINDOW_COUNT = sizeof windows / sizeof *windows };

static uint32_t lanes_in_window(const Access *x, uint32_t mask, uint64_t window)
{
    uint32_t inside = 0;

    for (int i = 0; i < LANES; i++)
        inside |= (uint32_t) (x->address[i] - window < WINDOW_BYTES) << i;
    return inside & mask;
}

/* All windows lie below the GPU's memory and, on Linux, outside the host's. */
static bool in_any_window(const Access *x)
{
    uint64_t any = 0;

    for (int i = 0; i < LANES; i++)
        any |= x->address[i] - SHARED_WINDOW < PARAM_WINDOW + WINDOW_BYTES - SHARED_WINDOW;
    return any;
}

uint32_t access_split(Access *x, uint32_t mask)
{
    uint32_t first = mask & -mask;

    x->space = SPACE_GLOBAL;
    x->mask = mask;
    if (!in_any_window(x))
        return mask;
    for (int i = 0; i < WINDOW_COUNT; i++) {
        uint32_t inside = lanes_in_window(x, mask, windows[i].begin);
        if (!(inside & first)) {
            x->mask &= ~inside;
            continue;
        }
        for (uint32_t left = inside; left; left &= left - 1)
            x->address[first_lane(left)] -= windows[i].begin;
        x->space = windows[i].space;
        return x->mask = inside;
    }
    return x->mask;
}

/* ---- Faults ---- */

static bool fault(const Access *x, int lane, FindingKind kind, const char *what)
{
    fail(x->warp, x->step, lane, kind, "%s %d byte%s at 0x%llx, %s", access_verb(x), x->bytes,
         plural((uint64_t) x->bytes), (unsigned long long) x->address[lane], what);
    return false;
}

/* `what` names the array and the element. */
static bool fault_in_words(const Access *x, int lane, const char *what)
{
    fail(x->warp, x->step, lane, FINDING_OUT_OF_BOUNDS, "%s %s", access_verb(x), what);
    return false;
}

static bool misaligned(const Access *x, int lane)
{
    const Allocation *a = memory_find(x->address[lane]);
    const char *name = a ? a->label ? a->label : a->name : NULL;
    char what[64];

    if (name) {
        fail(x->warp, x->step, lane, FINDING_MISALIGNED,
             "%s %d bytes at once from byte %llu of `%.60s`, which is not a multiple of %d",
             access_verb(x), x->bytes, (unsigned long long) (x->address[lane] - a->base), name,
             x->bytes);
        return false;
    }
    snprintf(what, sizeof what, "which is not a multiple of %d", x->bytes);
    return fault(x, lane, FINDING_MISALIGNED, what);
}

/* Where Linux places stacks, heaps and libraries of processes. The program's host code may run in
 * another process, whose memory is not known here. */
static bool looks_like_host(uint64_t address)
{
    const uint64_t top = address >> 40;

    return top == 0x7f || top == 0x55 || top == 0x56 || top == 0xaa || top == 0xff;
}

static bool not_there(const Access *x, int lane)
{
    const AddressKind kind = memory_address_kind(x->address[lane]);
    static const FindingKind kinds[] = {
        [ADDRESS_LIVE] = FINDING_OUT_OF_BOUNDS,  [ADDRESS_FREED] = FINDING_USE_AFTER_FREE,
        [ADDRESS_GUARD] = FINDING_OUT_OF_BOUNDS, [ADDRESS_HOST] = FINDING_HOST_POINTER,
        [ADDRESS_NULL] = FINDING_OUT_OF_BOUNDS,  [ADDRESS_NOTHING] = FINDING_OUT_OF_BOUNDS,
    };
    char what[300];

    if (kind != ADDRESS_FREED && access_words_outside(x, lane, what, sizeof what))
        return fault_in_words(x, lane, what);
    if (kind == ADDRESS_HOST || (kind == ADDRESS_NOTHING && looks_like_host(x->address[lane])))
        return fault(x, lane, FINDING_HOST_POINTER,
                     "an address in the host's memory: kernels may only use the GPU's");
    memory_describe(x->address[lane], (size_t) x->bytes, what, sizeof what);
    return fault(x, lane, kinds[kind], what);
}

static bool is_forbidden(const Allocation *a, size_t at)
{
    return a->forbidden[at / 8] >> (at & 7) & 1;
}

/* Bytes begin .. end - 1 of an allocation are an array, as marked by simMark(). */
typedef struct Part {
    size_t begin, end;
} Part;

static Part part_before(const Allocation *a, size_t at)
{
    Part part = { at, at };

    while (part.end > 0 && is_forbidden(a, part.end - 1))
        part.end--;
    for (part.begin = part.end; part.begin > 0 && !is_forbidden(a, part.begin - 1);)
        part.begin--;
    return part;
}

static Part part_after(const Allocation *a, size_t at)
{
    Part part;

    part.begin = bits_other(a->forbidden, at, a->bytes - at, true);
    part.end = bits_other(a->forbidden, part.begin, a->bytes - part.begin, false);
    return part;
}

static void name_part(const Allocation *a, Part part, char *text, size_t size)
{
    if (a->label)
        snprintf(text, size, "`%.100s` (%zu bytes)", a->label, part.end - part.begin);
    else
        snprintf(text, size, "the %zu bytes of the array", part.end - part.begin);
}

/* Inside an allocation, but outside the parts that simMark() lets the kernel use. The report
 * refers to the nearest array before or after the address. */
static bool forbidden(const Access *x, int lane, const Allocation *a)
{
    const size_t at = x->address[lane] - a->base, bytes = (size_t) x->bytes;
    const size_t first = bits_other(a->forbidden, at, bytes, false);
    const Part before = part_before(a, first), after = part_after(a, first);
    const bool is_before = after.begin < after.end &&
                           (before.begin == before.end || after.begin - first < first - before.end);
    const int64_t offset = (int64_t) at - (int64_t) (is_before ? after : before).begin;
    const size_t array_bytes = is_before ? after.end - after.begin : before.end - before.begin;
    char what[300], name[160];

    if (a->label && array_bytes &&
        access_words_element(x, a->label, array_bytes, offset, what, sizeof what))
        return fault_in_words(x, lane, what);
    name_part(a, is_before ? after : before, name, sizeof name);
    if (before.begin == before.end && after.begin == after.end)
        snprintf(what, sizeof what, "which the kernel may not access");
    else if (is_before)
        snprintf(what, sizeof what, "%zu byte%s before %s", after.begin - at,
                 plural(after.begin - at), name);
    else if (at < first)
        snprintf(what, sizeof what, "the last %zu of them after the end of %s", at + bytes - first,
                 name);
    else if (at == before.end)
        snprintf(what, sizeof what, "right after %s", name);
    else
        snprintf(what, sizeof what, "%zu byte%s after the end of %s", at - before.end,
                 plural(at - before.end), name);
    return fault(x, lane, FINDING_OUT_OF_BOUNDS, what);
}

static bool write_to_constant(const Access *x, int lane)
{
    char where[250], what[300];

    memory_describe(x->address[lane], (size_t) x->bytes, where, sizeof where);
    snprintf(what, sizeof what, "%s: constant memory, which kernels may only read", where);
    return fault(x, lane, FINDING_FORBIDDEN, what);
}

/* For shared or local memory. */
static bool outside_window(const Access *x, int lane, const char *memory, const char *whose,
                           uint64_t bytes)
{
    const uint64_t address = x->address[lane]; /* 32-bit: an offset below 0 becomes a large one */
    int64_t at = address <= UINT32_MAX ? (int32_t) (uint32_t) address : (int64_t) address;
    char what[300];

    if (x->address[lane] & (uint64_t) (x->bytes - 1))
        fail(x->warp, x->step, lane, FINDING_MISALIGNED,
             "%s %d bytes of %s memory at %lld, which is not a multiple of %d", access_verb(x),
             x->bytes, memory, (long long) at, x->bytes);
    else if (x->space == SPACE_SHARED && access_words_outside(x, lane, what, sizeof what))
        return fault_in_words(x, lane, what);
    else
        fail(x->warp, x->step, lane, FINDING_OUT_OF_BOUNDS,
             "%s %d byte%s of %s memory at %lld: %s has %llu byte%s", access_verb(x), x->bytes,
             plural((uint64_t) x->bytes), memory, (long long) at, whose, (unsigned long long) bytes,
             plural(bytes));
    return false;
}

/* ---- Global memory ---- */

/* Returns NULL if an error was reported. */
static Allocation *find_lane(const Access *x, int lane)
{
    uint64_t address = x->address[lane];

    if (address & (uint64_t) (x->bytes - 1)) {
        misaligned(x, lane);
        return NULL;
    }
    Allocation *a = memory_find(address);
    size_t at = a ? address - a->base : 0;
    if (!a || (size_t) x->bytes > a->bytes - at)
        return not_there(x, lane), NULL;
    if (a->forbidden && !bits_all(a->forbidden, at, (size_t) x->bytes, false))
        return forbidden(x, lane, a), NULL;
    if (a->kind == VARIABLE_CONST && x->kind != ACCESS_LOAD)
        return write_to_constant(x, lane), NULL;
    return a;
}

/* Lane by lane: a lane is faulty, or the lanes are in different allocations. */
static bool find_each(Access *x)
{
    x->allocation = NULL;
    x->delta = x->own_delta;
    memset(x->own_delta, 0, sizeof x->own_delta);
    int first = first_lane(x->mask);
    bool one = true;

    for (uint32_t left = x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        Allocation *a = find_lane(x, lane);
        if (!a)
            return false;
        char *at = a->host + (x->address[lane] - a->base);
        if (lane == first)
            x->host = at;
        x->of[lane] = a;
        ahead_note(x, a);
        x->own_delta[lane] = (uint64_t) ((uintptr_t) at - (uintptr_t) x->host);
        one &= a == x->of[first];
    }
    if (one)
        x->allocation = x->of[first];
    x->linear = x->linear && one;
    x->uniform = x->uniform && one;
    return true;
}

static bool find_global(Access *x)
{
    const Shape *s = shape_of(x->step, SPACE_GLOBAL, x->kind, x->mask, x->bytes, x->address);
    uint64_t first = x->address[first_lane(x->mask)];
    Allocation *a = memory_find(first);

    x->shape = s;
    x->linear = s->linear;
    x->uniform = s->uniform;
    if (!a || !s->aligned || a->forbidden || (a->kind == VARIABLE_CONST && x->kind != ACCESS_LOAD))
        return find_each(x);
    int64_t off = (int64_t) (first - a->base), room = (int64_t) a->bytes - x->bytes - off;
    if (s->low < -off || s->high > room)
        return find_each(x);
    ahead_note(x, a);
    x->allocation = a;
    x->host = a->host + off;
    x->delta = s->delta;
    return true;
}

/* ---- Shared and local memory ---- */

/* The block whose shared memory an address refers to; NULL: none. `*at`: the offset in it. */
static Block *peer_of(const Access *x, int lane, uint64_t *at)
{
    Block *own = x->warp->block;
    const uint64_t peer = x->address[lane] / PEER_SHARED;

    *at = x->address[lane] % PEER_SHARED;
    if (!peer)
        return own;
    return own->cluster && peer <= (uint64_t) own->cluster->count ? own->cluster->blocks[peer - 1]
                                                                  : NULL;
}

/* Lane by lane, if one of them accesses another block of the cluster. */
static bool find_peers(Access *x)
{
    const int first = first_lane(x->mask);

    x->remote = true;
    x->linear = x->uniform = false;
    x->delta = x->own_delta;
    memset(x->own_delta, 0, sizeof x->own_delta);
    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        uint64_t at;
        Block *peer = peer_of(x, lane, &at);
        if (!peer) {
            fail(x->warp, x->step, lane, FINDING_OUT_OF_BOUNDS,
                 "%s shared memory of a block of the cluster that has ended or does not exist: "
                 "wait at a barrier of the cluster before a block ends",
                 access_verb(x));
            return false;
        }
        if (at > peer->shared_bytes || (size_t) x->bytes > peer->shared_bytes - at ||
            at & (uint64_t) (x->bytes - 1))
            return outside_window(x, lane, "shared", "the other block", peer->shared_bytes);
        char *host = (char *) peer->shared + at;
        if (lane == first)
            x->host = host;
        x->own_delta[lane] = (uint64_t) ((uintptr_t) host - (uintptr_t) x->host);
    }
    return true;
}

/* Bytes of other blocks count as written. They are not checked further. */
static void mark_peers(const Access *x)
{
    for (uint32_t left = x->mask; left && x->kind != ACCESS_LOAD; left &= left - 1) {
        uint64_t at;
        Block *peer = peer_of(x, first_lane(left), &at);
        if (peer && peer->shared_written)
            bits_fill(peer->shared_written, at, (size_t) x->bytes, true);
    }
}

static bool has_peers(const Access *x)
{
    bool any = false;

    for (uint32_t left = x->mask; left && x->warp->block->cluster; left &= left - 1)
        any |= x->address[first_lane(left)] >= PEER_SHARED &&
               x->address[first_lane(left)] < (uint64_t) PEER_SHARED * (MOST_IN_CLUSTER + 1);
    return any;
}

static bool find_shared(Access *x)
{
    const Block *block = x->warp->block;
    const Shape *s = shape_of(x->step, SPACE_SHARED, x->kind, x->mask, x->bytes, x->address);
    uint64_t first = x->address[first_lane(x->mask)];
    int64_t room = (int64_t) block->shared_bytes - x->bytes;

    x->shape = s;
    x->remote = false;
    if (s->aligned && first <= INT32_MAX && (int64_t) first + s->low >= 0 &&
        s->high <= room - (int64_t) first) {
        x->host = (char *) block->shared + first;
        x->delta = s->delta;
        x->linear = s->linear;
        x->uniform = s->uniform;
        return true;
    }
    if (has_peers(x))
        return find_peers(x);
    for (uint32_t left = x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t at = x->address[lane];
        if (room < 0 || at > (uint64_t) room || at & (uint64_t) (x->bytes - 1))
            return outside_window(x, lane, "shared", "the block", block->shared_bytes);
    }
    abort(); /* unreachable: one of the lanes must be faulty */
}

/* Memory private to each lane, at `stride` bytes from the previous lane's; stride 0: shared by
 * all lanes. */
static bool find_private(Access *x, uint8_t *memory, uint64_t stride, uint64_t bytes,
                         const char *name, const char *whose)
{
    int first = first_lane(x->mask);
    uint64_t start = (uint64_t) first * stride + x->address[first];

    x->shape = NULL;
    x->delta = x->own_delta;
    x->linear = x->uniform = false;
    memset(x->own_delta, 0, sizeof x->own_delta);
    for (uint32_t left = x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t at = x->address[lane];
        if (at >= bytes || (uint64_t) x->bytes > bytes - at || at & (uint64_t) (x->bytes - 1))
            return outside_window(x, lane, name, whose, bytes);
        x->own_delta[lane] = (uint64_t) lane * stride + at - start;
    }
    x->host = (char *) memory + start;
    return true;
}

static bool find_local(Access *x)
{
    uint64_t bytes = (uint64_t) x->warp->block->launch->local_bytes;

    return find_private(x, x->warp->local, bytes, bytes, "local", "the thread");
}

/* A kernel's parameters are the same for all lanes; parameters of nested calls are stored per
 * lane. */
static bool find_param(Access *x)
{
    Launch *launch = x->warp->block->launch;
    uint64_t bytes = (uint64_t) x->warp->code->param_bytes;

    if (x->step->space == SPACE_PARAM && !x->step->kernel_param)
        return find_private(x, x->warp->params, bytes, bytes, "parameter", "the call");
    if (x->kind != ACCESS_LOAD) {
        fail(x->warp, x->step, first_lane(x->mask), FINDING_FORBIDDEN,
             "%s the kernel's parameters, which are read-only", access_verb(x));
        return false;
    }
    return find_private(x, launch->params, 0, launch->param_bytes, "parameter", "the kernel");
}

bool access_find(Access *x)
{
    if (x->space == SPACE_SHARED)
        return find_shared(x);
    if (x->space == SPACE_LOCAL)
        return find_local(x);
    return x->space == SPACE_PARAM ? find_param(x) : find_global(x);
}

bool access_open(Access *x)
{
    if (!access_find(x))
        return false;
    if (x->space != SPACE_GLOBAL && x->space != SPACE_SHARED) {
        if (x->warp->trace)
            trace_access(x);
        return true;
    }
    access_count(x);
    access_observe(x);
    return true;
}

void access_observe(Access *x)
{
    if (x->space == SPACE_SHARED && x->remote)
        mark_peers(x);
    else
        OBSERVE(x->warp->block->launch, access, x);
}
