/* clock.c - the simulated clock.
 *
 * With SIM_TIME it is a timeline (timeline.h). Each piece of work becomes an item when it is issued
 * and comes after everything that it must wait for by CUDA's rules; its duration is known when it
 * has been executed. The host is a chain of marks: one for each kernel, copy, fill or graph that it
 * issues, which takes a time, and one for each call that waited for work. New work comes after the
 * last mark. All host threads share this chain.
 *
 * The order of execution does not depend on the timeline, so work is scheduled late: when nothing
 * is left to execute, or when a program reads a time. Work that was issued before that but executed
 * after it is scheduled later.
 *
 * Without SIM_TIME there is one clock: a kernel takes 1 us plus 1 ns per warp instruction, a copy 1
 * us plus its bytes at 10 GB/s.
 */
#include "sim/runtime/runtime.h"
#include "sim/report/report.h"
#include "sim/time/timeline.h"

#include <math.h>

enum { MOST_PENDING = 4096 }; /* items that are kept until no work is left */

static Timeline *timeline;
static TimelineItem *host; /* its last mark */

static bool is_open(void)
{
    if (rt.settings.time && !timeline) {
        timeline = timeline_open(rt.device.sms, rt.device.copy_engines);
        report_timeline(timeline);
    }
    return timeline;
}

/* With several threads the order of work differs from run to run, so it is not reported. */
static void note_thread(void)
{
    static int threads;
    static _Thread_local int number;

    if (!number)
        number = ++threads;
    if (number > 1)
        report_timeline(NULL);
}

static const TimelineJob mark = { .row = ROW_MARK };
static const TimelineJob host_mark = { .row = ROW_MARK, .on_host = true };

/* ---- The device's work ---- */

/* The rules of do_before_first() in sim/runtime/work.c. */
static void after_others(TimelineItem *item, const Stream *stream)
{
    if (stream->is_default) {
        for (const Stream *other = rt.streams; other; other = other->next)
            if (other->blocking)
                timeline_after(item, other->item);
    } else if (stream->blocking) {
        timeline_after(item, rt.streams->item);
    }
}

void clock_keep(TimelineItem **keep, const Stream *stream)
{
    timeline_keep(keep, stream->item);
}

void clock_continue(Stream *stream, TimelineItem *item)
{
    timeline_keep(&stream->item, item);
}

void clock_join(Stream *stream, TimelineItem *other)
{
    TimelineItem *item;

    if (!other || other == stream->item)
        return;
    item = clock_add(stream);
    timeline_after(item, stream->item);
    timeline_after(item, other);
    timeline_done(item, &mark);
    timeline_keep(&stream->item, item);
}

/* Copies over the link have queues of their own, as have the events that follow them. So have the
 * branches of graphs. */
static bool uses_queue(const Work *work)
{
    if (work->of_graph)
        return false;
    if (work->kind == WORK_COPY)
        work->stream->on_link = work->copy.to_device != work->copy.from_device;
    else if (work->kind == WORK_PREFETCH)
        work->stream->on_link = true;
    else if (work->kind != WORK_RECORD && work->kind != WORK_WAIT)
        work->stream->on_link = false;
    return !work->stream->on_link;
}

static TimelineItem *add(Stream *stream, bool in_queue)
{
    TimelineItem *item = timeline_add(timeline, stream->id - 1);

    if (in_queue)
        timeline_queue(item, stream->queue);
    timeline_after(item, host);
    timeline_after(item, stream->item);
    after_others(item, stream);
    timeline_keep(&stream->item, item);
    return item;
}

/* The host continues after this time. */
static void host_works(int64_t ps)
{
    TimelineItem *item = timeline_add(timeline, 0);
    TimelineJob job = host_mark;

    job.ps = ps;
    timeline_after(item, host);
    timeline_done(item, &job);
    timeline_keep(&host, item);
}

static void host_issues(void)
{
    if (rt.device.issue_us > 0)
        host_works(llround(rt.device.issue_us * 1e6));
}

/* The nodes of a graph are issued together. */
static bool is_issued_alone(const Work *work)
{
    return !work->of_graph && (work->kind == WORK_KERNEL || work->kind == WORK_COPY ||
                               work->kind == WORK_FILL || work->kind == WORK_PREFETCH);
}

