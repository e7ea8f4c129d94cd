/* event.c - events: a position in a stream's work that others wait for, and its time. */
#include "sim/runtime/graph.h"

#include <stdlib.h>

static cudaError_t create(cudaEvent_t *handle, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    Event *event;

    if (!handle || (flags & ~known))
        return cudaErrorInvalidValue;
    event = calloc(1, sizeof *event);
    if (!event || !handle_set(HANDLE_EVENT, event, event)) {
        free(event);
        return cudaErrorMemoryAllocation;
    }
    event->timed = !(flags & cudaEventDisableTiming);
    *handle = (cudaEvent_t) event;
    return cudaSuccess;
}

static cudaError_t destroy(Event *event)
{
    if (!event)
        return cudaErrorInvalidResourceHandle;
    handle_set(HANDLE_EVENT, event, NULL);
    last_clear(&event->last_nodes);
    record_drop(event->record);
    free(event);
    return cudaSuccess;
}

static Event *event_of(cudaEvent_t handle)
{
    return handle_get(HANDLE_EVENT, handle);
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return CALL(create(event, 0));
}

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return CALL(create(event, flags));
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return CALL(destroy(event_of(event)));
}

/* ---- Recording ---- */

static cudaError_t record(Event *event, Stream *stream)
{
    Work *work;

    if (!event || !stream)
        return cudaErrorInvalidResourceHandle;
    event->capture = stream->capture ? stream->capture->id : 0;
    last_clear(&event->last_nodes);
    if (stream->capture) /* it only marks a position in the graph */
        return last_join(&event->last_nodes, &stream->last_nodes) ? cudaSuccess
                                                                  : cudaErrorMemoryAllocation;
    work = work_new(WORK_RECORD);
    if (!work)
        return cudaErrorMemoryAllocation;
    work->record = record_new();
    if (!work->record) {
        work->kind = WORK_EMPTY; /* owns nothing */
        work_free(work);
        return cudaErrorMemoryAllocation;
    }
    record_drop(event->record);
    event->record = work->record;
    event->record->users++;
    return issue(stream, work);
}

STREAM_CALL(cudaEventRecord, per_thread, (cudaEvent_t event, cudaStream_t stream),
            record(event_of(event), stream_of(stream, per_thread)))
STREAM_CALL(cudaEventRecordWithFlags, per_thread,
            (cudaEvent_t event, cudaStream_t stream, unsigned flags),
            flags & ~(unsigned) cudaEventRecordExternal
                ? cudaErrorInvalidValue
                : record(event_of(event), stream_of(stream, per_thread)))

/* ---- Waiting ---- */

/* A stream that waits for an event of a capturing stream joins the capture. */
static cudaError_t join(Stream *stream, const Event *event)
{
    Graph *graph = graph_capturing(event->capture);

    if (!graph)
        return cudaErrorCapturedEvent;
    if (stream->capture && stream->capture != graph)
        return cudaErrorStreamCaptureMerge;
    if (stream->is_default)
        return cudaErrorStreamCaptureImplicit;
    stream->capture = graph;
    return last_join(&stream->last_nodes, &event->last_nodes) ? cudaSuccess
                                                              : cudaErrorMemoryAllocation;
}

static cudaError_t stream_wait(Stream *stream, Event *event)
{
    Work *work;

    if (!stream || !event)
        return cudaErrorInvalidResourceHandle;
    if (event->capture)
        return join(stream, event);
    if (stream->capture)
        return cudaErrorStreamCaptureIsolation;
    if (!event->record)
        return cudaSuccess;
    if (event->record->done) {
        clock_wait(stream, event->record);
        return cudaSuccess;
    }
    work = work_new(WORK_WAIT);
    if (!work)
        return cudaErrorMemoryAllocation;
    work->record = event->record;
    work->record->users++;
    return issue(stream, work);
}

/* For nodes of graphs. */
cudaError_t event_record(cudaEvent_t event, Stream *stream)
{
    return record(event_of(event), stream);
}

cudaError_t event_wait(cudaEvent_t event, Stream *stream)
{
    return stream_wait(stream, event_of(event));
}

STREAM_CALL(cudaStreamWaitEvent, per_thread,
            (cudaStream_t stream, cudaEvent_t event, unsigned flags),
            flags & ~(unsigned) cudaEventWaitExternal
                ? cudaErrorInvalidValue
                : stream_wait(stream_of(stream, per_thread), event_of(event)))

static cudaError_t synchronize(const Event *event)
{
    if (!event)
        return cudaErrorInvalidResourceHandle;
    if (event->capture)
        return cudaErrorCapturedEvent;
    if (any_capture_refuses("cudaEventSynchronize"))
        return cudaErrorStreamCaptureUnsupported;
    return event->record ? finish_record(event->record) : rt.sticky;
}

static cudaError_t query(const Event *event)
{
    if (!event)
        return cudaErrorInvalidResourceHandle;
    if (event->capture)
        return cudaErrorCapturedEvent;
    if (any_capture_refuses("cudaEventQuery"))
        return cudaErrorStreamCaptureUnsupported;
    if (!event->record)
        return rt.sticky;
    if (event->record->done)
        return finish_record(event->record);
    finish_asked(event->record->stream);
    return rt.sticky ? rt.sticky : cudaErrorNotReady;
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return CALL(synchronize(event_of(event)));
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return CALL(query(event_of(event)));
}

/* ---- Time ---- */

static cudaError_t elapsed(float *ms, const Event *start, const Event *end)
{
    if (!ms)
        return cudaErrorInvalidValue;
    if (!start || !end || !start->timed || !end->timed || !start->record || !end->record)
        return cudaErrorInvalidResourceHandle;
    if (!start->record->done || !end->record->done)
        return cudaErrorNotReady;
    *ms = (float) clock_between(start->record, end->record);
    return cudaSuccess;
}

#undef cudaEventElapsedTime /* CUDA 12's header names it _v2 */
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return CALL(elapsed(ms, event_of(start), event_of(end)));
}

API cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end);
API cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return CALL(elapsed(ms, event_of(start), event_of(end)));
}
