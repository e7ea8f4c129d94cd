/* plan.c - estimates the order in which machine code issues the steps of PTX.
 *
 * The machine issues in order, but ptxas chooses the order: it moves loads up as far as their
 * operands are ready without waiting for another load, so that several are in flight at once. It
 * does not move them across a branch, a branch target or a barrier; branches that became predicates
 * do not count. Loads stay after stores to the same memory. Then independent chains of operations
 * are interleaved (sim/time/order.c).
 *
 * A stretch is the part of a trace between two such places, and a Plan is its order. If ptxas has
 * unrolled a loop, its rounds are one stretch (sim/time/rounds.c). All warps repeat the same
 * stretches, so plans are cached.
 */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

/* MOST_PLANNED: with accesses to the stack. */
enum { MOST_PLANNED = 4 * MOST_STEPS, MOST_SEGMENTS = 256, FIRST_ROOM = 256 };

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

/* Collects the segments from `place` to the end of the stretch. */
static int find_segments(const Plans *plans, const Trace *trace, TracePlace *place,
                         PlanSegment segments[MOST_SEGMENTS])
{
    Stretch s = { .place = *place, .rounds = 1 };

    while (next_segment(plans, trace, &s, &segments[s.segments]))
        ;
    *place = s.place;
    return s.segments;
}

/* ---- The order ---- */

typedef struct Sorter {
    Planned steps[MOST_PLANNED];
    bool early[MOST_PLANNED];
    int count;
    uint32_t first; /* step */
    int round;      /* of the loop that is the stretch */
} Sorter;

static bool shares(const uint32_t *a, int a_count, const uint32_t *b, int b_count)
{
    for (int i = 0; i < a_count; i++)
        for (int k = 0; k < b_count; k++)
            if (a[i] == b[k])
                return true;
    return false;
}

static bool is_far_load(const Operation *o)
{
    return o->memory == MEMORY_FAR_LOAD;
}

/* Whether `later` must stay after `before`. */
static bool depends(const Planned *later, const Planned *before)
{
    const Operation *l = later->operation, *b = before->operation;
    const uint32_t *lr = later->registers, *br = before->registers;

    if (l->reads && b->writes && shares(lr, l->reads, br + b->reads, b->writes))
        return true;
    if (l->writes && shares(lr + l->reads, l->writes, br, b->reads + b->writes))
        return true;
    return is_far_load(l) && (b->memory == MEMORY_FAR_STORE || b->memory == MEMORY_ORDERED);
}

/* The steps that step i needs move up with it; if one of them waits for a load, nothing moves. */
static bool may_go_up(const Sorter *sorter, int i, bool *needed)
{
    needed[i] = true;
    for (int k = i; k >= 0; k--) {
        if (!needed[k])
            continue;
        if (k < i && sorter->steps[k].operation->memory != MEMORY_NONE)
            return false;
        for (int before = k - 1; before >= 0; before--)
            if (!needed[before] && !sorter->early[before] &&
                depends(&sorter->steps[k], &sorter->steps[before]))
                needed[before] = true;
    }
    return true;
}

static void choose_early(Sorter *sorter)
{
    bool needed[MOST_PLANNED];

    for (int i = 0; i < sorter->count; i++) {
        if (!is_far_load(sorter->steps[i].operation) || sorter->early[i])
            continue;
        memset(needed, 0, sizeof needed);
        if (!may_go_up(sorter, i, needed))
            continue;
        for (int k = 0; k <= i; k++)
            sorter->early[k] |= needed[k];
    }
}

static int far_loads(const Sorter *sorter)
{
    int count = 0;

    for (int i = 0; i < sorter->count; i++)
        count += is_far_load(sorter->steps[i].operation);
    return count;
}

/* ---- Making a plan ---- */

static void add_planned(Sorter *sorter, Planned planned)
{
    planned.place = planned.operation->place;
    planned.round = (uint8_t) sorter->round;
    sorter->steps[sorter->count] = planned;
    sorter->early[sorter->count++] = false;
}

