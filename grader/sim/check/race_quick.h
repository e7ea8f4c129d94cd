/* race_quick.h - the fast path: nearly all accesses are to words that no thread, or only the
 * same thread, has used since the last barrier. For plain loads and stores; false: call
 * race_visit(). Inlined, since these functions run for each lane. */
#ifndef SIM_CHECK_RACE_QUICK_H
#define SIM_CHECK_RACE_QUICK_H

#include "sim/check/race.h"

/* The slot belongs to this thread alone. */
static inline bool race_is_own(const Visit *v, Slot slot, uint32_t who)
{
    return slot.when > v->mine && (slot.tag & WHO) == who;
}

static inline bool race_store_quickly(const Visit *v, RaceWord *word, uint32_t who,
                                      uint32_t followed)
{
    if (word->write.when > v->old && !race_is_own(v, word->write, who))
        return false;
    if (word->read.when > v->old && !race_is_own(v, word->read, who))
        return false;
    word->write = (Slot){ v->now, who | followed | v->site };
    return true;
}

/* The slot of the first reader, when `who` is another reader. */
static inline bool race_join_quickly(const Visit *v, Slot *read, uint32_t who, uint32_t followed)
{
    if (read->when <= v->old) {
        *read = (Slot){ v->now, who | followed | v->site };
        return true;
    }
    if (read->tag & WHO_STRONG || read->when <= v->r->full)
        return false;
    if (read->when <= v->mine)
        return read->tag & WHO_BLOCKS && !race_handed_over(false);
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
    if (v->r->parts)
        return false;
    read->tag |= WHO_OTHERS;
    return true;
}

static inline bool race_load_quickly(const Visit *v, RaceWord *word, uint32_t who,
                                     uint32_t followed)
{
    if (word->write.when > v->old && (followed || !race_is_own(v, word->write, who)))
        return false;
    return race_join_quickly(v, &word->read, who, followed);
}

/* Any access of one lane to one word. */
static inline void race_touch(Visit *v, RaceWord *word, int lane, uint64_t at)
{
    const uint32_t who = (uint32_t) (v->warp * LANES + lane);
    const uint32_t followed = v->x->shape->followed >> lane & 1 ? WHO_SAME_WARP : 0;

    if (!v->strong && v->x->kind == ACCESS_STORE && race_store_quickly(v, word, who, followed))
        return;
    if (!v->strong && v->x->kind == ACCESS_LOAD && race_load_quickly(v, word, who, followed))
        return;
    race_visit(v, word, lane, at);
}

#endif
