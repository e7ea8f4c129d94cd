/* limits.c - attributes the schedulers' time to steps and to limits.
 *
 * A cycle in which a scheduler issues is charged to that instruction. A cycle in which it has warps
 * but does not issue is charged to the reason why the next warp to issue waited: for a pipe; for a
 * result (charged to the step that produces it); at a barrier (charged to the reason why the last
 * warp to arrive had waited). If memory is involved, the limit is the unit on the path that was
 * recently busiest, for the share of time in which it was busy; the rest is latency.
 */
#include "sim/time/model.h"

#include <math.h>

enum { WINDOW = 128 }; /* cycles: the minimum length of "recently" */

/* ---- Busy units ---- */

/* The cycles of work that a queue has done by now, if it received `given` cycles of work in all and
 * will be empty at `free`. */
static double done_by(double given, double free, double now)
{
    return free > now ? given - (free - now) : given;
}

static void read_meters(const Sm *sm, double now, double done[METERS])
{
    const MemoryBusy *m = &sm->gpu->busy;

    done[METER_LSU] = done_by(sm->shared_busy + sm->l1_busy, (double) sm->lsu_free, now);
    done[METER_STORES] = done_by(sm->stores_busy, (double) sm->store_free, now);
    done[METER_L2] = done_by(m->l2, m->l2_free, now);
    done[METER_DRAM] =
        fmax(done_by(m->dram, m->dram_free, now), done_by(m->rows, m->rows_free, now));
    done[METER_ATOMICS] = done_by(m->atomics, m->atomics_until, now);
    done[METER_LINK] = 0;
    for (int i = 0; i < LINK_WAYS; i++)
        done[METER_LINK] = fmax(done[METER_LINK], done_by(m->link[i], m->link_free[i], now));
}

static void meter(Sm *sm, uint64_t now)
{
    Meters *m = &sm->meters;
    const double time = (double) now - m->at, shared = sm->shared_busy - m->shared;
    double done[METERS];

    if (time < WINDOW)
        return;
    read_meters(sm, (double) now, done);
    for (int i = 0; i < METERS; i++) {
        m->busy[i] = fmin(1, fmax(0, (done[i] - m->done[i]) / time));
        m->done[i] = done[i];
    }
    m->lsu_shared = m->busy[METER_LSU] > 0 ? fmin(1, shared / time / m->busy[METER_LSU]) : 0;
    m->shared = sm->shared_busy;
    m->at = (double) now;
}

/* ---- Charging ---- */

/* Charges the load/store unit, divided by the kind of its recent work. */
static void charge_unit(const Meters *m, Spent *to, double cycles)
{
    to->at[AT_SHARED] += cycles * m->lsu_shared;
    to->at[AT_L1] += cycles * (1 - m->lsu_shared);
}

/* Charges the busiest unit up to `last`; of several nearly as busy, the one farthest from the SM.
 */
static void charge(Sm *sm, Spent *to, double cycles, int last, uint64_t now)
{
    static const uint8_t limits[METERS] = { [METER_STORES] = AT_L1,
                                            [METER_L2] = AT_L2,
                                            [METER_DRAM] = AT_DRAM,
                                            [METER_ATOMICS] = AT_ATOMICS,
                                            [METER_LINK] = AT_TRANSFER };
    const Meters *m = &sm->meters;
    int most = METER_LSU;

    meter(sm, now);
    for (int i = 0; i <= last; i++)
        if (m->busy[i] > 0.95 * m->busy[most])
            most = i;
    if (most == METER_LSU)
        charge_unit(m, to, cycles * m->busy[most]);
    else
        to->at[limits[most]] += cycles * m->busy[most];
    to->at[AT_LATENCY] += cycles * (1 - m->busy[most]);
}

/* ---- Reasons ---- */

static void wait_for_pipe(Sm *sm, const Operation *o, double cycles, uint64_t now)
{
    sm->waits[WAIT_UNIT] += cycles;
    if (o->pipe != PIPE_LSU) {
        sm_spent(sm, o)->at[o->unit_limit] += cycles;
        return;
    }
    meter(sm, now);
    charge_unit(&sm->meters, sm_spent(sm, o), cycles);
}

/* Charges the wait until a warp may issue again. `o`: its previous operation, or the one for which
 * the last warp at a barrier waited. */
static void wait_for_turn(Sm *sm, const Operation *o, double cycles, uint64_t now)
{
    if (!o) {
        sm->waits[WAIT_BLOCK] += cycles;
        charge(sm, &sm->nowhere, cycles, METER_LINK, now);
        return;
    }
    sm->waits[wait_for_turn_after(o)] += cycles;
    if (o->action == DO_BRANCH || o->action == DO_SEQUENCE)
        sm_spent(sm, o)->at[AT_LATENCY] += cycles;
    else
        charge(sm, sm_spent(sm, o), cycles, METER_LINK, now);
}

