/* stream.c - streams: the default stream of the process, the per-thread default streams, and the
 * streams that the program creates. */
#include "sim/runtime/runtime.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- Making streams ---- */

/* Streams that the program creates share the device's queues in turn; each priority has queues of
 * its own. */
static int queue_of(const Stream *stream)
{
    enum { PRIORITIES = 1 - GREATEST_PRIORITY };
    static int streams[PRIORITIES];
    const int priority = abs(stream->priority) % PRIORITIES, queues = rt.settings.queues;

    return priority * queues + streams[priority]++ % queues;
}

static Stream *new_stream(bool blocking, int priority)
{
    Stream *stream = calloc(1, sizeof *stream), **last = &rt.streams;

    if (!stream)
        return NULL;
    stream->blocking = blocking;
    stream->priority = priority;
    stream->hints = hints_default();
    stream->hints.priority = priority;
    stream->queue = -1;
    stream->id = ++rt.stream_ids;
    while (*last)
        last = &(*last)->next;
    *last = stream;
    return stream;
}

Stream *stream_first(void)
{
    if (!rt.streams) {
        Stream *stream = new_stream(false, 0);
        if (stream)
            stream->is_default = true;
    }
    return rt.streams;
}

/* Frees destroyed streams, which stay until their work is done. */
static void sweep(void)
{
    for (Stream **at = &rt.streams; *at;) {
        Stream *stream = *at;
        if (stream->destroyed && !stream->first && !stream->busy && !stream->users) {
            *at = stream->next;
            clock_forget(&stream->item);
            last_clear(&stream->last_nodes);
            free(stream);
        } else {
            at = &stream->next;
        }
    }
}

void streams_drop(void)
{
    for (Stream *stream = rt.streams; stream; stream = stream->next) {
        while (stream->busy) /* a host function is running */
            rt_wait();
        while (stream->first) {
            Work *work = stream->first;
            stream->first = work->next;
            if (work->kind == WORK_RECORD)
                work->record->done = true;
            clock_drop(work);
            work_free(work);
        }
        stream->last = NULL;
        stream->capture = NULL;
        last_clear(&stream->last_nodes);
        if (!stream->is_default && !stream->of_thread) {
            handle_set(HANDLE_STREAM, stream, NULL);
            stream->destroyed = true;
        }
        stream->hints = hints_default();
        stream->priority = 0;
    }
    sweep();
}

/* ---- The stream of a thread ---- */

static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static void leave_thread(void *own)
{
    rt_lock();
    ((Stream *) own)->destroyed = true;
    ((Stream *) own)->of_thread = false;
    sweep();
    rt_unlock();
}

static void make_key(void)
{
    pthread_key_create(&own_key, leave_thread);
}

static Stream *thread_stream(void)
{
    Stream *stream;

    pthread_once(&own_once, make_key);
    stream = pthread_getspecific(own_key);
    if (!stream && (stream = new_stream(true, 0))) {
        stream->of_thread = true;
        pthread_setspecific(own_key, stream);
    }
    return stream;
}

Stream *stream_of(cudaStream_t handle, bool per_thread)
{
    if (handle == cudaStreamPerThread || (!handle && per_thread))
        return thread_stream();
    if (!handle || handle == cudaStreamLegacy)
        return rt.streams;
    return handle_get(HANDLE_STREAM, handle);
}

/* ---- Create, destroy ---- */

static cudaError_t create(cudaStream_t *handle, unsigned flags, int priority)
{
    Stream *stream;

    if (!handle || (flags & ~(unsigned) cudaStreamNonBlocking))
        return cudaErrorInvalidValue;
    stream = new_stream(!(flags & cudaStreamNonBlocking), clamp_priority(priority));
    if (!stream || !handle_set(HANDLE_STREAM, stream, stream))
        return cudaErrorMemoryAllocation;
    stream->queue = queue_of(stream);
    *handle = (cudaStream_t) stream;
    return cudaSuccess;
}

/* Work in the stream is still executed; the call does not wait for it. */
static cudaError_t destroy(cudaStream_t handle)
{
    Stream *stream = handle_get(HANDLE_STREAM, handle);

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    handle_set(HANDLE_STREAM, stream, NULL);
    stream->destroyed = true;
    sweep();
    return cudaSuccess;
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return CALL(create(stream, 0, 0));
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return CALL(create(stream, flags, 0));
}

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    return CALL(create(stream, flags, priority));
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return CALL(destroy(stream));
}

/* ---- Waiting and querying ---- */

