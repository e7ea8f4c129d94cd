/* timeline.c - schedules work in time, event by event.
 *
 * An item is active once its predecessors have ended and its duration is known: it waits (for its
 * lead, then for its engine) or runs. Each step starts all items that can start, in order of issue,
 * and advances to the next end of an item or of a lead, or to the next time at which a kernel
 * releases places. An engine takes the ready item that was issued first. Kernels share the SMs
 * (sharing.h). Copies to and from the device slow each other down while both run. At each of these
 * times the remaining time of what runs is recomputed.
 */
#include "sim/time/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 1 << 16, NO_SPAN = -1, NO_QUEUE = -1 };

/* ENGINE_SMS runs several items at a time, the others one. */
typedef enum Engine { ENGINE_UP, ENGINE_DOWN, ENGINE_SMS, ENGINES } Engine;

typedef struct Edge {
    struct Edge *next;
    TimelineItem *to;
} Edge;

/* Items that have not begun, in the order of issue. */
typedef struct ItemQueue {
    TimelineItem *first, *last;
} ItemQueue;

struct TimelineItem {
    TimelineItem *next;   /* in the list of active items */
    TimelineItem *behind; /* in its queue */
    Timeline *timeline;
    Edge *later;     /* items that wait for this one */
    uint64_t number; /* in the order of issue */
    int stream, queue;
    int waits; /* the number of items it waits for, + 1 until its job is known */
    int users;
    bool known, runs, ended; /* known: its job is */
    uint64_t turn;           /* in the order in which items began */
    TimelineJob job;
    int64_t ready_ps; /* the last end of its predecessors; later with the lead added */
    int64_t left_ps;  /* at since_ps, at full speed */
    int64_t since_ps, end_ps;
    double speed;
    long span;
};

struct Timeline {
    int engines[ROWS]; /* of each row */
    int busy[ENGINES]; /* the number of items that run */
    Sharing *sharing;
    TimelineItem *active; /* by number */
    ItemQueue queues[TIMELINE_QUEUES];
    uint64_t numbers, turns;
    int64_t release_ps; /* when a kernel next releases places for which others wait */
    long pending;
    int64_t now_ps;
    TimelineSpan *spans;
    long span_count, span_room, span_total;
};

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

static void not_before(TimelineItem *item, int64_t ps)
{
    if (item->ready_ps < ps)
        item->ready_ps = ps;
}

/* If memory is short, the dependency is lost, as is the time of an item that cannot be added. */
void timeline_after(TimelineItem *item, TimelineItem *earlier)
{
    Edge *edge;

    if (!item || !earlier)
        return;
    if (earlier->ended) {
        not_before(item, earlier->end_ps);
        return;
    }
    edge = malloc(sizeof *edge);
    if (!edge)
        return;
    *edge = (Edge){ .next = earlier->later, .to = item };
    earlier->later = edge;
    item->waits++;
}

