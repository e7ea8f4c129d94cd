/* timeline.h - when work runs on the modelled device: streams and engines side by side.
 *
 * An item comes after others (its stream's last one, what it waits for, the host's last wait) and
 * takes an engine for a time. Items are added as they are issued; how long one takes is often known
 * only when it was done, which may be much later. Nothing is scheduled before timeline_play().
 *
 * Times are whole picoseconds, so that simultaneous events are recognised exactly.
 */
#ifndef SIM_TIME_TIMELINE_H
#define SIM_TIME_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Timeline Timeline;
typedef struct TimelineItem TimelineItem;

/* The engine that a piece of work occupies, and its row in the chart. MARK: none, it only has a
 * time. */
typedef enum TimelineRow { ROW_UP, ROW_KERNEL, ROW_FILL, ROW_DOWN, ROW_MARK, ROWS } TimelineRow;

typedef struct TimelineJob {
    TimelineRow row;
    int sms;         /* of a kernel: that it needs; of the others as good as all */
    int64_t lead_ps; /* from being ready to requesting the engine; no other item waits for it */
    int64_t ps;      /* its duration if it has the device to itself */
    double
        shared; /* of a copy up or down: its speed while the link is busy both ways, 1: the same */
    double bytes; /* for the report */
    const char *name;
} TimelineJob;

/* A scheduled item. */
typedef struct TimelineSpan {
    TimelineRow row;
    int stream;
    int64_t start_ps, end_ps;
    double bytes;
    char name[40]; /* of a kernel, cut off */
} TimelineSpan;

/* NULL: no memory. copy_engines: 2 or more: one per direction; 1: one for both; 0: copies block the
 * SMs. */
Timeline *timeline_open(int sms, int copy_engines);
void timeline_close(Timeline *timeline);

/* Of the stream `stream`; the later one of items that wait for the same engine is added later.
 * NULL: no memory; all functions take that, and do nothing. */
TimelineItem *timeline_add(Timeline *timeline, int stream);
void timeline_after(TimelineItem *item, TimelineItem *earlier);
/* Sets the item's duration: once per item; after that, no timeline_after() for it. */
void timeline_done(TimelineItem *item, const TimelineJob *job);

/* An item may be asked about as long as it is kept: `*keep` keeps it in place of another. */
void timeline_keep(TimelineItem **keep, TimelineItem *item);

/* Schedules items until `until` has ended (NULL: all items that can be scheduled). Items added
 * later begin after that time. */
void timeline_play(Timeline *timeline, const TimelineItem *until);
bool timeline_ended(const TimelineItem *item, int64_t *ps);
long timeline_pending(const Timeline *timeline); /* items that have not ended */

/* The scheduled items that have ended, in the order of their starts; if there are very many, only
 * the first ones. `total`: all. */
const TimelineSpan *timeline_spans(const Timeline *timeline, long *count, long *total);
void timeline_forget(Timeline *timeline); /* the spans */

#endif
