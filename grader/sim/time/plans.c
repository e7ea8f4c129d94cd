/* plans.c - the cache of plans (sim/time/plan.c): finds the next stretch of a warp, and its plan.
 *
 * All warps repeat the same stretches. SMs on several threads search the cache without a lock.
 */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SEGMENTS = 256, FIRST_ROOM = 256 };

/* ---- The next stretch of a warp ---- */

static const Operations *operations_of(const Plans *plans, const TraceRun *run)
{
    return &plans->operations[run->function + 1];
}

/* A part of a stretch, up to `place`. */
typedef struct Stretch {
    TracePlace place;
    int segments, steps, rounds;
    const Operation *head; /* its first step */
    bool ends;
} Stretch;

/* Whether another round of a loop follows, which the machine code does in the same of its own. */
static inline bool has_round(const Plans *plans, const Trace *trace, const Stretch *s)
{
    const TraceRun *run = &trace->runs[s->place.run];

    return s->rounds < s->head->rounds && s->place.run < trace->run_count &&
           &operations_of(plans, run)->operations[run->first + (uint32_t) s->place.step] == s->head;
}

/* Adds the next segment. Returns false if the stretch is complete. */
static inline bool next_segment(const Plans *plans, const Trace *trace, Stretch *s,
                                PlanSegment *segment)
{
    if (s->ends || s->place.run >= trace->run_count || s->segments == MOST_SEGMENTS ||
        s->steps >= MOST_STEPS)
        return false;
    const TraceRun *run = &trace->runs[s->place.run];
    const uint32_t first = run->first + (uint32_t) s->place.step;
    const Operation *o = &operations_of(plans, run)->operations[first];
    const int left = run->count - s->place.step;
    const int room = MOST_STEPS - s->steps, most = left < room ? left : room;
    s->ends = o->straight <= most;
    const int count = s->ends ? o->straight : most;
    *segment = (PlanSegment){ .function = run->function,
                              .first = first,
                              .count = (uint16_t) count,
                              .most = (uint16_t) (o->straight < room ? o->straight : room),
                              .accesses = count == left ? run->accesses : 0,
                              .skipped = run->skipped,
                              .lanes = plans->by_lanes ? run->lanes : LANES };
    s->head = s->segments++ ? s->head : o;
    s->steps += count;
    s->place = count == left ? (TracePlace){ s->place.run + 1, 0 }
                             : (TracePlace){ s->place.run, s->place.step + count };
    if (s->ends && has_round(plans, trace, s)) {
        s->rounds++;
        s->ends = false;
    }
    return true;
}

static StretchEnd end_of(const Stretch *s)
{
    if (s->ends)
        return s->rounds < s->head->rounds ? NO_FURTHER_ROUND : IS_COMPLETE;
    return s->segments == MOST_SEGMENTS || s->steps >= MOST_STEPS ? IS_COMPLETE : TRACE_ENDED;
}

/* Collects the segments from `place` to the end of the stretch. */
static int find_segments(const Plans *plans, const Trace *trace, TracePlace *place,
                         PlanSegment segments[MOST_SEGMENTS], StretchEnd *end)
{
    Stretch s = { .place = *place, .rounds = 1 };

    while (next_segment(plans, trace, &s, &segments[s.segments]))
        ;
    *place = s.place;
    *end = end_of(&s);
    return s.segments;
}

/* ---- The cache of plans ---- */

static uint64_t hash_of(const PlanSegment *segments, int count)
{
    uint64_t hash = (uint64_t) count;

    for (int i = 0; i < count; i++) {
        const PlanSegment *s = &segments[i];
        hash = (hash ^ (LANES - s->lanes) ^
                ((uint64_t) s->first << 32 | (uint64_t) s->count << 16 |
                 (uint64_t) s->accesses << 8 | s->skipped)) *
               0x9e3779b97f4a7c15ull;
        hash = (hash ^ hash >> 29 ^ (uint32_t) s->function) * 0xbf58476d1ce4e5b9ull;
    }
    return hash ^ hash >> 32;
}

static bool is_same(const PlanSegment *a, const PlanSegment *b)
{
    return a->first == b->first && a->count == b->count && a->function == b->function &&
           a->accesses == b->accesses && a->skipped == b->skipped && a->lanes == b->lanes;
}

static bool is_for(const Plan *plan, const PlanSegment *segments, int count)
{
    if (plan->segment_count != count)
        return false;
    for (int i = 0; i < count; i++)
        if (!is_same(&plan->segments[i], &segments[i]))
            return false;
    return true;
}

/* Whether the trace continues with this segment, which then has `left` steps or more. */
static inline bool has_segment(const Plans *plans, const TraceRun *run, int step,
                               const PlanSegment *segment)
{
    const int left = run->count - step, count = left < segment->most ? left : segment->most;

    return run->first + (uint32_t) step == segment->first && count == segment->count &&
           run->function == segment->function && run->skipped == segment->skipped &&
           (count == left ? run->accesses : 0) == segment->accesses &&
           (!plans->by_lanes || run->lanes == segment->lanes);
}