/* As many of a step's accesses to the stack as there is room for. */
static void add_stack(Sorter *sorter, const Operations *operations, uint32_t first, int count,
                      const PlanSegment *segment)
{
    for (int i = 0; i < count && sorter->count < MOST_PLANNED - MOST_STEPS; i++) {
        const Operation *o = &operations->stack[first + (uint32_t) i];
        add_planned(sorter, (Planned){ .operation = o,
                                       .registers = operations->registers + o->first,
                                       .skipped = segment->skipped,
                                       .lanes = segment->lanes });
    }
}

static void take_segment(const Plans *plans, Sorter *sorter, const PlanSegment *segment,
                         int *access)
{
    const Operations *operations = &plans->operations[segment->function + 1];

    sorter->round += *access || sorter->count ? segment->first == sorter->first : 0;
    for (int i = 0; i < segment->count && sorter->count < MOST_PLANNED; i++) {
        const Operation *o = &operations->operations[segment->first + (uint32_t) i];
        const bool last = i == segment->count - 1;
        add_stack(sorter, operations, o->stack_first, o->loads_before, segment);
        add_planned(sorter, (Planned){ .operation = o,
                                       .registers = operations->registers + o->first,
                                       .access = (uint16_t) *access,
                                       .accesses = last ? segment->accesses : 0,
                                       .skipped = segment->skipped,
                                       .lanes = segment->lanes });
        add_stack(sorter, operations, o->stack_first + o->loads_before, o->stores_after, segment);
        *access += last ? segment->accesses : 0;
    }
}

static bool has_operand(const Operation *o, uint32_t number)
{
    for (int i = 0; i < o->operand_count; i++)
        if (o->operands[i] == number)
            return true;
    return false;
}

/* Operands that the warp's previous instruction read are still available, unless it has overwritten
 * them. The machine code says which of them are. */
static int operands_read(const Planned *step, const Planned *before)
{
    const Operation *o = step->operation;
    int count = o->operand_count;

    if (o->is_known)
        return before ? o->machine_operands_after : o->machine_operands;
    for (int i = 0; before && i < o->operand_count; i++)
        count -= has_operand(before->operation, o->operands[i]) &&
                 !shares(&o->operands[i], 1, before->registers + before->operation->reads,
                         before->operation->writes);
    return count;
}

/* A scheduler can read a limited number of operands per cycle from the register file. */
static int reading_cycles(const Plans *plans, const Planned *step, const Planned *before)
{
    return (operands_read(step, before) + plans->register_reads - 1) / plans->register_reads;
}

static void mark_last(Plan *plan)
{
    int last = plan->step_count - 1;

    while (last > 0 && plan->steps[last].operation->action == NO_INSTRUCTION)
        last--;
    if (last >= 0)
        plan->steps[last].is_last = true;
}

static void time_operands(const Plans *plans, Plan *plan)
{
    const Planned *before = NULL;

    for (int i = 0; i < plan->step_count; i++) {
        Planned *step = &plan->steps[i];
        if (step->operation->action == NO_INSTRUCTION || step->skipped)
            continue;
        step->reading = (uint8_t) reading_cycles(plans, step, NULL);
        step->reading_after = (uint8_t) reading_cycles(plans, step, before);
        before = step;
    }
}

/* Steps without an instruction and without a branch are left out. */
static void put_steps(Plan *plan, const Sorter *sorter, bool early)
{
    for (int i = 0; i < sorter->count; i++) {
        const Planned *step = &sorter->steps[i];
        const Operation *o = step->operation;
        const bool idle = o->action == NO_INSTRUCTION && (step->skipped || !o->writes);
        if (sorter->early[i] == early && !idle)
            plan->steps[plan->step_count++] = *step;
    }
}

static bool has_parts(const Sorter *sorter)
{
    for (int i = 0; i < sorter->count; i++)
        if (sorter->steps[i].operation->part < sorter->steps[i].operation->whole)
            return true;
    return false;
}

/* All rounds that the machine code does together. */
static bool unroll(const Operations *operations, Plan *plan, int rounds)
{
    bool known;

    plan->registers =
        rounds_unroll(plan->steps, plan->step_count, rounds, operations->places,
                      (uint32_t) (operations->first_register + operations->registers_used));
    return plan->registers && order_as_machine(plan->steps, plan->step_count, &known);
}

