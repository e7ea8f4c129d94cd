/* race_quick.h - the fast paths of the race checker, for plain loads and stores, and for atomics on
 * shared memory. Nearly all plain ones access words that no other thread has accessed since the
 * last barrier. A function that returns false leaves the access to race_visit(). All are inlined,
 * since they run for each lane. */
#ifndef SIM_CHECK_RACE_QUICK_H
#define SIM_CHECK_RACE_QUICK_H

#include "sim/check/race.h"

/* The slot belongs to this thread alone. */
static inline bool race_is_own(const Visit *v, Slot slot, uint32_t who)
{
    return slot.when > v->before_block && (slot.tag & WHO) == who;
}

static inline bool race_store_quickly(const Visit *v, RaceWord *word, uint32_t who,
                                      uint32_t followed)
{
    if (word->write.when > v->ordered_until && !race_is_own(v, word->write, who))
        return false;
    if (word->read.when > v->ordered_until && !race_is_own(v, word->read, who))
        return false;
    word->write = (Slot){ v->now, who | followed | v->site };
    return true;
}

/* Records `who` as a reader: in an empty slot, or by a flag in the slot of an earlier reader. */
static inline bool race_join_quickly(const Visit *v, Slot *read, uint32_t who, uint32_t followed)
{
    if (read->when <= v->ordered_until) {
        *read = (Slot){ v->now, who | followed | v->site };
        return true;
    }
    if (read->tag & WHO_STRONG)
        return false;
    if (read->when <= v->before_block) {
        read->tag |= v->all_foreign ? WHO_BLOCKS : 0;
        return v->all_foreign;
    }
    if (read->when <= v->r->last_barrier)
        return false;
    if (!((read->tag ^ who) & (WHO_THREAD | WHO_SHIFT))) {
        if (read->when != v->now)
            return false;
        read->tag |= followed;
        return true;
    }
    if (!((read->tag ^ who) & (WHO_THREAD & ~(LANES - 1)))) {
        if (read->when != v->now)
            return false;
        read->tag |= WHO_SAME_WARP;
        return true;
    }
    if (v->r->partial_sync)
        return false;
    read->tag |= WHO_OTHERS;
    return true;
}

static inline bool race_load_quickly(const Visit *v, RaceWord *word, uint32_t who,
                                     uint32_t followed)
{
    if (word->write.when > v->ordered_until && (followed || !race_is_own(v, word->write, who)))
        return false;
    return race_join_quickly(v, &word->read, who, followed);
}

/* An atomic whose result is not used, on shared memory that no thread has read since the barrier:
 * joins atomics of other threads, none of which happens before it. */
static inline bool race_update_quickly(const Visit *v, RaceWord *word, uint32_t who,
                                       uint32_t followed)
{
    const uint32_t thread = word->write.tag & WHO_THREAD;

    if (word->read.when > v->ordered_until)
        return false;
    if (word->write.when <= v->ordered_until) {
        word->write = (Slot){ v->now, who | followed | WHO_STRONG | v->site };
        return true;
    }
    if (!(word->write.tag & WHO_STRONG) || thread == who ||
        word->write.when <= v->r->seen[v->warp][thread / LANES])
        return false;
    word->write.tag |= thread / LANES == who / LANES ? WHO_SAME_WARP : WHO_OTHERS;
    return true;
}

/* race_visit() of a copy, so that the caller's word can stay in registers: a Slot that is written
 * to memory by halves and read as a whole would stall the processor. */
static inline void race_visit_copy(Visit *v, RaceWord *word, int lane, uint64_t at)
{
    RaceWord copy = *word;

    race_visit(v, &copy, lane, at);
    *word = copy;
}

/* Any access of one lane to one word. */
static inline void race_touch(Visit *v, RaceWord *word, int lane, uint64_t at)
{
    const uint32_t who = (uint32_t) (v->warp * LANES + lane);
    const uint32_t followed = shape_followed(v->x->shape) >> lane & 1 ? WHO_SAME_WARP : 0;

    if (!v->strong && v->x->kind == ACCESS_STORE && race_store_quickly(v, word, who, followed))
        return;
    if (!v->strong && v->x->kind == ACCESS_LOAD && race_load_quickly(v, word, who, followed))
        return;
    if (v->strong && v->x->kind == ACCESS_ATOMIC && !v->is_global && !v->observes &&
        race_update_quickly(v, word, who, followed))
        return;
    race_visit_copy(v, word, lane, at);
}

#endif