static void stop_waiting(TimelineItem *item)
{
    TimelineItem **at = &item->timeline->active;

    if (--item->waits)
        return;
    item->ready_ps += item->job.lead_ps;
    while (*at && (*at)->number < item->number)
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

/* ---- Speeds ---- */

static bool on_sms(const Timeline *timeline, const TimelineItem *item)
{
    return item->job.row != ROW_MARK && timeline->engines[item->job.row] == ENGINE_SMS;
}

static int64_t left_at(const TimelineItem *item, int64_t now_ps)
{
    return item->left_ps - llround((double) (now_ps - item->since_ps) * item->speed);
}

static void set_speed(TimelineItem *item, int64_t now_ps, double speed)
{
    item->left_ps = left_at(item, now_ps);
    item->since_ps = now_ps;
    item->speed = speed;
    item->end_ps = now_ps + (item->left_ps > 0 ? llround((double) item->left_ps / speed) : 0);
}

static bool runs_in(const Timeline *timeline, TimelineRow row)
{
    for (const TimelineItem *item = timeline->active; item; item = item->next)
        if (item->runs && item->job.row == row)
            return true;
    return false;
}

/* Copies are slower while the link is busy both ways. */
static void set_speeds_of_copies(Timeline *timeline)
{
    const bool both = runs_in(timeline, ROW_UP) && runs_in(timeline, ROW_DOWN);

    for (TimelineItem *item = timeline->active; item; item = item->next) {
        const bool copies = item->job.row == ROW_UP || item->job.row == ROW_DOWN;
        const double speed = both ? item->job.shared : 1;
        if (item->runs && copies && !on_sms(timeline, item) && item->speed != speed)
            set_speed(item, timeline->now_ps, speed);
    }
}

/* ---- Sharing the SMs ---- */

enum { MOST_SHARERS = 128 }; /* as many kernels as a GPU runs at the same time */

typedef struct Sharers {
    int count;
    TimelineItem *items[MOST_SHARERS];
    Sharer kernels[MOST_SHARERS];
} Sharers;

static void add_sharer(Sharers *all, TimelineItem *item, int64_t now_ps)
{
    const double left = item->runs ? (double) left_at(item, now_ps) : (double) item->job.ps;

    all->items[all->count] = item;
    all->kernels[all->count++] = (Sharer){
        .use = &item->job.use,
        .done = item->job.ps > 0 ? fmin(1, 1 - left / (double) item->job.ps) : 1,
    };
}

/* What runs on the SMs, in the order in which it began. */
static void find_sharers(const Timeline *timeline, Sharers *all)
{
    all->count = 0;
    for (TimelineItem *item = timeline->active; item; item = item->next) {
        int at = all->count;
        if (!item->runs || !on_sms(timeline, item))
            continue;
        add_sharer(all, item, timeline->now_ps);
        for (; at > 0 && all->items[at - 1]->turn > item->turn; at--) {
            const Sharer kernel = all->kernels[at];
            all->items[at] = all->items[at - 1];
            all->kernels[at] = all->kernels[at - 1];
            all->items[at - 1] = item;
            all->kernels[at - 1] = kernel;
        }
    }
}

/* Whether the SMs have a place for an item that is ready. */
static bool has_place(const Timeline *timeline, TimelineItem *item)
{
    Sharers all;

    if (!timeline->busy[ENGINE_SMS])
        return true;
    if (timeline->busy[ENGINE_SMS] >= MOST_SHARERS)
        return false;
    find_sharers(timeline, &all);
    add_sharer(&all, item, timeline->now_ps);
    sharing_set_speeds(timeline->sharing, all.kernels, all.count);
    return all.kernels[all.count - 1].speed > 0;
}

/* When this kernel next releases places. */
static int64_t release_of(const TimelineItem *item, double done, int64_t now_ps)
{
    const double next = sharing_next_release(&item->job.use, done);
    const int64_t after_ps = llround((next - done) * (double) item->job.ps / item->speed);

    return next < 1 ? now_ps + (after_ps > 1 ? after_ps : 1) : INT64_MAX;
}

static void set_speeds_of_kernels(Timeline *timeline)
{
    const double least = 1.0 / 1024; /* of a kernel that loses its last places to rounding */
    Sharers all;

    timeline->release_ps = INT64_MAX;
    if (!timeline->busy[ENGINE_SMS])
        return;
    find_sharers(timeline, &all);
    sharing_set_speeds(timeline->sharing, all.kernels, all.count);
    for (int i = 0; i < all.count; i++) {
        const double speed = fmax(least, all.kernels[i].speed);
        if (all.items[i]->speed != speed)
            set_speed(all.items[i], timeline->now_ps, speed);
        const int64_t ps = release_of(all.items[i], all.kernels[i].done, timeline->now_ps);
        if (ps < timeline->release_ps)
            timeline->release_ps = ps;
    }
}

/* ---- Beginning and ending ---- */

static void begin(Timeline *timeline, TimelineItem *item)
{
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
    return on_sms(timeline, item) ? has_place(timeline, item)
                                  : !timeline->busy[timeline->engines[item->job.row]];
}

/* Items do not overtake each other at an engine: if one has to wait, later ones wait, too. */
static void begin_ready(Timeline *timeline)
{
    bool taken[ENGINES] = { false };

    for (TimelineItem *item = timeline->active; item; item = item->next) {
        const int engine = timeline->engines[item->job.row];
        if (item->runs || item->ready_ps > timeline->now_ps || !is_first(timeline, item))
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
        not_before(edge->to, item->end_ps);
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

static void set_speeds(Timeline *timeline)
{
    set_speeds_of_copies(timeline);
    set_speeds_of_kernels(timeline);
}

static bool step(Timeline *timeline)
{
    int64_t next_ps;

    begin_ready(timeline);
    set_speeds(timeline);
    next_ps = timeline->release_ps;
    for (const TimelineItem *item = timeline->active; item; item = item->next) {
        const int64_t ps = item->runs ? item->end_ps : item->ready_ps;
        if ((item->runs || ps > timeline->now_ps) && ps < next_ps)
            next_ps = ps;
    }
    if (next_ps == INT64_MAX)
        return false;
    timeline->now_ps = next_ps;
    end_due(timeline);
    set_speeds(timeline);
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
