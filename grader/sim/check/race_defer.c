/* race_defer.c - loads of shared memory that are recorded only if somebody stores.
 *
 * After a barrier of the whole block, plain loads cannot race until a thread stores. Often the next
 * event is another barrier, after which the loads do not matter. So they are only noted, and are
 * recorded in the order in which they were made before anything that they may race with, or that
 * changes which accesses are ordered. */
#include "sim/check/race.h"

#include <stdlib.h>

enum { MOST_DEFERRED = 1024 };

struct DeferredLoad {
    Warp *warp;
    const Step *step;
    uint32_t mask, now, site;
    int bytes;
    uint32_t address[LANES];
};

bool race_defer(const Visit *v)
{
    const Access *x = v->x;
    BlockRaces *r = v->r;

    if (x->kind != ACCESS_LOAD || v->strong || r->records_loads ||
        r->deferred_count == MOST_DEFERRED)
        return false;
    if (!r->deferred && !(r->deferred = malloc(MOST_DEFERRED * sizeof *r->deferred)))
        return false;
    DeferredLoad *load = &r->deferred[r->deferred_count++];
    load->warp = x->warp;
    load->step = x->step;
    load->mask = x->mask;
    load->now = v->now;
    load->site = v->site;
    load->bytes = x->bytes;
    for (int i = 0; i < LANES; i++)
        load->address[i] = (uint32_t) x->address[i];
    return true;
}

/* The table of shapes is left as it was, since the current access uses it. */
static void record(BlockRaces *r, const DeferredLoad *load)
{
    Shape *entry = shape_last(load->step, SPACE_SHARED);
    const Shape kept = *entry;
    Access x = { .warp = load->warp,
                 .step = load->step,
                 .mask = load->mask,
                 .space = SPACE_SHARED,
                 .kind = ACCESS_LOAD,
                 .bytes = load->bytes };

    for (int i = 0; i < LANES; i++)
        x.address[i] = load->address[i];
    x.shape = shape_of(x.step, x.space, x.kind, x.mask, x.bytes, x.address);
    x.linear = x.shape->linear;
    x.uniform = x.shape->uniform;
    race_shared_words(&(Visit){
        .x = &x, .r = r, .warp = load->warp->number, .now = load->now, .site = load->site });
    *entry = kept;
}

void race_record_deferred(BlockRaces *r)
{
    const int count = r->deferred_count;

    r->records_loads = true;
    r->deferred_count = 0;
    for (int i = 0; i < count; i++)
        record(r, &r->deferred[i]);
}