static cudaError_t synchronize(Stream *stream)
{
    cudaError_t error = stream ? capture_refuses(stream) : cudaErrorInvalidResourceHandle;

    if (!error)
        error = any_capture_refuses("cudaStreamSynchronize");
    return error ? error : finish_stream(stream);
}

static bool has_work(const Stream *stream)
{
    if (stream->is_default)
        for (const Stream *other = rt.streams; other; other = other->next)
            if (other->blocking && other->first)
                return true;
    return stream->first;
}

/* Each query executes one piece of work, so that repeated queries eventually succeed. */
static cudaError_t query(Stream *stream)
{
    cudaError_t error = stream ? capture_refuses(stream) : cudaErrorInvalidResourceHandle;

    if (!error)
        error = any_capture_refuses("cudaStreamQuery");
    if (error)
        return error;
    if (!has_work(stream)) {
        clock_waited(stream);
        return cudaSuccess;
    }
    if (stream->first)
        finish_asked(stream);
    else
        finish_stream(stream);
    return rt.sticky ? rt.sticky : cudaErrorNotReady;
}

STREAM_CALL(cudaStreamSynchronize, per_thread, (cudaStream_t stream),
            synchronize(stream_of(stream, per_thread)))
STREAM_CALL(cudaStreamQuery, per_thread, (cudaStream_t stream),
            query(stream_of(stream, per_thread)))

static cudaError_t synchronize_device(void)
{
    cudaError_t error = device_refuses();

    if (!error)
        error = finish_all();
    sweep();
    return error;
}

API cudaError_t cudaDeviceSynchronize(void)
{
    return CALL(synchronize_device());
}

API cudaError_t cudaThreadSynchronize(void); /* its name in CUDA 12 and before */
API cudaError_t cudaThreadSynchronize(void)
{
    return CALL(synchronize_device());
}

/* ---- Host functions ---- */

static cudaError_t add_host(Stream *stream, HostWork host)
{
    Work *work = host.function || host.callback ? work_new(WORK_HOST) : NULL;

    if (!host.function && !host.callback)
        return cudaErrorInvalidValue;
    if (work)
        work->host = host;
    idle_watch();
    return issue(stream, work);
}

STREAM_CALL(cudaLaunchHostFunc, per_thread,
            (cudaStream_t stream, cudaHostFn_t function, void *data),
            add_host(stream_of(stream, per_thread),
                     (HostWork){ .function = function, .data = data }))

static cudaError_t add_callback(Stream *stream, HostWork host, unsigned flags)
{
    if (flags)
        return cudaErrorInvalidValue;
    if (stream && stream->capture)
        return capture_refuses(stream);
    return add_host(stream, host);
}

STREAM_CALL(cudaStreamAddCallback, per_thread,
            (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags),
            add_callback(stream_of(stream, per_thread),
                         (HostWork){ .callback = callback, .data = data, .handle = stream }, flags))

/* ---- Properties ---- */

static cudaError_t report_stream(const Stream *stream, int *priority, unsigned *flags,
                                 unsigned long long *id, int *device)
{
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!priority && !flags && !id && !device)
        return cudaErrorInvalidValue;
    if (priority)
        *priority = stream->priority;
    if (flags)
        *flags = stream->blocking || stream->is_default ? 0 : cudaStreamNonBlocking;
    if (id)
        *id = (unsigned long long) stream->id;
    if (device)
        *device = 0;
    return cudaSuccess;
}

STREAM_CALL(cudaStreamGetPriority, per_thread, (cudaStream_t stream, int *priority),
            report_stream(stream_of(stream, per_thread), priority, NULL, NULL, NULL))
STREAM_CALL(cudaStreamGetFlags, per_thread, (cudaStream_t stream, unsigned *flags),
            report_stream(stream_of(stream, per_thread), NULL, flags, NULL, NULL))
STREAM_CALL(cudaStreamGetId, per_thread, (cudaStream_t stream, unsigned long long *id),
            report_stream(stream_of(stream, per_thread), NULL, NULL, id, NULL))
STREAM_CALL(cudaStreamGetDevice, per_thread, (cudaStream_t stream, int *device),
            report_stream(stream_of(stream, per_thread), NULL, NULL, NULL, device))

/* A hint. */
static cudaError_t accept(const Stream *stream)
{
    return stream ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

STREAM_CALL(cudaStreamAttachMemAsync, per_thread,
            (cudaStream_t stream, void *memory, size_t bytes, unsigned flags),
            ((void) bytes, (void) flags,
             memory ? accept(stream_of(stream, per_thread)) : cudaErrorInvalidValue))
