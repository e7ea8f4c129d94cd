/* written.c - reports reads of bytes that were never written.
 *
 * Each allocated byte has a bit, which stores, copies and fills set. A load of bytes that were
 * never written is reported if the kernel computes with them, or copies them from shared to global
 * memory, once this matters (suspects.c). Other copies are not reported, since a program may copy
 * the padding of a structure, or an unused fourth element of a float4. The destination of such a
 * copy becomes unwritten again.
 */
#include "sim/check/race.h"
#include "sim/check/suspects.h"
#include "sim/base/bits.h"
#include "sim/base/common.h"
#include "sim/exec/access_words.h"
#include "sim/exec/uses.h"

#include <stdio.h>

/* ---- Copies of unwritten bytes ----
 *
 * A warp keeps a short list of registers, each with the lanes in which it holds unwritten bytes. */

/* The entry of `reg`, added if needed; NULL: the list is full. */
static Unwritten *place_for(Warp *warp, int reg)
{
    int i = 0;

    while (i < warp->unwritten_count &&
           (warp->unwritten[i].reg != reg || warp->unwritten[i].code != warp->code))
        i++;
    if (i == MOST_UNWRITTEN)
        return NULL;
    if (i == warp->unwritten_count)
        warp->unwritten[warp->unwritten_count++] = (Unwritten){ warp->code, reg, 0 };
    return &warp->unwritten[i];
}

static uint32_t unwritten_lanes(const Warp *warp, int reg)
{
    for (int i = 0; i < warp->unwritten_count; i++)
        if (warp->unwritten[i].reg == reg && warp->unwritten[i].code == warp->code)
            return warp->unwritten[i].lanes;
    return 0;
}

static void note_unwritten(const Access *x, int element, int lane)
{
    const int reg = uses_register(x->warp->code->function, x->step->in, 0, element);
    Unwritten *place = reg < 0 ? NULL : place_for(x->warp, reg);

    if (place)
        place->lanes |= 1u << lane;
}

/* A load overwrites its registers. */
static void forget_unwritten(const Access *x)
{
    Warp *warp = x->warp;

    for (int e = 0; e < x->step->vector; e++) {
        const int reg = uses_register(warp->code->function, x->step->in, 0, e);
        for (int i = 0; i < warp->unwritten_count; i++)
            if (warp->unwritten[i].reg == reg && warp->unwritten[i].code == warp->code)
                warp->unwritten[i].lanes &= ~x->mask;
    }
}

static uint8_t *written_of(const Access *x, int lane, size_t *at)
{
    const Allocation *a = x->space == SPACE_SHARED ? NULL
                          : x->allocation          ? x->allocation
                                                   : x->of[lane];

    *at = x->address[lane] - (a ? a->base : 0);
    return a ? a->written : x->warp->block->shared_written;
}

/* Marks the destination of a copy as unwritten. */
static void pass_on_unwritten(const Access *x)
{
    const size_t size = x->step->size;

    for (int e = 0; e < x->step->vector; e++) {
        const int reg = uses_register(x->warp->code->function, x->step->in, 1, e);
        uint32_t left = reg < 0 ? 0 : unwritten_lanes(x->warp, reg) | suspects_copied(x->warp, reg);
        for (left &= x->mask; left; left &= left - 1) {
            size_t at;
            uint8_t *written = written_of(x, first_lane(left), &at);
            if (written)
                bits_fill(written, at + (size_t) e * size, size, false);
            x->warp->block->copied_unwritten |= x->space == SPACE_SHARED;
        }
    }
}

/* ---- One lane ---- */

static bool none_written(const uint8_t *written, size_t at, size_t bytes)
{
    return bits_other(written, at, bytes, false) == at + bytes;
}

/* Whether to report an element with unwritten bytes; `none`: no byte of it is written. */
static bool element_is_reported(const Access *x, int element, bool none)
{
    const int uses = uses_of(x->warp->code, x->step, element);

    if (!none)
        return uses & USE_ALL_OF_IT;
    return uses & USE_COMPUTES ||
           (uses & USE_STORES && x->space == SPACE_SHARED && !x->warp->block->copied_unwritten);
}

