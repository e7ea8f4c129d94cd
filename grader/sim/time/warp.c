/* warp.c - a played warp: its position in the trace, its registers, its groups of copies. */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- A warp's trace ---- */

bool warp_make_room(const uint64_t ***access, int *room, int accesses)
{
    const uint64_t **more;

    if (accesses <= *room)
        return true;
    more = realloc(*access, 2 * (size_t) accesses * sizeof *more);
    if (!more)
        return false;
    *access = more;
    *room = 2 * accesses;
    return true;
}

/* Prefetches what the next stretch needs: traces are long, and each warp's comes from far away. */
static void ask_for_more(const PlayedWarp *w)
{
    enum { HOST_LINE = 64, AHEAD = 6 * HOST_LINE, TWINS_AHEAD = 3 * HOST_LINE };
    const uintptr_t runs =
        (uintptr_t) w->trace->runs + (uintptr_t) w->place.run * sizeof *w->trace->runs;

    for (uintptr_t at = 0; at < AHEAD; at += HOST_LINE) {
        __builtin_prefetch((const void *) (runs + at));
        __builtin_prefetch((const void *) ((uintptr_t) w->word + at));
    }
    for (int i = 0; i < w->twins; i++)
        for (uintptr_t at = 0; at < TWINS_AHEAD; at += HOST_LINE)
            __builtin_prefetch((const void *) ((uintptr_t) w->twin_word[i] + at));
}

/* The lanes that leave a loop or a branch first come to the place where all meet again by
 * themselves, and wait there; then the warp continues with others. */
static void divide(const Sm *sm, PlayedWarp *w)
{
    const int lanes = w->trace->runs[w->place.run].lanes;

    if (lanes < w->lanes && w->held_by && w->held_by->action == DO_BRANCH)
        w->next += (uint64_t) sm->gpu->device.leaving_cycles;
    w->lanes = lanes;
}

/* Those of the stretch. Returns false if out of memory. */
static bool find_accesses(PlayedWarp *w, int count)
{
    if (!warp_make_room(&w->access, &w->access_room, count))
        return false;
    for (int i = 0; i < count; i++) {
        w->access[i] = w->word;
        w->word = warp_skip_access(w->word);
    }
    return !w->twins || twins_stretch(w, count);
}

/* Returns false if there is no further stretch, or if out of memory. */
static bool next_stretch(Sm *sm, PlayedWarp *w)
{
    const Plan *plan;

    if (w->place.run >= w->trace->run_count)
        return false;
    divide(sm, w);
    w->frame = w->trace->runs[w->place.run].frame;
    plan = plan_of(&sm->gpu->plans, &sm->plans, w->trace, &w->place);
    if (!plan || !find_accesses(w, plan->access_count)) {
        sm->failed = true;
        return false;
    }
    ask_for_more(w);
    w->turn = plan->turns ? plan->turns[w->scheduler]++ : 0;
    w->step = plan->steps;
    w->end = plan->steps + plan->step_count;
    return true;
}

/* For a step without an instruction: its result is ready when its last source is. */
static void pass_on(Sm *sm, PlayedWarp *w)
{
    const Operation *o = w->step->operation;
    const uint32_t *registers = w->step->registers;
    Value last = { 0 };
    bool unknown = false;

    for (int i = 0; i < o->reads; i++) {
        const Value *value = &w->value[registers[i]];
        unknown |= is_unknown(value->ready);
        last = value->ready >= last.ready ? *value : last;
    }
    if (unknown) {
        last = (Value){ 0 };
        for (int i = 0; i < o->reads; i++)
            last = answers_later_value(sm, last, w->value[registers[i]]);
    }
    warp_set_result(sm, w, last.ready, last.maker);
}

/* Whether another warp's instruction serves the lanes of its current step: if the instructions of
 * idle lanes were packed, n of 32 lanes would need an instruction in n of 32 turns. Barriers and
 * waits remain, since other warps depend on them. */
static bool is_served(const Sm *sm, const PlayedWarp *w)
{
    const uint64_t lanes = w->step->lanes, turn = w->turn;
    const Action action = (Action) w->step->operation->action;

    return sm->gpu->plans.packed && lanes < LANES &&
           (turn + 1) * lanes / LANES == turn * lanes / LANES &&
           (action == DO_COMPUTE || action == DO_BRANCH || action == DO_SEQUENCE ||
            action == DO_SHUFFLE || action == DO_ACCESS || action == DO_LOCAL ||
            action == DO_STACK || action == DO_COPY);
}

static bool is_same_access(const uint64_t *a, const uint64_t *b)
{
    return a && *a == *b && !memcmp(a, b, ((size_t) trace_following(*b) + 1) * sizeof *b);
}

/* Whether the load is in front of the loop in which PTX has it, and the loop has not been entered
 * again: then the warp still has the value. */
