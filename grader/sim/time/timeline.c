/* timeline.c - schedules work in time, event by event.
 *
 * An item is active once its predecessors have ended and its duration is known: it waits (for its
 * lead, then for its engine) or runs. Each step starts all items that can start, in order of issue,
 * and advances to the next end of an item or of a lead. An engine takes the ready item that was
 * issued first. Copies to and from the device slow each other down while both run: at each start
 * and end, their remaining time is recomputed.
 */
#include "sim/time/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 1 << 16, NO_SPAN = -1 };

/* ENGINE_SMS has as many parts as there are SMs, the others have one. */
typedef enum Engine { ENGINE_UP, ENGINE_DOWN, ENGINE_SMS, ENGINES } Engine;

typedef struct Edge {
    struct Edge *next;
    TimelineItem *to;
} Edge;

struct TimelineItem {
    TimelineItem *next; /* in the list of active items */
    Timeline *timeline;
    Edge *later;     /* items that wait for this one */
    uint64_t number; /* in the order of issue */
    int stream;
    int waits; /* the number of items it waits for, + 1 until its job is known */
    int users;
    bool runs, ended;
    TimelineJob job;
    int64_t ready_ps; /* the last end of its predecessors; later with the lead added */
    int64_t left_ps;  /* at since_ps, at full speed */
    int64_t since_ps, end_ps;
    double speed;
    long span;
};

struct Timeline {
    int engines[ROWS]; /* of each row */
    int parts[ENGINES], busy[ENGINES];
    TimelineItem *active; /* by number */
    uint64_t numbers;
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
    timeline->parts[ENGINE_UP] = timeline->parts[ENGINE_DOWN] = 1;
    timeline->parts[ENGINE_SMS] = sms;
    timeline->engines[ROW_UP] = (int) up;
    timeline->engines[ROW_DOWN] = (int) down;
    timeline->engines[ROW_KERNEL] = timeline->engines[ROW_FILL] = ENGINE_SMS;
    return timeline;
}

/* Only tests close a timeline, and only after all items have ended. */
void timeline_close(Timeline *timeline)
{
    if (timeline)
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
    stop_waiting(item);
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

static int parts_of(const Timeline *timeline, const TimelineItem *item)
{
    const int parts = timeline->parts[timeline->engines[item->job.row]];

    return item->job.row == ROW_KERNEL && item->job.sms < parts ? item->job.sms : parts;
}

static void set_speed(TimelineItem *item, int64_t now_ps, double speed)
{
    item->left_ps -= llround((double) (now_ps - item->since_ps) * item->speed);
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

/* Called when an item has begun or ended: copies are slower while the link is busy both ways. */
static void set_speeds(Timeline *timeline)
{
    const bool both = runs_in(timeline, ROW_UP) && runs_in(timeline, ROW_DOWN);

    for (TimelineItem *item = timeline->active; item; item = item->next) {
        const bool copies = item->job.row == ROW_UP || item->job.row == ROW_DOWN;
        const double speed = copies && both ? item->job.shared : 1;
        if (item->runs && item->speed != speed)
            set_speed(item, timeline->now_ps, speed);
    }
}

static void begin(Timeline *timeline, TimelineItem *item)
{
    item->runs = true;
    item->speed = 1;
    item->since_ps = timeline->now_ps;
    item->left_ps = item->job.ps;
    item->end_ps = timeline->now_ps + item->job.ps;
    if (item->job.row != ROW_MARK) {
        timeline->busy[timeline->engines[item->job.row]] += parts_of(timeline, item);
        item->span = new_span(timeline, item);
    }
}

/* Items do not overtake each other at an engine: if one does not fit, later ones wait, too. */
static void begin_ready(Timeline *timeline)
{
    bool taken[ENGINES] = { false };

    for (TimelineItem *item = timeline->active; item; item = item->next) {
        const int engine = timeline->engines[item->job.row];
        if (item->runs || item->ready_ps > timeline->now_ps)
            continue;
        if (item->job.row == ROW_MARK) {
            begin(timeline, item);
        } else if (!taken[engine]) {
            taken[engine] =
                timeline->busy[engine] + parts_of(timeline, item) > timeline->parts[engine];
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
        timeline->busy[timeline->engines[item->job.row]] -= parts_of(timeline, item);
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

static bool step(Timeline *timeline)
{
    int64_t next_ps = INT64_MAX;

    begin_ready(timeline);
    set_speeds(timeline);
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
