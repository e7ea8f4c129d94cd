/* work.c - queues of work, and the order in which work is executed.
 *
 * Work is numbered as it is issued. A piece of work is executed after
 * - all earlier work in its stream;
 * - in the default stream, all earlier work in the streams that synchronise with it;
 * - in a stream that synchronises with the default stream, all earlier work there;
 * - the work for which it waits explicitly.
 * All this work has smaller numbers, so the recursion ends and does not enter a stream twice.
 *
 * The lock is released while a host function runs. The stream is busy then, and other threads wait
 * for it. They cannot wait for each other in a cycle, since the numbers only decrease.
 */
#include "sim/runtime/runtime.h"
#include "sim/time/timeline.h"

#include <stdlib.h>
#include <string.h>

/* ---- Recordings ---- */

Record *record_new(void)
{
    Record *record = calloc(1, sizeof *record);

    if (record)
        record->users = 1;
    return record;
}

void record_drop(Record *record)
{
    if (!record || --record->users)
        return;
    clock_forget(&record->item);
    free(record);
}

/* ---- Work ---- */

Work *work_new(WorkKind kind)
{
    Work *work = calloc(1, sizeof *work);

    if (work)
        work->kind = kind;
    return work;
}

static bool duplicate(void **bytes, size_t count)
{
    void *copy = malloc(count + !count);

    if (copy && count)
        memcpy(copy, *bytes, count);
    *bytes = copy;
    return copy;
}

/* Also copies the data that the work owns. */
Work *work_copy(const Work *work)
{
    Work *copy = work_new(work->kind);
    bool whole = true;

    if (!copy)
        return NULL;
    *copy = *work;
    copy->next = NULL;
    copy->held = NULL;
    if (work->kind == WORK_KERNEL && work->kernel.params) {
        void *params = work->kernel.params;
        whole = duplicate(&params, work->kernel.param_bytes);
        copy->kernel.params = params;
    } else if (work->kind == WORK_COPY && work->copy.staged) {
        whole =
            duplicate(&copy->copy.staged, work->copy.width * work->copy.height * work->copy.depth);
    } else if (work->kind == WORK_RECORD || work->kind == WORK_WAIT) {
        copy->record->users++;
    }
    if (whole)
        return copy;
    free(copy);
    return NULL;
}

void work_free(Work *work)
{
    if (!work)
        return;
    if (work->kind == WORK_KERNEL)
        free(work->kernel.params);
    else if (work->kind == WORK_COPY)
        free(work->copy.staged);
    else if (work->kind == WORK_RECORD || work->kind == WORK_WAIT)
        record_drop(work->record);
    held_drop(&work->held);
    free(work);
}

/* ---- Issue ---- */

cudaError_t issue(Stream *stream, Work *work)
{
    if (!work)
        return cudaErrorMemoryAllocation;
    if (!stream) {
        work_free(work);
        return cudaErrorInvalidResourceHandle;
    }
    if (stream->capture)
        return graph_capture(stream, work);
    work->stream = stream;
    work->number = ++rt.numbers;
    if (work->kind == WORK_RECORD) {
        work->record->stream = stream;
        work->record->number = work->number;
    }
    clock_issue(work);
    if (stream->last)
        stream->last->next = work;
    else
        stream->first = work;
    stream->last = work;
    return cudaSuccess;
}

/* ---- Execution ---- */

static void run_host(Work *work)
{
    const HostWork host = work->host;

    work->stream->busy = true;
    rt_inside = false;
    rt_unlock();
    rt_in_host_function = true;
    if (host.callback)
        host.callback(host.handle, rt.sticky, host.data);
    else
        host.function(host.data);
    rt_in_host_function = false;
    rt_lock();
    rt_inside = true;
    work->stream->busy = false;
    rt_wake();
}

static void set_down(Record *record)
{
    record->done = true;
    record->ms = rt.clock_ms;
}

static void run_with_children(Work *work)
{
    run_kernel(work);
    children_run(work);
}

/* After a kernel has failed, later work is not executed, but callbacks still run. */
static void run(Work *work)
{
    bool failed = rt.sticky != cudaSuccess;

    if (work->kind == WORK_RECORD)
        set_down(work->record);
    else if (work->kind == WORK_HOST && (!failed || work->host.callback))
        run_host(work);
    else if (work->kind == WORK_KERNEL && !failed)
        run_with_children(work);
    else if (work->kind == WORK_COPY && !failed)
        run_copy(&work->copy);
    else if (work->kind == WORK_FILL && !failed)
        run_fill(&work->fill);
    else if (work->kind == WORK_PREFETCH && !failed)
        managed_prefetch(&work->prefetch);
    else if ((work->kind == WORK_ALLOCATE || work->kind == WORK_FREE) && !failed)
        pool_run(work);
    clock_done(work);
    clock_complete(work);
}