/* The last rounds, one after the other. */
static bool order_rounds(Plan *plan)
{
    bool well = true, known;

    for (int from = 0, to; from < plan->step_count && well; from = to) {
        for (to = from; to < plan->step_count && plan->steps[to].round == plan->steps[from].round;)
            to++;
        well = order_as_machine(plan->steps + from, to - from, &known);
    }
    return well;
}

static bool order_steps(const Operations *operations, Plan *plan, Sorter *sorter)
{
    const int rounds = operations->operations[sorter->first].rounds;
    bool known;

    put_steps(plan, sorter, false);
    if (rounds > 1)
        return sorter->round + 1 == rounds ? unroll(operations, plan, rounds) : order_rounds(plan);
    if (!order_as_machine(plan->steps, plan->step_count, &known))
        return false;
    if (known)
        return true;
    plan->step_count = 0;
    if (far_loads(sorter) > 1)
        choose_early(sorter);
    put_steps(plan, sorter, true);
    put_steps(plan, sorter, false);
    return order_chains(plan->steps, plan->step_count);
}

static Plan *new_plan(const Plans *plans, const PlanSegment *segments, int count)
{
    Sorter *sorter = calloc(1, sizeof *sorter);
    Plan *plan = calloc(1, sizeof *plan);
    int access = 0;

    if (!sorter || !plan)
        goto none;
    sorter->first = segments[0].first;
    for (int i = 0; i < count; i++)
        take_segment(plans, sorter, &segments[i], &access);
    plan->segments = malloc((size_t) count * sizeof *segments);
    plan->steps = calloc((size_t) sorter->count + 1, sizeof *plan->steps);
    if (plans->packed || has_parts(sorter))
        plan->turns = calloc((size_t) plans->schedulers, sizeof *plan->turns);
    if (!plan->segments || !plan->steps || (!plan->turns && (plans->packed || has_parts(sorter))))
        goto none;
    memcpy(plan->segments, segments, (size_t) count * sizeof *segments);
    plan->segment_count = count;
    plan->access_count = access;
    if (!order_steps(&plans->operations[segments[0].function + 1], plan, sorter))
        goto none;
    time_operands(plans, plan);
    mark_last(plan);
    free(sorter);
    return plan;
none:
    free(sorter);
    if (plan) {
        free(plan->segments);
        free(plan->steps);
        free(plan->registers);
        free(plan->turns);
    }
    free(plan);
    return NULL;
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

/* Whether the stretch that begins at `place` has this plan; then moves `place` past it. */
static bool is_next(const Plans *plans, const Trace *trace, TracePlace *place, const Plan *plan)
{
    Stretch s = { .place = *place, .rounds = 1 };
    PlanSegment segment;

    for (int i = 0; i < plan->segment_count; i++)
        if (!next_segment(plans, trace, &s, &segment) || !is_same(&plan->segments[i], &segment))
            return false;
    if (next_segment(plans, trace, &s, &segment))
        return false;
    *place = s.place;
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
static Plan *add_plan(Plans *plans, uint64_t hash, const PlanSegment *segments, int count)
{
    Plan *plan, **at;

    pthread_mutex_lock(&plans->lock);
    plan = find_plan(plans, hash, segments, count);
    if (!plan && (plan = new_plan(plans, segments, count))) {
        at = place_of(plans->table, plans->room, hash);
        plan->hash = hash;
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

    if (plan && is_next(plans, trace, place, plan))
        return note_played(use, plan);
    const int count = find_segments(plans, trace, place, segments);
    const uint64_t hash = hash_of(segments, count);
    plan = find_plan(plans, hash, segments, count);
    if (!plan)
        plan = add_plan(plans, hash, segments, count);
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
            free(plan->segments);
            free(plan->steps);
            free(plan->registers);
            free(plan->turns);
            free(plan);
        }
    free(plans->table);
    *plans = (Plans){ .lock = PTHREAD_MUTEX_INITIALIZER };
}
