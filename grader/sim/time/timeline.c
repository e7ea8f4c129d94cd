/* timeline.c - schedules work in time, event by event.
 *
 * An item is active once its predecessors have ended and its duration is known: it waits (for its
 * lead, then for its engine) or runs. Each step starts all items that can start, by their
 * priorities, then in order of issue, and advances to the next end of an item or of a lead, or to
 * the next time at which a kernel releases places. An engine takes the first of the ready items.
 * Kernels share the SMs (sharing.h). Copies to and from the device slow each other down while both
 * run, and copies and kernels that use the link. At each of these times the remaining time of what
 * runs is recomputed.
 */
#include "sim/time/timeline_items.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 1 << 16, NO_SPAN = -1, NO_QUEUE = -1 };

Timeline *timeline_open(int sms, int copy_engines)
{
    Timeline *timeline = calloc(1, sizeof *timeline);
    const Engine up = copy_engines ? ENGINE_UP : ENGINE_SMS;
    const Engine down = copy_engines > 1 ? ENGINE_DOWN : up;

    if (!timeline)
        return NULL;
    timeline->sharing = sharing_open(sms);
    timeline->engines[ROW_UP] = (int) up;
    timeline->engines[ROW_DOWN] = (int) down;
    timeline->engines[ROW_KERNEL] = timeline->engines[ROW_FILL] = ENGINE_SMS;
    timeline->engines[ROW_MARK] = NO_ENGINE;
    return timeline;
}

/* Only tests close a timeline, and only after all items have ended. */
void timeline_close(Timeline *timeline)
{
    if (!timeline)
        return;
    sharing_close(timeline->sharing);
    free(timeline->spans);
    free(timeline);
}

/* ---- Items ---- */

TimelineItem *timeline_add(Timeline *timeline, int stream)
{
    TimelineItem *item = timeline ? calloc(1, sizeof *item) : NULL;

    if (!item)
        return NULL;
    item->timeline = timeline;
    item->stream = stream;
    item->queue = NO_QUEUE;
    item->after = NO_ENGINE;
    item->number = ++timeline->numbers;
    item->waits = 1;
    item->users = 1;
    item->span = NO_SPAN;
    timeline->pending++;
    return item;
}

static void drop(TimelineItem *item)
{
    if (item && !--item->users)
        free(item);
}

void timeline_keep(TimelineItem **keep, TimelineItem *item)
{
    if (item)
        item->users++;
    drop(*keep);
    *keep = item;
}

static void not_before(TimelineItem *item, const TimelineItem *earlier)
{
    const Engine engine = earlier->job.row == ROW_MARK
                              ? earlier->after
                              : (Engine) item->timeline->engines[earlier->job.row];

    if (item->ready_ps > earlier->end_ps)
        return;
    item->after = item->ready_ps < earlier->end_ps || item->after == engine ? engine : NO_ENGINE;
    item->ready_ps = earlier->end_ps;
}

/* If memory is short, the dependency is lost, as is the time of an item that cannot be added. */
void timeline_after(TimelineItem *item, TimelineItem *earlier)
{
    Edge *edge;

    if (!item || !earlier)
        return;
    if (earlier->ended) {
        not_before(item, earlier);
        return;
    }
    edge = malloc(sizeof *edge);
    if (!edge)
        return;
    *edge = (Edge){ .next = earlier->later, .to = item };
    earlier->later = edge;
    item->waits++;
}

/* A copy after work of another engine occupies its own engine for half of that time
 * (tests/sim/time/mechanisms/copies.cu, buffers). */
static void set_ready(TimelineItem *item)
{
    TimelineJob *job = &item->job;
    const int own = item->timeline->engines[job->row];

    if (item->after == NO_ENGINE || job->row == ROW_MARK) {
        item->ready_ps += job->lead_ps;
    } else if (item->after == (Engine) own) {
        item->ready_ps += job->follow_ps;
    } else if (own == ENGINE_SMS) {
        item->ready_ps += job->cross_ps;
    } else {
        item->ready_ps += job->cross_ps / 2;
        job->ps += job->cross_ps - job->cross_ps / 2;
    }
}

