/* plan.c - estimates the order in which machine code issues the steps of PTX.
 *
 * The machine issues in order, but ptxas chooses the order: it moves loads up as far as their
 * operands are ready without waiting for another load, so that several are in flight at once. It
 * does not move them across a branch, a branch target or a barrier; branches that became predicates
 * do not count. Loads stay after stores to the same memory. Then independent chains of operations
 * are interleaved (sim/time/order.c).
 *
 * A stretch is the part of a trace between two such places, and a Plan is its order. If ptxas has
 * unrolled a loop, its rounds are one stretch (sim/time/rounds.c). Plans are
 * cached (sim/time/plans.c).
 */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

/* With accesses to the stack. */
enum { MOST_PLANNED = 4 * MOST_STEPS };

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

    sorter->round += sorter->count && segment->first == sorter->first;
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

/* Whether all lanes have taken a branch between the segments that predicates replace. */
static bool passes_over(const Operations *operations, const PlanSegment *a, const PlanSegment *b)
{
    const uint32_t last = a->first + a->count - 1;
    const int skips = operations->operations[last].skips;

    return skips && a->function == b->function && b->first == last + 1 + (uint32_t) skips;
}

/* The warp issues the instructions under the predicate all the same. */
static void take_passed_over(const Operations *operations, Sorter *sorter, const PlanSegment *from,
                             const PlanSegment *to)
{
    for (uint32_t i = from->first + from->count; i < to->first; i++) {
        const Operation *o = &operations->operations[i];
        if (o->issues && o->action != NO_INSTRUCTION && sorter->count < MOST_PLANNED - MOST_STEPS)
            add_planned(sorter, (Planned){ .operation = o,
                                           .registers = operations->registers + o->first,
                                           .skipped = true,
                                           .lanes = to->lanes });
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

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* A scheduler can read a limited number of words per cycle from the register file: an H100 takes 3
 * cycles for a DFMA with three new operands, and 2 for others (tests/sim/time/mechanisms,
 * reads.DFMA). */
static uint8_t holding_cycles(const Plans *plans, const Planned *step, const Planned *before)
{
    const int reads = plans->register_reads, issues = step->operation->issues;
    const int words = operands_read(step, before) * step->operation->operand_words;
    const int reading = (words + reads - 1) / reads;

    return (uint8_t) larger(reading, larger(issues, step->operation->holds));
}

static void mark_last(Plan *plan)
{
    int last = plan->step_count - 1;

    while (last > 0 && plan->steps[last].operation->action == NO_INSTRUCTION)
        last--;
    if (last >= 0)
        plan->steps[last].is_last = true;
}

static void copy_registers(Planned *step)
{
    const Operation *o = step->operation;

    step->registers_used = (uint16_t) (o->reads + o->writes);
    for (int i = 0; i < FIRST_REGISTERS && step->registers_used; i++)
        step->first[i] = step->registers[i < step->registers_used ? i : 0];
}

/* Prepares what each issue of a step needs. */
static void finish_steps(const Plans *plans, Plan *plan)
{
    for (int i = 0; i < plan->step_count; i++) {
        Planned *step = &plan->steps[i];
        const Operation *o = step->operation;
        copy_registers(step);
        step->takes_long_way = step->accesses && o->action == DO_SEQUENCE;
        step->is_plain =
            o->action != NO_INSTRUCTION && !o->hoisted && !plans->packed &&
            (step->issue == ISSUED || (step->issue == ISSUED_IN_TURN && o->part >= o->whole));
    }
}

static void time_operands(const Plans *plans, Plan *plan)
{
    const Planned *before = NULL;

    for (int i = 0; i < plan->step_count; i++) {
        Planned *step = &plan->steps[i];
        step->holds[0] = step->holds[1] = step->operation->issues;
        step->pace = step->operation->issues;
        if (step->operation->action == NO_INSTRUCTION || step->skipped)
            continue;
        step->holds[0] = holding_cycles(plans, step, NULL);
        step->holds[1] = holding_cycles(plans, step, before);
        before = step;
    }
}

/* ---- The pace of the machine code ---- */

static bool is_issued(const Planned *step)
{
    return step->operation->action != NO_INSTRUCTION && step->issue != NOT_ISSUED;
}

/* Whether each step is at one place of the machine code of one function, or at the place of its
 * round. */
static bool is_placed_once(const Plan *plan)
{
    for (int i = 1; i < plan->segment_count; i++)
        if (plan->segments[i].function != plan->segments[0].function)
            return false;
    for (int i = 0; i < plan->step_count && !plan->registers; i++)
        if (is_issued(&plan->steps[i]) && plan->steps[i].place >= 0 &&
            !plan->steps[i].operation->is_single)
            return false;
    return true;
}

static bool has_step(const Operations *operations, const Plan *plan, int step)
{
    for (int i = 0; i < plan->segment_count; i++) {
        const PlanSegment *segment = &plan->segments[i];
        const int first = (int) segment->first;
        const bool passes =
            i + 1 < plan->segment_count && passes_over(operations, segment, &plan->segments[i + 1]);
        const int end = passes ? (int) plan->segments[i + 1].first : first + segment->count;
        if (step >= first && step < end)
            return true;
    }
    return false;
}

/* The cycles for which the machine code stalls the warp from one place to another, also for
 * instructions that PTX lacks. Other steps of the stretch in between take their own time elsewhere.
 * 0: unknown, since steps of another stretch are in between. */
static int stalled(const Operations *operations, const Plan *plan, int from, int to)
{
    const int own = operations->stalls[from].step;
    int cycles = 0;

    for (int i = from; i < to; i++) {
        const Stall *stall = &operations->stalls[i];
        if (stall->step >= 0 && !has_step(operations, plan, stall->step))
            return 0;
        if (stall->step < 0 || stall->step == own)
            cycles += stall->cycles;
    }
    return cycles;
}

/* A step that dependences have moved behind others does not count. */
static void pace_steps(const Operations *operations, Plan *plan)
{
    Planned *last = NULL, *before = NULL;
    int passed = 0; /* cycles from `last` to the step */

    for (int i = 0; i < plan->step_count; i++) {
        Planned *step = &plan->steps[i];
        if (!is_issued(step))
            continue;
        const bool same = last && last->operation->block == step->operation->block;
        if (same && last->place < step->place) {
            const int left = stalled(operations, plan, last->place, step->place) - passed;
            const int pace = before->pace + larger(left, 0);
            before->pace = (uint16_t) (pace < UINT16_MAX ? pace : UINT16_MAX);
        }
        if (step->place >= 0 && (!same || last->place < step->place)) {
            last = step;
            passed = 0;
        }
        passed += step->pace;
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

Plan *plan_make(const Plans *plans, const PlanSegment *segments, int count)
{
    Sorter *sorter = malloc(sizeof *sorter);
    Plan *plan = calloc(1, sizeof *plan);
    const Operations *operations = &plans->operations[segments[0].function + 1];
    int access = 0;

    if (!sorter || !plan)
        goto none;
    sorter->count = sorter->round = 0; /* the arrays are large, and filled only up to `count` */
    sorter->first = segments[0].first;
    for (int i = 0; i < count; i++) {
        if (i && passes_over(operations, &segments[i - 1], &segments[i]))
            take_passed_over(operations, sorter, &segments[i - 1], &segments[i]);
        take_segment(plans, sorter, &segments[i], &access);
    }
    plan->segments = malloc((size_t) count * sizeof *segments);
    plan->steps = calloc((size_t) sorter->count + 1, sizeof *plan->steps);
    if (plans->packed || has_parts(sorter))
        plan->turns = calloc((size_t) plans->schedulers, sizeof *plan->turns);
    if (!plan->segments || !plan->steps || (!plan->turns && (plans->packed || has_parts(sorter))))
        goto none;
    memcpy(plan->segments, segments, (size_t) count * sizeof *segments);
    plan->segment_count = count;
    plan->access_count = access;
    if (!order_steps(operations, plan, sorter))
        goto none;
    time_operands(plans, plan);
    if (operations->stalls && is_placed_once(plan))
        pace_steps(operations, plan);
    finish_steps(plans, plan);
    mark_last(plan);
    free(sorter);
    return plan;
none:
    free(sorter);
    plan_free(plan);
    return NULL;
}

void plan_free(Plan *plan)
{
    if (!plan)
        return;
    free(plan->segments);
    free(plan->steps);
    free(plan->registers);
    free(plan->turns);
    free(plan);
}
