/* race_rules.c - decides whether two accesses to one word race.
 *
 * Two accesses of different threads race if at least one writes, neither happens before the other
 * (race_order.c), and they are not both strong (atomic, volatile, relaxed, acquire, release). Two
 * writes of the same value do not race: their order does not matter, and threads often set a flag
 * this way.
 *
 * Volatile accesses to shared memory count as strong only in blocks that have executed a fence: a
 * release needs one, and volatile alone, as used before Volta, orders nothing. Between lanes of one
 * warp they never count as strong.
 */
#include "sim/check/race.h"

#include <string.h>

/* ---- Two strong accesses ---- */

static bool is_volatile(const Visit *v)
{
    return v->x->kind != ACCESS_ATOMIC && has_mod(v->x->step->in, MOD_volatile);
}

static bool both_strong(const Visit *v, Slot slot)
{
    if (!v->strong || !(slot.tag & WHO_STRONG))
        return false;
    if (v->is_global || !is_volatile(v))
        return true;
    return v->r->ever_fenced && (int) (slot.tag & WHO_THREAD) / LANES != v->warp;
}

/* ---- Writes of the same value ---- */

/* Whether the lane writes the value that the word already holds. */
static bool same_value(const Visit *v, int lane, uint64_t at)
{
    const Access *x = v->x;
    uint8_t value[MOST_LANE_BYTES];
    size_t skip = at > x->address[lane] ? (size_t) (at - x->address[lane]) : 0;
    size_t bytes = (size_t) x->bytes - skip, word = (size_t) 1 << v->log2_grain;

    if (x->kind != ACCESS_STORE || !x->value)
        return false;
    x->value(x, lane, value);
    return !memcmp(value + skip, x->host + (ptrdiff_t) x->delta[lane] + skip,
                   bytes < word ? bytes : word);
}

/* The next lane with the leader's address, or the leader if there is none. */
static int follower(const Access *x, int leader)
{
    for (uint32_t left = x->mask & ~(1u << leader); left; left &= left - 1)
        if (x->shape->delta[first_lane(left)] == x->shape->delta[leader])
            return first_lane(left);
    return leader;
}

/* A lane that writes another value to the leader's address, or the leader if there is none. */
static int conflicting_lane(const Access *x, int leader)
{
    uint8_t first[MOST_LANE_BYTES], other[MOST_LANE_BYTES];

    if (!x->value)
        return follower(x, leader);
    x->value(x, leader, first);
    for (uint32_t left = x->mask & ~(1u << leader); left; left &= left - 1) {
        int lane = first_lane(left);
        if (x->shape->delta[lane] != x->shape->delta[leader])
            continue;
        x->value(x, lane, other);
        if (memcmp(first, other, (size_t) x->bytes))
            return lane;
    }
    return leader;
}

bool race_in_instruction(Visit *v)
{
    const Access *x = v->x;

    for (uint32_t left = shape_followed(x->shape) & x->mask; left; left &= left - 1) {
        int lane = first_lane(left), other = conflicting_lane(x, lane);
        if (other == lane)
            continue;
        v->conflict = (Conflict){ .lane = lane, .other_lane = other, .block = -1 };
        v->conflict.one_instruction = v->conflict.one_warp = v->conflict.other_wrote = true;
        return v->raced = true;
    }
    return false;
}

/* ---- Comparing an access with a slot ---- */

static bool happens_before(const Visit *v, Slot slot)
{
    return slot.when <= v->r->last_barrier ||
           slot.when <= v->r->seen[v->warp][(slot.tag & WHO_THREAD) / LANES];
}

static void record_conflict(Visit *v, Slot slot, bool wrote, int lane, uint64_t at,
                            Conflict conflict)
{
    if (wrote && same_value(v, lane, at)) {
        v->same = true;
        return;
    }
    if (v->raced && (conflict.one_warp || conflict.block >= 0))
        return;
    conflict.lane = lane;
    conflict.other_wrote = wrote;
    conflict.slot = slot;
    v->conflict = conflict;
    v->raced = true;
}

/* Whether the slot stands for atomics: other threads may have changed the value, too. */
static bool is_update(Slot slot)
{
    const Step *step = race_step(slot_site(slot));

    return slot.tag & WHO_STRONG &&
           (!step || !step->in || step->in->op == OP_atom || step->in->op == OP_red);
}

/* Whether the slot also stands for other threads whose accesses do not happen before this one. */
static bool has_others(const Visit *v, Slot slot, bool wrote)
{
    int warp = (slot.tag & WHO_THREAD) / LANES;

    if (slot.tag & WHO_OTHERS && slot.when > v->r->last_barrier && !v->r->partial_sync)
        return true;
    return slot.tag & WHO_SAME_WARP && warp == v->warp && slot.when == v->now &&
           (!wrote || is_update(slot));
}

/* Whether the thread reads back its own write. Unrecorded threads wrote the same value as the
 * slot's thread, so they may read it back, too; so may all lanes of a warp that stored together. */
static bool reads_own(const Visit *v, Slot slot, bool wrote, int lane)
{
    int other = slot.tag & WHO_THREAD;

    if (!wrote || v->x->kind != ACCESS_LOAD || is_update(slot))
        return false;
    return other == v->warp * LANES + lane ||
           (slot.tag & WHO_SAME_WARP && other / LANES == v->warp && slot.when == v->now);
}

