/* capture_query.c - what a program asks about a capture, and how it changes what the next captured
 * node runs after. Together they let it add nodes of its own to the graph. */
#include "sim/runtime/graph.h"
#include "sim/runtime/program.h"

/* ---- Questions ---- */

static enum cudaStreamCaptureStatus status_of(const Stream *stream)
{
    return !stream->capture               ? cudaStreamCaptureStatusNone
           : stream->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
}

/* What a call asks for; NULL: nothing. */
typedef struct Asked {
    enum cudaStreamCaptureStatus *status;
    unsigned long long *id;
    cudaGraph_t *graph;
    const cudaGraphNode_t **before;
    const cudaGraphEdgeData **data;
    size_t *count;
} Asked;

/* Whether the program would not see the data of an edge. */
static bool is_lossy(const LastNodes *last, const Asked *asked)
{
    if (asked->before && !asked->data)
        for (int i = 0; i < last->count; i++)
            if (!is_plain_edge(&last->data[i]))
                return true;
    return false;
}

static cudaError_t report(const Stream *stream, Asked asked)
{
    if (!stream || !asked.status || (asked.data && !asked.before))
        return stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *asked.status = status_of(stream);
    if (!stream->capture)
        return cudaSuccess;
    if (is_lossy(&stream->last_nodes, &asked))
        return cudaErrorLossyQuery;
    if (asked.id)
        *asked.id = stream->capture->id;
    if (asked.graph)
        *asked.graph = (cudaGraph_t) stream->capture;
    if (asked.before)
        *asked.before = (const cudaGraphNode_t *) stream->last_nodes.all;
    if (asked.data)
        *asked.data = stream->last_nodes.data;
    if (asked.count)
        *asked.count = (size_t) stream->last_nodes.count;
    return cudaSuccess;
}

STREAM_CALL(cudaStreamIsCapturing, per_thread,
            (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
            report(stream_of(stream, per_thread), (Asked){ .status = status }))

#undef cudaStreamGetCaptureInfo
#if CUDART_VERSION >= 13000
STREAM_CALL(cudaStreamGetCaptureInfo, per_thread,
            (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
             cudaGraph_t *graph, const cudaGraphNode_t **before, const cudaGraphEdgeData **data,
             size_t *count),
            report(stream_of(stream, per_thread),
                   (Asked){ status, id, graph, before, data, count }))
#endif

/* Its names in CUDA 12. */
#undef cudaStreamGetCaptureInfo_v2
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **before, size_t *count);
STREAM_CALL(cudaStreamGetCaptureInfo_v2, per_thread,
            (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
             cudaGraph_t *graph, const cudaGraphNode_t **before, size_t *count),
            report(stream_of(stream, per_thread),
                   (Asked){ status, id, graph, before, NULL, count }))

#undef cudaStreamGetCaptureInfo_v3
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **before,
                                        const cudaGraphEdgeData **data, size_t *count);
STREAM_CALL(cudaStreamGetCaptureInfo_v3, per_thread,
            (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
             cudaGraph_t *graph, const cudaGraphNode_t **before, const cudaGraphEdgeData **data,
             size_t *count),
            report(stream_of(stream, per_thread),
                   (Asked){ status, id, graph, before, data, count }))

/* ---- Changing what the next node runs after ---- */

static bool holds(const LastNodes *last, const Node *node)
{
    for (int i = 0; i < last->count; i++)
        if (last->all[i] == node)
            return true;
    return false;
}

/* Nodes that are no longer in the set need not be joined. */
static void let_go(const LastNodes *before, const LastNodes *now)
{
    for (int i = 0; i < before->count; i++)
        if (!holds(now, before->all[i]))
            before->all[i]->loose = true;
}

static cudaError_t update(Stream *stream, const cudaGraphNode_t *nodes,
                          const cudaGraphEdgeData *data, size_t count, unsigned flags)
{
    LastNodes next = { 0 };
    cudaError_t error = cudaSuccess;

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!stream->capture)
        return cudaErrorIllegalState;
    if (flags > cudaStreamSetCaptureDependencies)
        return cudaErrorInvalidValue;
    if (stream->capture->invalidated)
        return cudaErrorStreamCaptureInvalidated;
    if (flags == cudaStreamAddCaptureDependencies && !last_join(&next, &stream->last_nodes))
        error = cudaErrorMemoryAllocation;
    if (!error)
        error = last_add_named(&next, stream->capture, nodes, data, count);
    if (error) {
        last_clear(&next);
        return error;
    }
    let_go(&stream->last_nodes, &next);
    last_clear(&stream->last_nodes);
    stream->last_nodes = next;
    return cudaSuccess;
}

/* With the data of edges, which programs of CUDA 12 do not pass to the call without a version. */
#undef cudaStreamUpdateCaptureDependencies_v2
cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                   const cudaGraphEdgeData *data, size_t count,
                                                   unsigned flags);
STREAM_CALL(cudaStreamUpdateCaptureDependencies_v2, per_thread,
            (cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data,
             size_t count, unsigned flags),
            update(stream_of(stream, per_thread), nodes, data, count, flags))

#undef cudaStreamUpdateCaptureDependencies
#if CUDART_VERSION >= 13000
STREAM_CALL(cudaStreamUpdateCaptureDependencies, per_thread,
            (cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data,
             size_t count, unsigned flags),
            is_program_of_12() ? update(stream_of(stream, per_thread), nodes, NULL,
                                        (size_t) (uintptr_t) data, (unsigned) count)
                               : update(stream_of(stream, per_thread), nodes, data, count, flags))
#else
STREAM_CALL(cudaStreamUpdateCaptureDependencies, per_thread,
            (cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned flags),
            update(stream_of(stream, per_thread), nodes, NULL, count, flags))
#endif
