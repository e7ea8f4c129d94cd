/* sim_timeline.h - programs whose work is scheduled by hand.
 *
 * Times in the tests are whole microseconds, except where a rate causes fractions. Rows: U copy to
 * the device, K kernel on all SMs, k kernel on half of them, F fill, D copy from the device.
 */
#ifndef SIM_SIM_TIMELINE_H
#define SIM_SIM_TIMELINE_H

#include "sim/time/timeline.h"

#include <CUnit/CUnit.h>

enum { SMS = 8, STREAMS = 4, MOST = 32 };

static const int64_t us = 1000000;

/* A program: the last item of each stream, the host's last wait, and all issued items. */
typedef struct Program {
    Timeline *timeline;
    TimelineItem *last[STREAMS], *host, *items[MOST];
    int count;
} Program;

static inline Program begin(int copy_engines)
{
    Program program = { .timeline = timeline_open(SMS, copy_engines) };

    CU_ASSERT_PTR_NOT_NULL_FATAL(program.timeline);
    return program;
}

static inline void finish(Program *p)
{
    timeline_play(p->timeline, NULL);
    CU_ASSERT_EQUAL(timeline_pending(p->timeline), 0);
    for (int i = 0; i < p->count; i++)
        timeline_keep(&p->items[i], NULL);
    for (int s = 0; s < STREAMS; s++)
        timeline_keep(&p->last[s], NULL);
    timeline_keep(&p->host, NULL);
    timeline_close(p->timeline);
}

/* Issues an item of unknown duration; returns its number. */
static inline int add(Program *p, int stream)
{
    TimelineItem *item = timeline_add(p->timeline, stream);

    CU_ASSERT_FATAL(p->count < MOST);
    timeline_after(item, p->last[stream]);
    timeline_after(item, p->host);
    timeline_keep(&p->last[stream], item);
    timeline_keep(&p->items[p->count], item);
    return p->count++;
}

static inline TimelineJob job(char row, double length_us)
{
    return (TimelineJob){ .row = row == 'U'   ? ROW_UP
                                 : row == 'D' ? ROW_DOWN
                                 : row == 'F' ? ROW_FILL
                                 : row == 'M' ? ROW_MARK
                                              : ROW_KERNEL,
                          .use = { .blocks = row == 'k' ? SMS / 2 : SMS,
                                   .waves = 1,
                                   .part = { [PART_WARPS] = 1 },
                                   .tail = { .begins = 1 } },
                          .ps = (int64_t) (length_us * 1e6),
                          .shared = 1 };
}

static inline void done(Program *p, int item, char row, double length_us)
{
    const TimelineJob known = job(row, length_us);

    timeline_done(p->items[item], &known);
}

static inline int issue(Program *p, int stream, char row, double length_us)
{
    const int item = add(p, stream);

    done(p, item, row, length_us);
    return item;
}

/* The host waits for an item. */
static inline void wait_for(Program *p, int item)
{
    TimelineItem *mark = timeline_add(p->timeline, 0);
    const TimelineJob none = { .row = ROW_MARK };

    timeline_after(mark, p->host);
    timeline_after(mark, p->items[item]);
    timeline_done(mark, &none);
    timeline_keep(&p->host, mark);
    timeline_play(p->timeline, mark);
}

/* Microseconds; -1: it has not ended. */
static inline double end_of(const Program *p, int item)
{
    int64_t ps;

    return timeline_ended(p->items[item], &ps) ? (double) ps / (double) us : -1;
}

#define ENDS(item, at) CU_ASSERT_EQUAL(end_of(&p, item), at)

#endif
