/* race_defer.c - loads of shared memory that are recorded only if somebody stores.
 *
 * After a barrier of the whole block, plain loads cannot race until a thread stores. Often the next
 * event is another barrier, after which the loads do not matter. So they are only noted, and are
 * recorded in the order in which they were made before anything that they may race with, or that
 * changes which accesses are ordered. */
#include "sim/check/race.h"
#include "sim/exec/repeats.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEFERRED = 1024, RECENT = 64 };

typedef struct DeferredLoad {
    Warp *warp;
    const Step *step;
    uint32_t mask, now, site;
    uint32_t first; /* the first lane's address */
    uint16_t pattern;
    uint8_t bytes;
} DeferredLoad;

/* Loads mostly repeat the patterns of their steps, so a few patterns take up little of the cache.
 */
struct DeferredLoads {
    DeferredLoad load[MOST_DEFERRED];
    uint32_t pattern[MOST_DEFERRED][LANES]; /* addresses, from the first lane's */
    uint64_t deltas[MOST_DEFERRED];         /* by pattern: of the Shape */
    int patterns;
    int recent[RECENT]; /* by the step's number: its last pattern, or an older one's place */
};

static uint16_t find_pattern(DeferredLoads *d, const Step *step, const Shape *s)
{
    int *recent = &d->recent[step->number % RECENT];

    if (*recent >= d->patterns || d->deltas[*recent] != s->deltas) {
        *recent = d->patterns++;
        d->deltas[*recent] = s->deltas;
        memcpy(d->pattern[*recent], s->narrow, sizeof s->narrow);
    }
    return (uint16_t) *recent;
}

bool race_defer(const Visit *v, Warp *warp, const Step *step, const Shape *s, uint32_t first)
{
    BlockRaces *r = v->r;

    if (s->kind != ACCESS_LOAD || v->strong || r->records_loads ||
        r->deferred_count == MOST_DEFERRED)
        return false;
    if (!r->deferred && !(r->deferred = calloc(1, sizeof *r->deferred)))
        return false;
    if (!r->deferred_count)
        r->deferred->patterns = 0;
    r->deferred->load[r->deferred_count++] = (DeferredLoad){
        warp, step, s->mask, v->now, v->site, first, find_pattern(r->deferred, step, s), s->bytes
    };
    return true;
}

/* The table of shapes is left as it was, since the current access uses it. */
static void record(BlockRaces *r, const DeferredLoad *load)
{
    const uint32_t *pattern = r->deferred->pattern[load->pattern];
    Shape *entry = shape_last_of(load->step, SPACE_SHARED, load->mask);
    repeats_end(entry);
    const Shape kept = *entry;
    Access x = { .warp = load->warp,
                 .step = load->step,
                 .mask = load->mask,
                 .space = SPACE_SHARED,
                 .kind = ACCESS_LOAD,
                 .bytes = load->bytes };

    for (int i = 0; i < LANES; i++)
        x.address[i] = load->first + pattern[i];
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
        record(r, &r->deferred->load[i]);
}