/* Bit i: byte i of the access is not written. */
static uint64_t missing_bytes(const Access *x, const uint8_t *written, size_t at)
{
    uint64_t missing = 0;

    for (int i = 0; i < x->bytes; i++)
        missing |= (uint64_t) !bits_all(written, at + (size_t) i, 1, true) << i;
    return missing;
}

/* The bytes of an asynchronous copy are there later, so the sentence about it is made at once. */
static bool can_wait(const Access *x, int lane, int element, uint64_t missing)
{
    const bool in_flight =
        x->space == SPACE_SHARED && async_pending(x->warp->block, x->address[lane], x->bytes);

    return !in_flight && suspects_add(x, lane, element, missing);
}

static bool load_is_reported(const Access *x, int lane, const uint8_t *written, size_t at,
                             bool again)
{
    const size_t size = x->step->size;
    bool reported = false;

    for (int e = 0; e < x->step->vector; e++) {
        const size_t from = at + (size_t) e * size;
        const bool none = none_written(written, from, size);
        if (bits_all(written, from, size, true))
            continue;
        if (element_is_reported(x, e, none))
            reported |= again || !can_wait(x, lane, e, missing_bytes(x, written, at));
        else if (none)
            note_unwritten(x, e, lane);
    }
    return reported;
}

/* Whether to report a lane that accesses unwritten bytes. `again`: such an access of this line has
 * been reported, so its values need not be followed. An atomicExch() whose result is unused only
 * writes; if it is only returned, as from the functions of nvcc -G, it may be unused. */
static bool is_reported(const Access *x, int lane, const uint8_t *written, size_t at, bool again)
{
    const Instruction *in = x->step->in;

    if (in->op == OP_ld && (size_t) x->bytes == (size_t) x->step->size * x->step->vector)
        return load_is_reported(x, lane, written, at, again);
    if (in->op == OP_atom && has_mod(in, MOD_exch))
        return uses_of(x->warp->code, x->step, 0) & ~(USE_STORES | USE_PASSES);
    return in->op != OP_cp_async || none_written(written, at, (size_t) x->bytes);
}

/* "which nothing has written yet"; "of which only the first 8 of 16 bytes have been written" */
static const char *put_which(const Access *x, uint64_t missing, const char *writer, char *text,
                             size_t size)
{
    const int count = x->bytes - __builtin_popcountll(missing);

    if (!count)
        snprintf(text, size, "which %s has written yet", writer);
    else if (!(missing & ((1ull << count) - 1)))
        snprintf(text, size, "of which only the first %d of %d bytes have been written", count,
                 x->bytes);
    else
        snprintf(text, size, "of which only %d of %d bytes have been written", count, x->bytes);
    return text;
}

/* A part of one element was written: no kernel does that, but a copy of n bytes does. */
static const char *partly(const Access *x, uint64_t missing)
{
    return x->step->vector <= 1 && __builtin_popcountll(missing) < x->bytes
               ? ": does a copy count elements where it has to count bytes?"
               : "";
}

static void report_global(const Access *x, int lane, uint64_t missing)
{
    char where[400], which[160];

    access_words(x, lane, where, sizeof where);
    warn(x->warp, x->step, lane, FINDING_UNINITIALISED, "%s %s, %s%s", access_verb(x), where,
         put_which(x, missing, "nothing", which, sizeof which), partly(x, missing));
}

static void report_shared(const Access *x, int lane, uint64_t missing)
{
    const Step *copy = async_pending(x->warp->block, x->address[lane], x->bytes);
    char where[160], which[200];

    access_words(x, lane, where, sizeof where);
    if (copy && copy->in)
        snprintf(which, sizeof which,
                 "where the cp.async of line %d is still in flight: wait for it first",
                 copy->in->line);
    else
        put_which(x, missing,
                  x->warp->block->copied_unwritten ? "no thread (or only copies of unwritten data)"
                                                   : "no thread",
                  which, sizeof which);
    warn(x->warp, x->step, lane, FINDING_UNINITIALISED, "%s %s, %s", access_verb(x), where, which);
}