static void wait_for_result(Sm *sm, const Operation *maker, double cycles, uint64_t now)
{
    Spent *to = maker ? sm_spent(sm, maker) : &sm->nowhere;
    const WaitKind kind = wait_for_result_of(maker);

    sm->waits[kind] += cycles;
    if (kind == WAIT_RESULT)
        to->at[AT_LATENCY] += cycles;
    else
        charge(sm, to, cycles, kind == WAIT_FAR ? METER_LINK : METER_LSU, now);
}

/* In a tie the first. */
static const Value *later_value(const Value *a, const Value *b)
{
    return b->ready > a->ready ? b : a;
}

const Operation *limits_maker(const PlayedWarp *w)
{
    const Planned *step = w->step;
    const Value none = { 0 }, *last = &none;

    for (int i = 0; i < FIRST_REGISTERS && step->registers_used; i++)
        last = later_value(last, &w->value[step->first[i]]);
    for (int i = FIRST_REGISTERS; i < step->registers_used; i++)
        last = later_value(last, &w->value[step->registers[i]]);
    return last->maker;
}

/* Until `from` the warp was not ready; after that its pipe was busy. */
void limits_waited(Sm *sm, const Scheduler *s, const PlayedWarp *w, uint64_t now)
{
    const uint64_t from = later(s->free, s->wake[s->best] < now ? s->wake[s->best] : now);
    const double cycles = (double) (from - s->free);

    if (from < now)
        wait_for_pipe(sm, w->step->operation, (double) (now - from), now);
    if (from == s->free)
        return;
    if (w->next >= from)
        wait_for_turn(sm, w->held_by, cycles, from);
    else
        wait_for_result(sm, limits_maker(w), cycles, from);
}

/* Which of several answers of the L2 is the last is unknown until the SM's turn ends. */
const Operation *limits_barrier(const Sm *sm, const PlayedWarp *w)
{
    const Operation *maker = NULL;
    uint64_t at = 0;

    for (int i = 0; i < w->registers_room; i++) {
        const Value *value = &w->value[i];
        const uint64_t ready = value->ready < sm->until ? value->ready : sm->until;
        if (value->maker && value->maker->pipe == PIPE_LSU && ready > at) {
            at = ready;
            maker = value->maker;
        }
    }
    return maker;
}

/* ---- The end ---- */

/* Averages over all the time so far, since the wait to be charged may have begun long ago. */
static void take_means(Sm *sm, uint64_t now)
{
    sm->meters = (Meters){ .at = 0 };
    meter(sm, now);
}

/* After its last instruction a scheduler waits for the blocks of its SM; then the SM waits for
 * other blocks. */
static void charge_ends(Gpu *gpu, double all)
{
    for (int i = 0; i < gpu->device.sms; i++) {
        Sm *sm = &gpu->sms[i];
        take_means(sm, sm->ends);
        for (int k = 0; k < gpu->device.schedulers_per_sm; k++) {
            const double free = fmin(all, (double) sm->schedulers[k].free);
            const double ends = fmax(free, fmin(all, (double) sm->ends));
            sm->waits[WAIT_BLOCK] += ends - free;
            charge(sm, &sm->nowhere, ends - free, METER_LINK, sm->ends);
            sm->nowhere.at[AT_TAIL] += all - ends;
        }
    }
}

static uint64_t times_played(const Gpu *gpu, const Plan *plan)
{
    uint64_t sum = 0;

    for (int i = 0; i < gpu->device.sms; i++)
        sum += plan->number < gpu->sms[i].plans.room ? gpu->sms[i].plans.played[plan->number] : 0;
    return sum;
}

/* Each step of a plan is issued each time the plan is played, or in part of them. */
static void charge_issues(Gpu *gpu)
{
    for (int i = 0; i < gpu->plans.room; i++)
        for (const Plan *plan = gpu->plans.table[i]; plan; plan = plan->next) {
            const double played = (double) times_played(gpu, plan);
            for (int k = 0; k < plan->step_count; k++) {
                const Operation *o = plan->steps[k].operation;
                if (o->issues)
                    o->spent->at[o->issue_limit] += played * o->issues * o->part / o->whole;
            }
        }
}

