/* races_shared.c - races between the threads of a block for its shared memory. How they are found:
 * races.c. */
#include "races.h"

static bool is_over(const Visit *v, const Slot *slot)
{
    return slot->when <= v->r->seen[v->warp][(slot->who & WHO_THREAD) / LANES];
}

/* Whether the lane, or one at the same address, meets the slot's access. */
static void meet_shared(Visit *v, const Slot *slot, bool wrote, int leader)
{
    int thread = v->warp * LANES + leader, other = slot->who & WHO_THREAD, lane = leader;
    bool followed = v->x->shape->followed >> leader & 1, somebody = false;

    if (slot->when <= v->r->full || v->met)
        return;
    if (other == thread && followed)
        lane = races_follower(v->x, leader);
    if (is_over(v, slot) || other == v->warp * LANES + lane) {
        somebody = !v->r->parts && slot->who & WHO_OTHERS;
        somebody |= slot->who & WHO_SAME_WARP && other / LANES == v->warp &&
                    slot->when == v->r->now[v->warp];
        if (!somebody)
            return;
    }
    v->met = true;
    v->meeting = (Meeting){ .lane = lane, .other_wrote = wrote, .somebody = somebody };
    v->meeting.slot = *slot;
    v->meeting.one_warp = other / LANES == v->warp && !(somebody && slot->who & WHO_OTHERS);
}

/* One slot for many: the first of those that nothing orders stays, with a note that there are more.
 */
static void join(Visit *v, Slot *slot, int leader, uint16_t flags)
{
    int thread = v->warp * LANES + leader, other = slot->who & WHO_THREAD;
    bool followed = v->x->shape->followed >> leader & 1;
    uint16_t others = slot->when > v->r->full ? slot->who & WHO_OTHERS : 0;

    if (slot->when > v->r->full && !is_over(v, slot) && other != thread) {
        slot->who |= other / LANES == v->warp ? WHO_SAME_WARP : WHO_OTHERS;
        return;
    }
    if (slot->when == v->r->now[v->warp] && other == thread) {
        slot->who |= followed ? WHO_SAME_WARP : 0;
        return;
    }
    *slot = (Slot){ v->r->now[v->warp], (uint16_t) (thread | flags | others), v->site };
    slot->who |= followed ? WHO_SAME_WARP : 0;
}

static __attribute__((noinline)) void visit_shared(Visit *v, Cell *cell, int leader)
{
    AccessKind kind = v->x->kind;

    if (kind != ACCESS_ATOMIC || !(cell->write.who & WHO_ATOMIC))
        meet_shared(v, &cell->write, true, leader);
    if (kind != ACCESS_LOAD)
        meet_shared(v, &cell->read, false, leader);
    if (kind == ACCESS_LOAD) {
        join(v, &cell->read, leader, 0);
    } else if (kind == ACCESS_ATOMIC && cell->write.who & WHO_ATOMIC) {
        join(v, &cell->write, leader, WHO_ATOMIC);
    } else {
        uint16_t who = (uint16_t) (v->warp * LANES + leader);
        uint16_t atomic = kind == ACCESS_ATOMIC ? WHO_ATOMIC : 0;
        cell->write = (Slot){ v->r->now[v->warp], who | atomic, v->site };
        if (atomic && v->x->shape->followed >> leader & 1)
            cell->write.who |= WHO_SAME_WARP;
    }
}

/* Nearly all accesses are to words that nobody has used since the last barrier, or the thread
 * itself. False: one must look closer. */
static inline bool visit_shared_quickly(const Visit *v, Cell *cell, uint32_t who, uint32_t full,
                                        uint32_t now)
{
    bool new_write = cell->write.when <= full, new_read = cell->read.when <= full;

    if (v->x->kind == ACCESS_STORE) {
        if (!(new_write || cell->write.who == who) || !(new_read || cell->read.who == who))
            return false;
        cell->write = (Slot){ now, (uint16_t) who, v->site };
        return true;
    }
    if (!(new_write || (cell->write.who == who && !(who & WHO_SAME_WARP))))
        return false;
    if (new_read)
        cell->read = (Slot){ now, (uint16_t) who, v->site };
    else if (cell->read.when != now || (cell->read.who & ~WHO_SAME_WARP) != (who & WHO_THREAD))
        return false;
    else
        cell->read.who |= (uint16_t) who;
    return true;
}

static void visit_shared_lane(Visit *v, Cells *cells, int lane)
{
    const Access *x = v->x;
    size_t begin = x->address[lane] >> cells->log2_grain;
    size_t end = (x->address[lane] + (uint64_t) x->bytes - 1) >> cells->log2_grain;
    uint32_t full = v->r->full, now = v->r->now[v->warp];
    uint32_t who = (uint32_t) (v->warp * LANES + lane);

    if (x->shape->followed >> lane & 1)
        who |= WHO_SAME_WARP;
    for (size_t at = begin; at <= end; at++)
        if (x->kind == ACCESS_ATOMIC || !visit_shared_quickly(v, &cells->cell[at], who, full, now))
            visit_shared(v, &cells->cell[at], lane);
}

void races_shared(Access *x)
{
    Block *block = x->warp->block;
    BlockRaces *r = races_of(block);
    Cells *cells = r ? races_cells(&r->cells, block->shared_bytes, x->bytes) : NULL;

    if (!cells || x->warp->number >= WARPS_A_BLOCK)
        return;
    Visit v = { .x = x, .r = r, .warp = x->warp->number, .site = (uint16_t) races_site(x->step) };
    v.met = races_at_once(x, &v.meeting);
    for (uint32_t left = x->shape->leaders & x->mask; left; left &= left - 1)
        visit_shared_lane(&v, cells, first_lane(left));
    if (v.met)
        race_tell_shared(x, &v.meeting);
}