static bool comes_before(const TimelineItem *item, const TimelineItem *other)
{
    const int priority = priority_of(item->timeline, item);
    const int others = priority_of(item->timeline, other);

    return priority == others ? item->number < other->number : priority < others;
}

static void stop_waiting(TimelineItem *item)
{
    TimelineItem **at = &item->timeline->active;

    if (--item->waits)
        return;
    if (item->job.on_host)
        item->after = NO_ENGINE;
    set_ready(item);
    while (*at && !comes_before(item, *at))
        at = &(*at)->next;
    item->next = *at;
    *at = item;
}

void timeline_done(TimelineItem *item, const TimelineJob *job)
{
    if (!item)
        return;
    item->job = *job;
    item->known = true;
    stop_waiting(item);
}

/* ---- Queues ---- */

void timeline_queue(TimelineItem *item, int queue)
{
    ItemQueue *to;

    if (!item || queue < 0 || queue >= TIMELINE_QUEUES)
        return;
    to = &item->timeline->queues[queue];
    *(to->first ? &to->last->behind : &to->first) = item;
    to->last = item;
    item->queue = queue;
}

/* Whether no item of its queue that is before it has still to begin. */
static bool is_first(const Timeline *timeline, const TimelineItem *item)
{
    const TimelineItem *at = item->queue == NO_QUEUE ? item : timeline->queues[item->queue].first;

    while (at && at != item && !at->known)
        at = at->behind;
    return at == item;
}

static void leave_queue(Timeline *timeline, TimelineItem *item)
{
    ItemQueue *queue = &timeline->queues[item->queue == NO_QUEUE ? 0 : item->queue];
    TimelineItem *before = NULL;

    if (item->queue == NO_QUEUE)
        return;
    for (TimelineItem *at = queue->first; at != item; at = at->behind)
        before = at;
    *(before ? &before->behind : &queue->first) = item->behind;
    if (queue->last == item)
        queue->last = before;
    item->behind = NULL;
    item->queue = NO_QUEUE;
}

/* ---- Spans ---- */

static long new_span(Timeline *timeline, const TimelineItem *item)
{
    TimelineSpan *span;

    timeline->span_total++;
    if (timeline->span_count == MOST_SPANS)
        return NO_SPAN;
    if (timeline->span_count == timeline->span_room) {
        const long room = timeline->span_room ? 2 * timeline->span_room : 64;
        void *bigger = realloc(timeline->spans, (size_t) room * sizeof *timeline->spans);
        if (!bigger)
            return NO_SPAN;
        timeline->spans = bigger;
        timeline->span_room = room;
    }
    span = &timeline->spans[timeline->span_count];
    *span = (TimelineSpan){ .row = item->job.row,
                            .stream = item->stream,
                            .start_ps = timeline->now_ps,
                            .end_ps = timeline->now_ps,
                            .bytes = item->job.bytes,
                            .tag = item->job.tag };
    if (item->job.name)
        strncpy(span->name, item->job.name, sizeof span->name - 1);
    return timeline->span_count++;
}

/* ---- Beginning and ending ---- */

/* Whether the front end has to turn to the item's queue. While nothing runs, it is ready for what
 * the host issues. */
static bool needs_switch(const Timeline *timeline, const TimelineItem *item)
{
    for (int i = 0; i < timeline->recents; i++)
        if (timeline->recent[i] == item->queue)
            return false;
    return timeline->recents == RECENT && (item->after == ENGINE_SMS || timeline->busy[ENGINE_SMS]);
}

/* When the device can start the item, if the SMs have a place for it. Work of one or two queues of
 * an H200 starts at once, of more queues as if it turned to one after the other
 * (tests/sim/time/mechanisms/starts.cu). */
static int64_t start_of(const Timeline *timeline, const TimelineItem *item)
{
    const int64_t ready_ps = item->ready_ps, front_ps = timeline->front_ps;

    if (!on_sms(timeline, item))
        return ready_ps;
    return (ready_ps > front_ps ? ready_ps : front_ps) +
           (needs_switch(timeline, item) ? item->job.switch_ps : 0);
}