/* Whether the slot holds an atomic of this warp whose result is used. Atomics on one word have a
 * total order (coherence), so this warp's later accesses come after all earlier atomics on it. */
static bool has_observed(const Visit *v, Slot slot)
{
    return (int) (slot.tag & WHO_THREAD) / LANES == v->warp && slot.tag & WHO_STRONG &&
           race_observed(slot_site(slot));
}

static void check_in_block(Visit *v, Slot slot, bool wrote, int leader, uint64_t at)
{
    int other = slot.tag & WHO_THREAD, lane = leader;
    Conflict conflict = { .block = -1, .one_warp = other / LANES == v->warp };

    if (other == v->warp * LANES + leader && shape_followed(v->x->shape) >> leader & 1)
        lane = follower(v->x, leader);
    if (reads_own(v, slot, wrote, lane) || has_observed(v, slot))
        return;
    if (happens_before(v, slot) || other == v->warp * LANES + lane) {
        conflict.unrecorded = true;
        conflict.one_warp &= !(slot.tag & WHO_OTHERS);
        if (!has_others(v, slot, wrote)) {
            if (!(slot.tag & WHO_BLOCKS) || race_handed_over(wrote))
                return;
            conflict.block = SOMEWHERE;
        }
    }
    record_conflict(v, slot, wrote, lane, at, conflict);
}

/* A race between warps is the clearer one: only __syncthreads() prevents it. */
static bool has_clear_race(const Visit *v)
{
    return v->raced && (!v->conflict.one_warp || v->conflict.one_instruction);
}

/* Whether nothing has to be checked. */
static inline bool is_clear(const Visit *v, Slot slot)
{
    return slot.when <= v->ordered_until || has_clear_race(v) || both_strong(v, slot);
}

/* Checks whether the leader, or another lane with its address, races with the slot's access. */
static void check_slot(Visit *v, Slot slot, bool wrote, int leader, uint64_t at)
{
    bool ordered = false;
    const int64_t block = v->is_global ? race_foreign(v, slot.when, wrote, &ordered) : -1;

    if (block < 0)
        check_in_block(v, slot, wrote, leader, at);
    else if (!ordered)
        record_conflict(v, slot, wrote, leader, at, (Conflict){ .block = block });
}

/* ---- Recording ---- */

static Slot slot_for(const Visit *v, int leader, uint32_t flags)
{
    uint32_t thread = (uint32_t) (v->warp * LANES + leader);

    return (Slot){ v->now, thread | flags | (v->strong ? WHO_STRONG : 0) | v->site };
}

/* One slot stands for many accesses that do not race with each other. Of unordered accesses it
 * keeps the first, and flags that there are others; it prefers a plain access to a strong one. */
static Slot join(const Visit *v, Slot slot, bool wrote, int leader, uint32_t flags)
{
    uint32_t thread = (uint32_t) (v->warp * LANES + leader), other = slot.tag & WHO_THREAD;
    bool slot_strong = slot.tag & WHO_STRONG, ordered = false;
    Slot own = slot_for(v, leader, flags);

    if (slot.when <= v->ordered_until || (slot_strong && !v->strong))
        return own;
    if (v->is_global && race_foreign(v, slot.when, wrote, &ordered) >= 0) {
        if (ordered)
            return own;
        slot.tag |= slot_strong == v->strong ? WHO_BLOCKS : 0;
        return slot;
    }
    own.tag |= slot.tag & WHO_BLOCKS;
    if (slot.when <= v->r->last_barrier)
        return own;
    if (slot_strong == v->strong && !happens_before(v, slot) && other != thread)
        own = (Slot){ slot.when,
                      slot.tag | (other / LANES == thread / LANES ? WHO_SAME_WARP : WHO_OTHERS) };
    else if (slot_strong != v->strong && !happens_before(v, slot))
        own = slot;
    else if (slot.when == v->now && other == thread)
        own = (Slot){ slot.when, slot.tag | flags };
    else
        own.tag |= slot.tag & WHO_OTHERS;
    return own;
}

/* Several writes of the same value: the slot keeps the last, whose thread may read it back. */
static Slot write_same(const Visit *v, Slot slot, int leader, uint32_t flags)
{
    const bool other_block = v->is_global && slot.when <= v->before_block;
    const bool other_warp = (int) (slot.tag & WHO_THREAD) / LANES != v->warp;
    Slot own = slot_for(v, leader, flags);

    own.tag |= slot.tag & (WHO_OTHERS | WHO_BLOCKS);
    own.tag |= other_block ? WHO_BLOCKS : other_warp ? WHO_OTHERS : 0;
    return own;
}

void race_visit(Visit *v, RaceWord *word, int leader, uint64_t at)
{
    const uint32_t followed = shape_followed(v->x->shape) >> leader & 1 ? WHO_SAME_WARP : 0;

    v->same = false;
    if (!is_clear(v, word->write))
        check_slot(v, word->write, true, leader, at);
    if (v->x->kind == ACCESS_LOAD) {
        word->read = join(v, word->read, false, leader, followed);
        return;
    }
    if (!is_clear(v, word->read))
        check_slot(v, word->read, false, leader, at);
    if (v->same)
        word->write = write_same(v, word->write, leader, followed);
    else if (v->strong && word->write.tag & WHO_STRONG && !v->observes)
        word->write = join(v, word->write, true, leader, followed);
    else
        word->write = slot_for(v, leader, followed);
}
