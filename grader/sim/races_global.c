/* races_global.c - races between the blocks of a launch for global memory. How they are found:
 * races.c. */
#include "races.h"

#include <stdlib.h>

typedef struct Segment {
    uint32_t block;
    uint32_t released; /* the how-manieth hand-over ended it; 0: none yet */
} Segment;

static struct {
    uint32_t first_segment; /* of this launch; earlier ones are old */
    Segment *segments;      /* from first_segment on */
    uint32_t count, room;
    uint32_t releases;
} state = { .first_segment = 1 };

/* ---- Segments ---- */

static void forget_cells(const Allocation *a, void *self)
{
    (void) self;
    free(a->races);
    ((Allocation *) a)->races = NULL;
}

void races_new_segments(void)
{
    free(state.segments);
    state.segments = NULL;
    state.first_segment += state.count;
    state.count = state.room = state.releases = 0;
    if (state.first_segment > OLDEST_TO_KEEP) {
        memory_each(forget_cells, NULL);
        state.first_segment = 1;
    }
}

static uint32_t new_segment(const Block *block)
{
    if (state.count == state.room) {
        uint32_t room = state.room ? 2 * state.room : 1024;
        Segment *segments = realloc(state.segments, room * sizeof *segments);
        if (!segments)
            return 0;
        state.segments = segments;
        state.room = room;
    }
    state.segments[state.count] = (Segment){ .block = (uint32_t) block->number };
    return state.first_segment + state.count++;
}

static const Segment *segment_of(const Slot *slot)
{
    uint32_t at = slot->when - state.first_segment;

    return at < state.count ? &state.segments[at] : NULL;
}

/* Strong writes after a fence hand over; strong accesses of any kind take over. */
static void synchronise(Access *x, BlockRaces *r)
{
    r->fenced |= x->release;
    if (x->kind != ACCESS_LOAD && r->fenced) {
        state.segments[r->segment - state.first_segment].released = ++state.releases;
        r->segment = new_segment(x->warp->block);
        r->fenced = false;
    }
    if (x->kind != ACCESS_STORE)
        r->acquired = state.releases;
}

/* ---- Visits ---- */

static void meet_global(Visit *v, const Slot *slot, bool wrote, int lane)
{
    const Segment *segment = segment_of(slot);
    bool mine = segment && segment->block == (uint32_t) v->x->warp->block->number, somebody;

    if (!segment || v->met || (v->x->strong && slot->who & WHO_ATOMIC))
        return;
    somebody = mine && slot->who & WHO_OTHERS && !state.releases;
    if (mine && !somebody)
        return;
    if (segment->released && segment->released <= v->r->acquired)
        return;
    v->met = true;
    v->meeting = (Meeting){ .lane = lane,
                            .other_wrote = wrote,
                            .somebody = somebody,
                            .slot = *slot,
                            .block = segment->block };
}

/* The first block's read stays; a plain one rather than a strong one. */
static void join_global(Visit *v, Slot *slot, int lane)
{
    const Segment *segment = segment_of(slot);
    uint16_t who = (uint16_t) (v->warp * LANES + lane), strong = v->x->strong ? WHO_ATOMIC : 0;
    bool ordered = segment && segment->released && segment->released <= v->r->acquired;

    if (!segment || ordered || (slot->who & WHO_ATOMIC && !strong))
        *slot = (Slot){ v->r->segment, who | strong, v->site };
    else if (segment->block != (uint32_t) v->x->warp->block->number)
        slot->who |= WHO_OTHERS;
}

static __attribute__((noinline)) void visit_global(Visit *v, Cell *cell, int lane)
{
    uint16_t strong = v->x->strong ? WHO_ATOMIC : 0;

    meet_global(v, &cell->write, true, lane);
    if (v->x->kind == ACCESS_LOAD) {
        join_global(v, &cell->read, lane);
        return;
    }
    meet_global(v, &cell->read, false, lane);
    if (strong && cell->write.who & WHO_ATOMIC)
        join_global(v, &cell->write, lane);
    else
        cell->write =
            (Slot){ v->r->segment, (uint16_t) (v->warp * LANES + lane) | strong, v->site };
}

/* Of this block, or of nobody in this launch. */
static inline bool is_mine_or_old(const Slot *slot, uint32_t mine)
{
    return slot->when == mine || slot->when - state.first_segment >= state.count;
}

/* False: one must look closer. */
static inline bool visit_global_quickly(const Visit *v, Cell *cell, uint32_t who)
{
    uint32_t mine = v->r->segment;

    if (!is_mine_or_old(&cell->write, mine) || (cell->write.who & WHO_ATOMIC) || v->x->strong)
        return false;
    if (v->x->kind == ACCESS_LOAD) {
        if (cell->read.when == mine && !(cell->read.who & WHO_ATOMIC))
            return true;
        if (cell->read.when - state.first_segment < state.count)
            return false;
        cell->read = (Slot){ mine, (uint16_t) who, v->site };
        return true;
    }
    if (!is_mine_or_old(&cell->read, mine) || cell->read.who & WHO_OTHERS)
        return false;
    cell->write = (Slot){ mine, (uint16_t) who, v->site };
    return true;
}

static void visit_global_lane(Visit *v, Allocation *a, int lane)
{
    if (v->allocation != a) {
        v->allocation = a;
        v->cells = races_cells((Cells **) &a->races, a->bytes, v->x->bytes);
    }
    Cells *cells = v->cells;
    uint64_t first = v->x->address[lane] - a->base;
    uint32_t who = (uint32_t) (v->warp * LANES + lane);

    if (!cells)
        return;
    for (size_t at = first >> cells->log2_grain;
         at <= (first + (uint64_t) v->x->bytes - 1) >> cells->log2_grain; at++)
        if (!visit_global_quickly(v, &cells->cell[at], who))
            visit_global(v, &cells->cell[at], lane);
}

void races_global(Access *x)
{
    BlockRaces *r = races_of(x->warp->block);

    if (!r || x->warp->number >= WARPS_A_BLOCK)
        return;
    if (!segment_of(&(Slot){ .when = r->segment }) && !(r->segment = new_segment(x->warp->block)))
        return;
    if (x->strong)
        synchronise(x, r);
    if (!r->segment)
        return;
    Visit v = { .x = x, .r = r, .warp = x->warp->number, .site = (uint16_t) races_site(x->step) };
    v.met = races_at_once(x, &v.meeting);
    for (uint32_t left = x->shape->leaders & x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        visit_global_lane(&v, x->allocation ? x->allocation : x->of[lane], lane);
    }
    if (v.met)
        race_tell_global(x, &v.meeting);
}