static void do_recorded(Record *record)
{
    record->users++;
    if (record->stream && !record->done)
        stream_do(record->stream, record->number);
    record_drop(record);
}

/* Executes the work of other streams that must come before the stream's first work. Meanwhile
 * another thread may execute and free this work, so it is not used afterwards. */
static void do_before_first(Stream *stream)
{
    const uint64_t number = stream->first->number;

    if (stream->first->kind == WORK_WAIT)
        do_recorded(stream->first->record);
    if (stream->is_default) {
        for (Stream *other = rt.streams; other; other = other->next)
            if (other->blocking)
                stream_do(other, number);
    } else if (stream->blocking) {
        stream_do(rt.streams, number);
    }
}

static void do_first(Stream *stream)
{
    const uint64_t number = stream->first->number;
    Work *work;

    do_before_first(stream);
    if (!stream->first || stream->first->number != number || stream->busy)
        return; /* another thread has already executed it */
    work = stream->first;
    run(work);
    stream->first = work->next;
    if (!stream->first)
        stream->last = NULL;
    work_free(work);
}

void stream_do(Stream *stream, uint64_t number)
{
    stream->users++;
    while (stream->first && stream->first->number <= number) {
        if (stream->busy)
            rt_wait();
        else
            do_first(stream);
    }
    stream->users--;
}

/* ---- Waiting ---- */

/* Unordered streams may run in any order. If races are checked, the order is random, so that
 * programs which rely on luck fail; it is the same in each run. */
static Stream *any_with_work(uint64_t number)
{
    int count = 0;
    Stream *chosen = NULL;

    for (Stream *stream = rt.streams; stream; stream = stream->next)
        if (stream->first && stream->first->number <= number && !stream->busy) {
            rt.chance = rt.chance * 6364136223846793005u + 1442695040888963407u;
            if ((rt.chance >> 33) % (uint64_t) ++count == 0)
                chosen = stream;
        }
    return chosen;
}

/* Whether work of other streams must come before the stream's first work. */
static bool waits_for_others(const Stream *stream)
{
    const uint64_t number = stream->first->number;

    if (!stream->is_default)
        return stream->blocking && rt.streams->first && rt.streams->first->number < number;
    for (const Stream *other = rt.streams; other; other = other->next)
        if (other->blocking && !other->is_default && other->first && other->first->number < number)
            return true;
    return false;
}

/* Records change no memory, so they take no turn: kernels after them would come late in most
 * orders. */
static void do_records(uint64_t number)
{
    for (Stream *stream = rt.streams; stream; stream = stream->next)
        while (stream->first && stream->first->kind == WORK_RECORD &&
               stream->first->number <= number && !stream->busy && !waits_for_others(stream))
            finish_one(stream);
}

static void do_some(const Stream *until, uint64_t number)
{
    Stream *stream;

    while (rt.settings.races && (!until || (until->first && until->first->number <= number))) {
        do_records(number);
        if (!(stream = any_with_work(number)))
            return;
        finish_one(stream);
    }
}

cudaError_t finish(Stream *stream, uint64_t number)
{
    stream_do(stream, number);
    clock_waited(stream);
    return rt.sticky;
}

cudaError_t finish_record(const Record *record)
{
    if (!record->done)
        stream_do(record->stream, record->number);
    clock_waited_record(record);
    return rt.sticky;
}

/* Waiting for the default stream includes all streams that synchronise with it. */
cudaError_t finish_stream(Stream *stream)
{
    uint64_t number = rt.numbers;

    do_some(stream, number);
    if (stream->is_default)
        for (Stream *other = rt.streams; other; other = other->next)
            if (other->blocking)
                stream_do(other, number);
    finish(stream, number);
    pools_trim();
    return rt.sticky;
}

cudaError_t finish_all(void)
{
    uint64_t number = rt.numbers;

    do_some(NULL, number);
    for (Stream *stream = rt.streams; stream; stream = stream->next)
        stream_do(stream, number);
    clock_waited(NULL);
    pools_trim();
    return rt.sticky;
}

void finish_one(Stream *stream)
{
    stream->users++;
    if (stream->first && !stream->busy)
        do_first(stream);
    stream->users--;
}

/* A query executes one piece of work. In modelled time the host then waits for that piece.
 * Otherwise a host that queries once and continues would use a result before its modelled end. */
void finish_asked(Stream *stream)
{
    struct TimelineItem *piece = NULL;

    if (stream->first)
        timeline_keep(&piece, stream->first->item);
    finish_one(stream);
    clock_waited_piece(&piece);
}