static void use_front(Timeline *timeline, const TimelineItem *item)
{
    int at = 0;

    timeline->front_ps = timeline->now_ps + item->job.start_ps;
    while (at < timeline->recents && timeline->recent[at] != item->queue)
        at++;
    if (at == timeline->recents && at < RECENT)
        timeline->recents++;
    for (at = at < RECENT ? at : RECENT - 1; at > 0; at--)
        timeline->recent[at] = timeline->recent[at - 1];
    timeline->recent[0] = item->queue;
}

static void begin(Timeline *timeline, TimelineItem *item)
{
    if (on_sms(timeline, item))
        use_front(timeline, item);
    leave_queue(timeline, item);
    item->runs = true;
    item->turn = ++timeline->turns;
    item->speed = 1;
    item->since_ps = timeline->now_ps;
    item->left_ps = item->job.ps;
    item->end_ps = timeline->now_ps + item->job.ps;
    if (item->job.row != ROW_MARK) {
        timeline->busy[timeline->engines[item->job.row]]++;
        item->span = new_span(timeline, item);
    }
}

static bool engine_takes(const Timeline *timeline, TimelineItem *item)
{
    return on_sms(timeline, item) ? items_have_place(timeline, item)
                                  : !timeline->busy[timeline->engines[item->job.row]];
}

/* Items do not overtake each other at an engine: if one has to wait, later ones wait, too. */
static void begin_ready(Timeline *timeline)
{
    bool taken[ENGINES] = { false };

    for (TimelineItem *item = timeline->active; item; item = item->next) {
        const int engine = timeline->engines[item->job.row];
        if (item->runs || start_of(timeline, item) > timeline->now_ps || !is_first(timeline, item))
            continue;
        if (item->job.row == ROW_MARK) {
            begin(timeline, item);
        } else if (!taken[engine]) {
            taken[engine] = !engine_takes(timeline, item);
            if (!taken[engine])
                begin(timeline, item);
        }
    }
}

static void end(Timeline *timeline, TimelineItem *item)
{
    item->ended = true;
    timeline->pending--;
    if (item->job.row != ROW_MARK)
        timeline->busy[timeline->engines[item->job.row]]--;
    if (item->span >= 0)
        timeline->spans[item->span].end_ps = item->end_ps;
    while (item->later) {
        Edge *edge = item->later;
        item->later = edge->next;
        not_before(edge->to, item);
        stop_waiting(edge->to);
        free(edge);
    }
    drop(item);
}

/* Successors of an ended item are appended to the list of active items and do not run yet. */
static void end_due(Timeline *timeline)
{
    for (TimelineItem **at = &timeline->active; *at;) {
        TimelineItem *item = *at;
        if (!item->runs || item->end_ps > timeline->now_ps) {
            at = &item->next;
            continue;
        }
        *at = item->next;
        end(timeline, item);
    }
}

/* ---- Playing ---- */

static bool step(Timeline *timeline)
{
    int64_t next_ps;

    begin_ready(timeline);
    items_set_speeds(timeline);
    next_ps = timeline->release_ps;
    for (const TimelineItem *item = timeline->active; item; item = item->next) {
        const int64_t ps = item->runs ? item->end_ps : start_of(timeline, item);
        if ((item->runs || ps > timeline->now_ps) && ps < next_ps)
            next_ps = ps;
    }
    if (next_ps == INT64_MAX)
        return false;
    timeline->now_ps = next_ps;
    end_due(timeline);
    items_set_speeds(timeline);
    return true;
}

void timeline_play(Timeline *timeline, const TimelineItem *until)
{
    while (timeline && !(until && until->ended) && step(timeline))
        ;
}

bool timeline_ended(const TimelineItem *item, int64_t *ps)
{
    if (!item || !item->ended)
        return false;
    *ps = item->end_ps;
    return true;
}

long timeline_pending(const Timeline *timeline)
{
    return timeline ? timeline->pending : 0;
}

const TimelineSpan *timeline_spans(const Timeline *timeline, long *count, long *total)
{
    *count = timeline ? timeline->span_count : 0;
    *total = timeline ? timeline->span_total : 0;
    return timeline ? timeline->spans : NULL;
}

void timeline_forget(Timeline *timeline)
{
    if (!timeline)
        return;
    for (TimelineItem *item = timeline->active; item; item = item->next)
        item->span = NO_SPAN;
    timeline->span_count = timeline->span_total = 0;
}