void clock_issue_graph(void)
{
    if (is_open())
        host_issues();
}

/* Later work comes after the children of a kernel. */
static bool may_have_children(const Work *work)
{
    return work->kind == WORK_KERNEL && work->kernel.function->owner->launches;
}

TimelineItem *clock_add(const Stream *stream)
{
    return timeline_add(timeline, stream->id - 1);
}

/* The host itself fills the staging buffer of a pageable upload. Then the call returns, even if the
 * stream has other work before the copy. */
void clock_issue(Work *work)
{
    if (!is_open())
        return;
    note_thread();
    if (is_issued_alone(work))
        host_issues();
    work->item = add(work->stream, uses_queue(work));
    if (may_have_children(work))
        work->complete = add(work->stream, false);
    if (work->kind == WORK_WAIT)
        timeline_after(work->item, work->record->item);
    else if (work->kind == WORK_RECORD)
        timeline_keep(&work->record->item, work->item);
    else if (work->kind == WORK_COPY && work->copy.staged)
        host_works(time_job(work).ps);
}

static double plain_ms(const Work *work)
{
    switch (work->kind) {
    case WORK_KERNEL:
        return 1e-3 + (double) work->executed * 1e-6;
    case WORK_COPY:
        return 1e-3 +
               (double) work->copy.width * (double) (work->copy.height * work->copy.depth) * 1e-7;
    case WORK_FILL:
        return 1e-3 + (double) work->fill.width * (double) work->fill.height * 1e-7;
    default:
        return 0;
    }
}

void clock_done(Work *work)
{
    const TimelineJob job = time_job(work);

    rt.clock_ms += plain_ms(work);
    timeline_done(work->item, &job);
    work->item = NULL;
}

void clock_complete(Work *work)
{
    timeline_done(work->complete, &mark);
    work->complete = NULL;
}

void clock_drop(Work *work)
{
    timeline_done(work->item, &mark);
    work->item = NULL;
    clock_complete(work);
}

void clock_wait(Stream *stream, const Record *record)
{
    TimelineItem *item;

    if (!is_open())
        return;
    item = add(stream, !stream->on_link);
    timeline_after(item, record->item);
    timeline_done(item, &mark);
}

void clock_forget(TimelineItem **item)
{
    timeline_keep(item, NULL);
}

/* ---- The host ---- */

static bool is_idle(void)
{
    for (const Stream *stream = rt.streams; stream; stream = stream->next)
        if (stream->first)
            return false;
    return true;
}

static TimelineItem *new_wait(void)
{
    TimelineItem *item = timeline_add(timeline, 0);

    timeline_after(item, host);
    return item;
}

static void waited(TimelineItem *item)
{
    timeline_done(item, &host_mark);
    if (item)
        timeline_keep(&host, item);
    if (is_idle() || timeline_pending(timeline) > MOST_PENDING)
        timeline_play(timeline, host);
}

void clock_waited(const Stream *stream)
{
    TimelineItem *item;

    if (!is_open())
        return;
    item = new_wait();
    for (const Stream *other = rt.streams; other; other = other->next)
        if (!stream || other == stream || (stream->is_default && other->blocking))
            timeline_after(item, other->item);
    waited(item);
}

void clock_waited_record(const Record *record)
{
    TimelineItem *item;

    if (!is_open())
        return;
    item = new_wait();
    timeline_after(item, record->item);
    waited(item);
}

void clock_waited_piece(TimelineItem **piece)
{
    TimelineItem *item;

    if (*piece) {
        item = new_wait();
        timeline_after(item, *piece);
        waited(item);
    }
    timeline_keep(piece, NULL);
}

/* ---- Times of events ---- */

/* A caller that gets a time knows that both events have completed. */
double clock_between(const Record *start, const Record *end)
{
    int64_t from, to;

    if (!is_open())
        return end->ms - start->ms;
    clock_waited_record(start);
    clock_waited_record(end);
    timeline_play(timeline, host);
    if (!timeline_ended(start->item, &from) || !timeline_ended(end->item, &to))
        return 0;
    return (double) (to - from) / 1e9 + (to > from ? rt.device.event_us / 1e3 : 0);
}

void clock_report(void)
{
    timeline_play(timeline, NULL);
}
