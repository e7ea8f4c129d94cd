/* answers.c - lists requests to the L2, and replaces the numbers that stand for their answers. */
#include "sim/time/model.h"

#include <stdlib.h>

/* ---- Lists ---- */

static bool has_room(Sm *sm, void *list, int count, int *room, size_t size)
{
    const int now = *room ? 2 * *room : 64;
    void **items = list, *more;

    if (count < *room)
        return true;
    more = realloc(*items, (size_t) now * size);
    if (!more) {
        sm->failed = true;
        return false;
    }
    *items = more;
    *room = now;
    return true;
}

#define HAS_ROOM(sm, kind)                                                                         \
    has_room(sm, &(sm)->answers.kind##s, (sm)->answers.kind##_count, &(sm)->answers.kind##_room,   \
             sizeof *(sm)->answers.kind##s)

/* Returns the number that stands for the answer. If out of memory, a time after the turn. */
static uint64_t add_answer(Sm *sm, Answer answer)
{
    Answers *a = &sm->answers;

    if (!HAS_ROOM(sm, answer))
        return sm->until + 1;
    a->answers[a->answer_count] = answer;
    return UNKNOWN | (uint64_t) a->answer_count++;
}

void answers_note(Sm *sm, uint64_t *time)
{
    if (HAS_ROOM(sm, time))
        sm->answers.times[sm->answers.time_count++] = time;
}

void answers_note_value(Sm *sm, Value *value)
{
    if (HAS_ROOM(sm, value))
        sm->answers.values[sm->answers.value_count++] = value;
}

void answers_note_warp(Sm *sm, PlayedWarp *w)
{
    if (!w->is_noted && HAS_ROOM(sm, warp)) {
        sm->answers.warps[sm->answers.warp_count++] = w;
        w->is_noted = true;
    }
}

void answers_free(Answers *answers)
{
    free(answers->requests);
    free(answers->answers);
    free(answers->times);
    free(answers->values);
    free(answers->warps);
    *answers = (Answers){ .on = false };
}

/* ---- Requests ---- */

static uint64_t store(Sm *sm, uint64_t word, uint64_t at)
{
    const uint64_t there = memory_store(sm->memory, sm->half, trace_number(word),
                                        trace_sectors(word), trace_amount(word), at);

    if (sm->gpu->device.l2_slices)
        sm->accepted = later(sm->accepted, there - (uint64_t) sm->gpu->device.store_latency);
    return there;
}

static uint64_t update(Sm *sm, TraceKind kind, uint64_t word, uint64_t at)
{
    const uint64_t there = memory_atomic(sm->memory, kind, word, at);

    if (!trace_is_on_host(trace_number(word)))
        lsu_note_update(sm, word, there - (uint64_t) sm->gpu->device.l2_latency);
    return there;
}

/* Sectors that an SM requests over the link within its latency: one SM of an H200 reads 6.2 to 7
 * GB/s of the host's memory, however many loads are in flight (tests/sim/time/mechanisms,
 * pinned.single). */
enum { MOST_OVER_LINK = 256 };

/* When the link takes the SM's next request, for so many sectors. */
static uint64_t link_turn(Sm *sm, unsigned sectors, uint64_t at)
{
    const uint64_t turn = later(at, sm->link_free);

    sm->link_free = turn + sectors * (uint64_t) sm->memory->link.latency / MOST_OVER_LINK;
    return turn;
}

static uint64_t ask(Sm *sm, TraceKind kind, uint64_t word, uint64_t at)
{
    const uint64_t line = trace_number(word);

    if (trace_is_on_host(line) && kind == TRACE_LOAD)
        at = link_turn(sm, sectors_in(trace_sectors(word)), at);
    switch (kind) {
    case TRACE_LOAD:
        return memory_load(sm->memory, sm->half, line, trace_sectors(word), at);
    case TRACE_ATOMIC:
    case TRACE_INTEGER_ATOMIC:
        return update(sm, kind, word, at);
    case TRACE_MERGED_STORE:
        return memory_merge(sm->memory, line, trace_sectors(word), trace_amount(word), at);
    default:
        return store(sm, word, at);
    }
}

uint64_t answers_request(Sm *sm, TraceKind kind, uint64_t word, uint64_t at, uint64_t least)
{
    Answers *a = &sm->answers;

    if (!a->on)
        return later(least, ask(sm, kind, word, at));
    if (!HAS_ROOM(sm, request))
        return sm->until + 1;
    a->requests[a->request_count++] = (Request){ kind, (uint32_t) a->answer_count, word, at };
    return add_answer(sm, (Answer){ .others = { least } });
}

void answers_repeat(Sm *twin, bool lists, TraceKind kind, uint64_t word, uint64_t at)
{
    Answers *a = &twin->answers;

    if (!lists)
        ask(twin, kind, word, at);
    else if (HAS_ROOM(twin, request))
        a->requests[a->request_count++] = (Request){ kind, NO_ANSWER, word, at };
}

/* ---- All requests of a turn ---- */

enum { CYCLES = 256 }; /* of a turn that are told apart */

static int cycle_of(const Request *r, uint64_t from)
{
    return r->at <= from ? 0 : r->at - from < CYCLES ? (int) (r->at - from) : CYCLES - 1;
}

/* Counts the requests of each cycle; returns their number. begins[c]: the number of those before
 * cycle c. */
static int count_requests(const Sm *sms, int count, uint64_t from, int begins[CYCLES])
{
    int sum = 0;

    for (int c = 0; c < CYCLES; c++)
        begins[c] = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < sms[i].answers.request_count; k++)
            begins[cycle_of(&sms[i].answers.requests[k], from)]++;
    for (int c = 0; c < CYCLES; c++) {
        const int here = begins[c];
        begins[c] = sum;
        sum += here;
    }
    return sum;
}

