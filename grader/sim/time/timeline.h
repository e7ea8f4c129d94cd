/* timeline.h - models when work runs on the device: streams and engines run concurrently.
 *
 * An item starts after other items (the last one of its stream, items that it waits for, the host's
 * last wait) and occupies an engine for some time. Items are added as they are issued. The duration
 * of an item is often known only after it was executed, which may be much later. Items are not
 * scheduled before timeline_play().
 *
 * Work on the SMs of a higher priority begins before other work that waits. Of a kernel of lower
 * priority that runs and has more blocks, it takes the places when a wave of blocks has ended
 * (tests/sim/time/mechanisms/priorities.cu).
 *
 * The device takes the work of its queues in the order of issue: an item begins after all items of
 * its queue that were added before it and whose duration is known have begun. So one that waits
 * holds up those behind it, even of other streams. Work on the SMs starts one after the other, and
 * more slowly when the device has to turn to another queue.
 *
 * Times are whole picoseconds, so that simultaneous events are recognised exactly.
 */
#ifndef SIM_TIME_TIMELINE_H
#define SIM_TIME_TIMELINE_H

#include "sim/time/sharing.h"

#include <stddef.h>
#include <stdint.h>

enum { TIMELINE_QUEUES = 192 };

typedef struct Timeline Timeline;
typedef struct TimelineItem TimelineItem;

/* The engine that a piece of work occupies, and its row in the chart. MARK: no engine, only a time.
 */
typedef enum TimelineRow { ROW_UP, ROW_KERNEL, ROW_FILL, ROW_DOWN, ROW_MARK, ROWS } TimelineRow;

typedef struct TimelineJob {
    TimelineRow row;
    KernelUse use; /* of work on the SMs */
    int priority;  /* of work on the SMs: lower numbers come first */
    /* From being ready to requesting the engine, for which others need not wait: in general; if it
     * is ready since work of this engine has ended; if that was work of another engine. */
    int64_t lead_ps, follow_ps, cross_ps;
    /* From its start until other work on the SMs may start; how much later it starts if that is
     * another queue's turn. */
    int64_t start_ps, switch_ps;
    int64_t ps;    /* its duration if nothing else runs on the device */
    bool on_host;  /* of a MARK: the host is there */
    double shared; /* relative speed of a copy while the link is busy in both directions */
    double bytes;  /* for the report */
    const char *name;
    uint64_t tag; /* the caller's, for its span */
} TimelineJob;

/* A scheduled item. */
typedef struct TimelineSpan {
    TimelineRow row;
    int stream;
    int64_t start_ps, end_ps;
    double bytes;
    uint64_t tag;
    char name[40]; /* of a kernel, truncated */
} TimelineSpan;

/* copy_engines: 2 or more: one per direction; 1: one for both; 0: copies block the SMs. NULL: out
 * of memory. */
Timeline *timeline_open(int sms, int copy_engines);
void timeline_close(Timeline *timeline);

/* Adds an item to stream number `stream`. Items that wait for the same engine get it in the order
 * in which they were added. NULL: out of memory; all functions accept NULL and do nothing. */
TimelineItem *timeline_add(Timeline *timeline, int stream);
void timeline_after(TimelineItem *item, TimelineItem *earlier);
/* Puts the item into a queue, which has a number below TIMELINE_QUEUES; call it before the next
 * item is added. */
void timeline_queue(TimelineItem *item, int queue);
/* Sets the item's duration. Call it once per item, after all timeline_after() calls for it. */
void timeline_done(TimelineItem *item, const TimelineJob *job);

/* An item can be queried while it is kept: `*keep` releases its present item and keeps this one. */
void timeline_keep(TimelineItem **keep, TimelineItem *item);

/* Schedules items until `until` has ended (NULL: all items that can be scheduled). Items added
 * later begin after that time. */
void timeline_play(Timeline *timeline, const TimelineItem *until);
bool timeline_ended(const TimelineItem *item, int64_t *ps);
long timeline_pending(const Timeline *timeline); /* items that have not ended */

/* The items that have ended, in order of their starts; if there are very many, only the first ones.
 * `total`: the number of all such items. */
const TimelineSpan *timeline_spans(const Timeline *timeline, long *count, long *total);
void timeline_forget(Timeline *timeline); /* the spans */

#endif