/* Adds what the SMs have charged, SM by SM. */
static void add_sms(Gpu *gpu)
{
    for (int i = 0; i < gpu->device.sms; i++) {
        const Sm *sm = &gpu->sms[i];
        spent_add(&gpu->nowhere, &sm->nowhere, 1);
        for (int k = 0; k < WAITS; k++)
            gpu->waits[k] += sm->waits[k];
        for (int k = 0; i > 0 && sm->issued && k < gpu->operations_count; k++) {
            const Operations *o = &gpu->operations[k];
            const size_t steps = o->code ? (size_t) o->code->step_count + 1 : 0;
            for (size_t step = 0; step < steps; step++)
                spent_add(&o->spent[step], &o->spent[(size_t) i * steps + step], 1);
        }
    }
}

static void add_steps(Gpu *gpu, Spent *sum)
{
    for (int i = 0; i < gpu->operations_count; i++) {
        const Operations *o = &gpu->operations[i];
        gpu->spent[i] = o->spent;
        for (int k = 0; o->code && k <= o->code->step_count; k++)
            spent_add(sum, &o->spent[k], 1);
    }
}

static double link_ways(const Link *link)
{
    const double most = fmax(link->busy[LINK_READS], link->busy[LINK_WRITES]);

    return most > 0 ? (link->busy[LINK_READS] + link->busy[LINK_WRITES]) / most : 1;
}

/* Cycles in which each unit was busy; for units of an SM, the mean. */
static void add_busy(const Gpu *gpu, double fp32, double all, double *busy)
{
    const Memory *m = &gpu->memory;
    double shared = 0, l1 = 0;

    for (int i = 0; i < gpu->device.sms; i++) {
        shared += gpu->sms[i].shared_busy;
        l1 += fmax(gpu->sms[i].l1_busy, gpu->sms[i].stores_busy);
    }
    busy[AT_FP32] = fmin(all, fp32);
    busy[AT_SHARED] = fmin(all, shared / gpu->device.sms);
    busy[AT_L1] = fmin(all, l1 / gpu->device.sms);
    busy[AT_L2] = fmin(all, m->l2_busy);
    busy[AT_DRAM] = fmin(all, memory_dram_busy(m));
    busy[AT_ATOMICS] = fmin(all, m->atomics_busy);
    busy[AT_TRANSFER] = fmin(all, fmax(m->link.busy[LINK_READS], m->link.busy[LINK_WRITES]));
}

void limits_end(Gpu *gpu, double left_out, TimingResult *result)
{
    const double played = result->cycles - left_out;
    const double ns = 1e3 / gpu->device.sm_mhz; /* per cycle */
    const double schedulers = (double) gpu->device.schedulers_per_sm * gpu->device.sms;
    Spent sum;
    double factor, tail;

    gpu->busy = memory_busy(&gpu->memory);
    charge_ends(gpu, played);
    add_sms(gpu);
    charge_issues(gpu);
    sum = gpu->nowhere;
    add_steps(gpu, &sum);
    if (spent_sum(&sum) <= 0)
        return;
    tail = sum.at[AT_TAIL] * played / spent_sum(&sum);
    sum.at[AT_TAIL] = 0;
    /* The sum slightly exceeds the time if the last instruction takes several cycles. */
    factor = spent_sum(&sum) > 0 ? (result->cycles - tail) / spent_sum(&sum) : 0;
    factor *= ns;
    spent_add(&result->spent, &sum, factor);
    result->spent.at[AT_TAIL] = tail * ns;
    result->spent.at[AT_LAUNCH] = gpu->device.launch_us * 1e3;
    for (int i = 0; i < WAITS; i++)
        result->waits[i] = gpu->waits[i] * factor;
    add_busy(gpu, sum.at[AT_FP32] / schedulers, played, result->busy);
    result->link_ways = link_ways(&gpu->memory.link);
    for (int i = 0; i < LIMITS && played > 0; i++)
        result->busy[i] *= result->cycles / played * ns;
    result->steps = gpu->spent;
    result->step_ns = factor;
}

void limits_drop_tail(const Gpu *gpu, double cycles, TimingResult *result)
{
    Spent *spent = &result->spent;
    const double ns = cycles * 1e3 / gpu->device.sm_mhz, launch = spent->at[AT_LAUNCH];
    double factor;

    spent->at[AT_TAIL] = spent->at[AT_LAUNCH] = 0;
    factor = spent_sum(spent) > 0 ? ns / spent_sum(spent) : 0;
    for (int i = 0; i < LIMITS; i++) {
        spent->at[i] *= factor;
        result->busy[i] = fmin(result->busy[i], ns);
    }
    for (int i = 0; i < WAITS; i++)
        result->waits[i] *= factor;
    spent->at[AT_LAUNCH] = launch;
    result->step_ns *= factor;
    result->cycles = cycles;
}