static bool make_room(AskedList *list, int needed)
{
    Asked *more;

    if (needed <= list->room)
        return true;
    more = realloc(list->items, 2 * (size_t) needed * sizeof *more);
    if (!more)
        return false;
    list->items = more;
    list->room = 2 * needed;
    return true;
}

static void put_in_order(AskedList *list, Sm *sms, int count, uint64_t from, int begins[CYCLES])
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < sms[i].answers.request_count; k++) {
            const Request *r = &sms[i].answers.requests[k];
            list->items[begins[cycle_of(r, from)]++] = (Asked){ &sms[i], r };
        }
}

/* Requests of twins are done; those of others are forgotten with their answers. */
static void forget_repeated(Sm *sms, int count)
{
    for (int i = 0; i < count; i++)
        if (!sms[i].answers.answer_count)
            sms[i].answers.request_count = 0;
}

bool answers_ask(AskedList *list, Sm *sms, int count, uint64_t from)
{
    enum { AHEAD = 4 };
    int begins[CYCLES];
    const int all = count_requests(sms, count, from, begins);

    if (!make_room(list, all))
        return false;
    put_in_order(list, sms, count, from, begins);
    for (int i = 0; i < all; i++) {
        const Asked *a = &list->items[i];
        const Request *r = a->request;
        if (i + AHEAD < all)
            memory_ask(a->sm->memory, trace_number(list->items[i + AHEAD].request->word));
        const uint64_t at = ask(a->sm, r->kind, r->word, r->at);
        if (r->number != NO_ANSWER)
            a->sm->answers.answers[r->number].at = at;
    }
    forget_repeated(sms, count);
    return true;
}

/* ---- The later of two times ---- */

/* Whether `b` certainly is at least as late: unknown times come after the turn. */
static bool is_later(const Sm *sm, uint64_t a, uint64_t b)
{
    return a == b || (is_unknown(b) ? a <= sm->until : !is_unknown(a) && a <= b);
}

uint64_t answers_later(Sm *sm, uint64_t a, uint64_t b)
{
    if (is_later(sm, a, b))
        return b;
    if (is_later(sm, b, a))
        return a;
    return add_answer(sm, (Answer){ .others = { a, b } });
}

Value answers_later_value(Sm *sm, Value a, Value b)
{
    if (is_later(sm, a.ready, b.ready))
        return b;
    if (is_later(sm, b.ready, a.ready))
        return a;
    return (Value){ add_answer(sm, (Answer){ .others = { a.ready, b.ready },
                                             .makers = { a.maker, b.maker } }),
                    b.maker };
}

/* ---- After the turn ---- */

static uint64_t time_of(const Answers *a, uint64_t at)
{
    return is_unknown(at) ? a->answers[at - UNKNOWN].at : at;
}

static const Operation *maker_of(const Answers *a, uint64_t at, const Operation *maker)
{
    const Operation *latest = is_unknown(at) ? a->answers[at - UNKNOWN].maker : NULL;

    return latest ? latest : maker;
}

/* An answer depends only on those before it. */
static void find_latest(const Answers *a, Answer *answer)
{
    const uint64_t first = time_of(a, answer->others[0]), second = time_of(a, answer->others[1]);
    const int latest = second >= first;

    answer->at = later(answer->at, later(first, second));
    answer->maker = maker_of(a, answer->others[latest], answer->makers[latest]);
}

static void settle_warp(const Answers *a, PlayedWarp *w)
{
    w->is_noted = false;
    w->next = time_of(a, w->next);
    w->stored = time_of(a, w->stored);
    w->copied = time_of(a, w->copied);
    for (int i = 0; i < GROUPS; i++)
        w->groups[i] = time_of(a, w->groups[i]);
}

static void wake_warps(Scheduler *s)
{
    bool any = false;

    for (int i = 0; i < s->count; i++)
        if (is_unknown(s->wake[i])) {
            scheduler_set(s, i, warp_wakes_at(s->warp[i]), s->pipe[i]);
            any = true;
        }
    if (any)
        scheduler_choose(s);
}

void answers_forget(Sm *sm)
{
    Answers *a = &sm->answers;

    a->request_count = a->answer_count = a->time_count = a->value_count = a->warp_count = 0;
}

void answers_settle(Sm *sm)
{
    Answers *a = &sm->answers;

    if (!a->answer_count)
        return;
    for (int i = 0; i < a->answer_count; i++)
        find_latest(a, &a->answers[i]);
    for (int i = 0; i < a->time_count; i++)
        *a->times[i] = time_of(a, *a->times[i]);
    for (int i = 0; i < a->value_count; i++) {
        Value *value = a->values[i];
        value->maker = maker_of(a, value->ready, value->maker);
        value->ready = time_of(a, value->ready);
    }
    for (int i = 0; i < a->warp_count; i++)
        settle_warp(a, a->warps[i]);
    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++)
        wake_warps(&sm->schedulers[i]);
    answers_forget(sm);
}