static bool is_kept(const PlayedWarp *w)
{
    const Planned *step = w->step;
    const int copies = step->operation->hoisted;
    const uint64_t **kept = w->kept + step->operation->hoisted_first, *now;

    if (!copies || step->accesses != 1)
        return false;
    now = w->access[step->access];
    for (int i = 0; i < copies; i++)
        if (is_same_access(kept[i], now))
            return true;
    memmove(kept + 1, kept, ((size_t) copies - 1) * sizeof *kept);
    kept[0] = now;
    return false;
}

/* Whether this execution is one of those in which the step is not issued. If the plan does not
 * know, the choice is the same for all such steps of a stretch, and evenly spread over turns, so
 * that no warp is always the one that issues. */
static bool is_left_out(const PlayedWarp *w)
{
    const Operation *o = w->step->operation;
    const uint64_t spread = w->turn * 0x9e3779b9u; /* of 2^32 */

    if (w->step->issue != ISSUED_IN_TURN)
        return w->step->issue == NOT_ISSUED;
    return o->part < o->whole && spread * o->whole >= (uint64_t) o->part << 32;
}

/* Its data has to be moved, and its result is ready when its sources are. */
static void serve(Sm *sm, PlayedWarp *w)
{
    const Operation *o = w->step->operation;
    const uint64_t there = lsu_pass(sm, w, w->next);
    const uint32_t *registers = w->step->registers + o->reads;

    pass_on(sm, w);
    if (o->action == DO_COPY)
        warp_put_off(sm, w, &w->copied, there);
    for (int i = 0; i < o->writes; i++) {
        Value *value = &w->value[registers[i]];
        *value = answers_later_value(sm, (Value){ .ready = there, .maker = o }, *value);
        if (is_unknown(value->ready))
            answers_note_value(sm, value);
    }
}

bool warp_find_step(Sm *sm, PlayedWarp *w)
{
    for (;;) {
        if (w->step == w->end) {
            if (!next_stretch(sm, w))
                return false;
            continue;
        }
        const Operation *o = w->step->operation;
        if (o->action == NO_INSTRUCTION || is_left_out(w))
            pass_on(sm, w);
        else if (is_served(sm, w))
            serve(sm, w);
        else if (!is_kept(w))
            return true;
        w->step++;
    }
}

/* ---- Groups of copies ---- */

void warp_put_off(Sm *sm, PlayedWarp *w, uint64_t *time, uint64_t at)
{
    *time = time_later(sm, *time, at);
    if (is_unknown(*time))
        answers_note_warp(sm, w);
}

void warp_commit(Sm *sm, PlayedWarp *w)
{
    warp_put_off(sm, w, &w->groups[GROUPS - 1], w->groups[GROUPS - 2]);
    memmove(w->groups + 1, w->groups, (GROUPS - 2) * sizeof *w->groups);
    w->groups[0] = w->copied;
    w->copied = 0;
}

uint64_t warp_groups_there(Sm *sm, const PlayedWarp *w, int keep)
{
    uint64_t at = 0;

    for (int i = keep; i < GROUPS; i++)
        at = time_later(sm, at, w->groups[i]);
    return at;
}

/* ---- Memory ---- */

void warp_forget_kept(PlayedWarp *w)
{
    if (w->kept)
        memset(w->kept, 0, (size_t) w->kept_room * sizeof *w->kept);
}

static bool open_kept(PlayedWarp *w, int hoisted)
{
    const uint64_t **more;

    if (w->kept_room < hoisted) {
        more = realloc(w->kept, (size_t) hoisted * sizeof *more);
        if (!more)
            return false;
        w->kept = more;
        w->kept_room = hoisted;
    }
    warp_forget_kept(w);
    return true;
}

PlayedWarp *warp_new(Sm *sm)
{
    const int registers = sm->gpu->registers;
    const size_t each = sizeof *sm->spare->value;
    PlayedWarp *w = sm->spare;

    if (w)
        sm->spare = w->next_spare;
    if (!w || w->registers_room < registers) {
        PlayedWarp *more = realloc(w, sizeof *w + (size_t) registers * each);
        if (!more) {
            if (w)
                warp_free(w);
            return NULL;
        }
        if (!w)
            *more = (PlayedWarp){ .access = NULL };
        w = more;
        w->registers_room = registers;
    }
    *w = (PlayedWarp){ .access = w->access,
                       .access_room = w->access_room,
                       .twin_access = w->twin_access,
                       .twin_room = w->twin_room,
                       .kept = w->kept,
                       .kept_room = w->kept_room,
                       .registers_room = w->registers_room };
    memset(w->value, 0, (size_t) w->registers_room * each);
    if (!open_kept(w, sm->gpu->hoisted)) {
        warp_free(w);
        return NULL;
    }
    return w;
}

void warp_free(PlayedWarp *w)
{
    free(w->access);
    free(w->twin_access);
    free(w->kept);
    free(w);
}