void written_report(const Access *x, int lane, uint64_t missing)
{
    if (x->space == SPACE_SHARED)
        report_shared(x, lane, missing);
    else
        report_global(x, lane, missing);
}

/* Adds to the count of the finding of this line. False: there is none yet. */
static bool count_again(const Access *x, uint64_t more)
{
    const Place place = lane_place(x->warp, x->step, first_lane(x->mask));

    return finding_more(FINDING_UNINITIALISED, &place, more);
}

/* Only the first lane that reads unwritten bytes is reported. All lanes that load them are
 * followed, also if they load the same, until the first report of this line. */
static void check_lanes(Access *x, bool mark, bool ask)
{
    const uint32_t lanes = x->kind == ACCESS_LOAD ? UINT32_MAX : shape_leaders(x->shape);
    const bool again = ask && count_again(x, 0);
    bool reported = false;

    for (uint32_t left = lanes & x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        size_t at;
        uint8_t *written = written_of(x, lane, &at);
        if (written && ask && !bits_all(written, at, (size_t) x->bytes, true) &&
            is_reported(x, lane, written, at, again) && !reported) {
            reported = true;
            if (!again)
                written_report(x, lane, missing_bytes(x, written, at));
        }
        if (written && mark)
            bits_fill(written, at, (size_t) x->bytes, true);
    }
    if (again && reported)
        count_again(x, 1);
}

/* Whether all bytes between the lanes' lowest and highest address are written, if they are few. */
static bool is_around_written(const Access *x, const uint8_t *written)
{
    enum { FEW = 2048 };
    const Shape *s = x->shape;
    const int64_t span = s->high - s->low + x->bytes;
    size_t at;

    if (!written || span > FEW)
        return false;
    written_of(x, first_lane(x->mask), &at);
    return bits_all(written, at - (size_t) -s->low, (size_t) span, true);
}

static void check_and_mark(Access *x, uint8_t *written, bool ask, bool mark)
{
    const size_t bytes = (size_t) x->bytes * LANES;
    size_t at;

    if (!x->linear) {
        if (!is_around_written(x, written))
            check_lanes(x, mark, ask);
        return;
    }
    at = x->address[0] - (x->space == SPACE_SHARED ? 0 : x->allocation->base);
    if (ask && !bits_all(written, at, bytes, true))
        check_lanes(x, mark, ask);
    else if (mark)
        bits_fill(written, at, bytes, true);
}

void access_check_written(Access *x)
{
    const Launch *launch = x->warp->block->launch;
    bool shared = x->space == SPACE_SHARED;
    uint8_t *written = shared          ? x->warp->block->shared_written
                       : x->allocation ? x->allocation->written
                                       : NULL;
    bool ask = (shared ? written != NULL : launch->check_uninitialised) && x->kind != ACCESS_STORE;
    bool mark = x->kind != ACCESS_LOAD;

    if (!written && (shared || x->allocation))
        return;
    if (!ask && !mark)
        return;
    if (x->kind == ACCESS_LOAD && x->warp->unwritten_count)
        forget_unwritten(x);
    check_and_mark(x, written, ask, mark);
    if (x->kind == ACCESS_STORE && (x->warp->unwritten_count || x->warp->followed))
        pass_on_unwritten(x);
}

/* ---- Copies ---- */

/* The allocation, if it contains all of the bytes and its writes are tracked. */
static Allocation *watched(uint64_t address, size_t bytes)
{
    Allocation *a = memory_find(address);

    return a && a->written && bytes <= a->bytes - (address - a->base) ? a : NULL;
}

void memory_copy_written(uint64_t to, uint64_t from, size_t bytes)
{
    Allocation *target = watched(to, bytes);
    const Allocation *source = watched(from, bytes);

    if (!target || !source)
        return;
    const size_t to_at = to - target->base, from_at = from - source->base;
    for (size_t at = 0, same; at < bytes; at += same) {
        const bool written = bits_all(source->written, from_at + at, 1, true);
        same = bits_other(source->written, from_at + at, bytes - at, written) - from_at - at;
        bits_fill(target->written, to_at + at, same, written);
    }
}
