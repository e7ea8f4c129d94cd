/* timeline_items.h - a timeline's items and engines, shared by the files that begin and end them
 * (timeline.c) and that tell how fast they are meanwhile (timeline_speed.c).
 */
#ifndef SIM_TIME_TIMELINE_ITEMS_H
#define SIM_TIME_TIMELINE_ITEMS_H

#include "sim/time/timeline.h"

/* ENGINE_SMS runs several items at a time, the others one. */
typedef enum Engine { ENGINE_UP, ENGINE_DOWN, ENGINE_SMS, ENGINES, NO_ENGINE } Engine;

typedef struct Edge {
    struct Edge *next;
    TimelineItem *to;
} Edge;

enum { RECENT = 2 }; /* queues from which the front end can start work without a switch */

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
    Engine after;            /* it is ready since work of this engine has ended */
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
    TimelineItem *active; /* by priority, then by number */
    ItemQueue queues[TIMELINE_QUEUES];
    uint64_t numbers, turns;
    int64_t release_ps;          /* when a kernel next releases places for which others wait */
    int64_t front_ps;            /* when the device's front end is free to start work on the SMs */
    int recent[RECENT], recents; /* the queues whose work it has started last, latest first */
    long pending;
    int64_t now_ps;
    TimelineSpan *spans;
    long span_count, span_room, span_total;
};

static inline bool on_sms(const Timeline *timeline, const TimelineItem *item)
{
    return item->job.row != ROW_MARK && timeline->engines[item->job.row] == ENGINE_SMS;
}

/* The priority of work on the SMs; other work has none. */
static inline int priority_of(const Timeline *timeline, const TimelineItem *item)
{
    return on_sms(timeline, item) ? item->job.priority : 0;
}

/* Whether the SMs have a place for an item that is ready. */
bool items_have_place(const Timeline *timeline, TimelineItem *item);
/* Sets the speeds of all that run, and when a kernel next releases places. */
void items_set_speeds(Timeline *timeline);

#endif