static bool ends_at(const Trace *trace, TracePlace place, const Plan *plan)
{
    if (plan->end == IS_COMPLETE || place.run >= trace->run_count)
        return true;
    return plan->end == NO_FURTHER_ROUND &&
           !(trace->runs[place.run].function == plan->segments[0].function &&
             trace->runs[place.run].first + (uint32_t) place.step == plan->segments[0].first);
}

/* Whether the stretch that begins at `place` has this plan; then moves `place` past it. */
static bool is_next(const Plans *plans, const Trace *trace, TracePlace *place, const Plan *plan)
{
    TracePlace at = *place;

    for (int i = 0; i < plan->segment_count; i++) {
        const TraceRun *run = &trace->runs[at.run];
        const PlanSegment *segment = &plan->segments[i];
        if (at.run >= trace->run_count || !has_segment(plans, run, at.step, segment))
            return false;
        at = segment->count == run->count - at.step
                 ? (TracePlace){ at.run + 1, 0 }
                 : (TracePlace){ at.run, at.step + segment->count };
    }
    if (!ends_at(trace, at, plan))
        return false;
    *place = at;
    return true;
}

/* Where the plan is remembered that began last at this place. */
static Plan **recent_at(PlanUse *use, const Trace *trace, TracePlace place)
{
    const TraceRun *run = &trace->runs[place.run];
    const uint32_t first = run->first + (uint32_t) place.step;

    return &use->recent[(first + 31 * (uint32_t) run->function) % RECENT_PLANS];
}

/* Where a plan with this hash is, or belongs, in the table. */
static Plan **place_of(Plan **table, int room, uint64_t hash)
{
    Plan **at = &table[hash & (uint64_t) (room - 1)], *plan;

    while ((plan = __atomic_load_n(at, __ATOMIC_ACQUIRE)) && plan->hash < hash)
        at = &plan->next;
    return at;
}

bool plans_make_room(Plans *plans)
{
    const int room = plans->room ? 2 * plans->room : FIRST_ROOM;
    Plan **table;

    if (2 * plans->count < plans->room)
        return true;
    table = calloc((size_t) room, sizeof *table);
    if (!table)
        return false;
    for (int i = 0; i < plans->room; i++)
        while (plans->table[i]) {
            Plan *plan = plans->table[i], **at = place_of(table, room, plan->hash);
            plans->table[i] = plan->next;
            plan->next = *at;
            *at = plan;
        }
    free(plans->table);
    plans->table = table;
    plans->room = room;
    return true;
}

static Plan *find_plan(const Plans *plans, uint64_t hash, const PlanSegment *segments, int count)
{
    Plan *plan = __atomic_load_n(place_of(plans->table, plans->room, hash), __ATOMIC_ACQUIRE);

    while (plan && plan->hash == hash && !is_for(plan, segments, count))
        plan = __atomic_load_n(&plan->next, __ATOMIC_ACQUIRE);
    return plan && plan->hash == hash ? plan : NULL;
}

/* Another SM may have added the plan meanwhile. */
static Plan *add_plan(Plans *plans, uint64_t hash, const PlanSegment *segments, int count,
                      StretchEnd end)
{
    Plan *plan, **at;

    pthread_mutex_lock(&plans->lock);
    plan = find_plan(plans, hash, segments, count);
    if (!plan && (plan = plan_make(plans, segments, count))) {
        at = place_of(plans->table, plans->room, hash);
        plan->hash = hash;
        plan->end = end;
        plan->number = plans->count++;
        plan->next = *at;
        __atomic_store_n(at, plan, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&plans->lock);
    return plan;
}

static Plan *note_played(PlanUse *use, Plan *plan)
{
    if (plan->number >= use->room) {
        const int room = 2 * plan->number + FIRST_ROOM;
        uint64_t *more = realloc(use->played, (size_t) room * sizeof *more);
        if (!more)
            return NULL;
        memset(more + use->room, 0, (size_t) (room - use->room) * sizeof *more);
        use->played = more;
        use->room = room;
    }
    use->played[plan->number]++;
    return plan;
}

const Plan *plan_of(Plans *plans, PlanUse *use, const Trace *trace, TracePlace *place)
{
    PlanSegment segments[MOST_SEGMENTS + 1];
    Plan **recent = recent_at(use, trace, *place), *plan = *recent;
    StretchEnd end;

    if (plan && is_next(plans, trace, place, plan))
        return note_played(use, plan);
    const int count = find_segments(plans, trace, place, segments, &end);
    const uint64_t hash = hash_of(segments, count);
    plan = find_plan(plans, hash, segments, count);
    if (!plan)
        plan = add_plan(plans, hash, segments, count, end);
    *recent = plan;
    return plan ? note_played(use, plan) : NULL;
}

void plan_use_clear(PlanUse *use)
{
    free(use->played);
    *use = (PlanUse){ .room = 0 };
}

void plans_clear(Plans *plans)
{
    for (int i = 0; i < plans->room; i++)
        while (plans->table[i]) {
            Plan *plan = plans->table[i];
            plans->table[i] = plan->next;
            plan_free(plan);
        }
    free(plans->table);
    *plans = (Plans){ .lock = PTHREAD_MUTEX_INITIALIZER };
}
