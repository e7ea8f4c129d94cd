/* graph.c - stream capture: issued work is recorded in a list that can be launched repeatedly.
 *
 * The order of issue satisfies all dependencies of streams and events, so a graph is simply this
 * list. Its branches do not run concurrently. An instantiated graph is a copy of the list.
 */
#include "sim/runtime/runtime.h"

#include <stdlib.h>

/* ---- Lists of work ---- */

static void append(Graph *graph, Work *work)
{
    if (graph->last)
        graph->last->next = work;
    else
        graph->first = work;
    graph->last = work;
}

static Graph *new_graph(void)
{
    Graph *graph = calloc(1, sizeof *graph);

    if (!graph)
        return NULL;
    graph->id = ++rt.graph_ids;
    graph->next = rt.graphs;
    rt.graphs = graph;
    return graph;
}

static void free_graph(Graph *graph)
{
    Graph **at = &rt.graphs;

    while (*at && *at != graph)
        at = &(*at)->next;
    if (*at)
        *at = graph->next;
    handle_set(HANDLE_GRAPH, graph, NULL);
    while (graph->first) {
        Work *work = graph->first;
        graph->first = work->next;
        work_free(work);
    }
    free(graph);
}

static Graph *copy_graph(const Graph *graph)
{
    Graph *copy = new_graph();

    for (const Work *work = graph->first; copy && work; work = work->next) {
        Work *again = work_copy(work);
        if (!again) {
            free_graph(copy);
            return NULL;
        }
        append(copy, again);
    }
    return copy;
}

void graphs_drop(void)
{
    while (rt.graphs)
        free_graph(rt.graphs);
}

/* ---- While capturing ---- */

cudaError_t graph_capture(Stream *stream, Work *work)
{
    append(stream->capture, work);
    return cudaSuccess;
}

Graph *graph_capturing(uint64_t id)
{
    for (Graph *graph = rt.graphs; graph; graph = graph->next)
        if (graph->id == id && graph->capturing)
            return graph;
    return NULL;
}

static cudaError_t spoil(Graph *graph, cudaError_t error)
{
    graph->invalidated = true;
    rt_finding(FINDING_LAUNCH, true, NULL,
               "the program waited, or used the default stream, during a stream capture. Captured "
               "work runs only when the graph is launched, so it cannot be waited for now. The "
               "capture is invalidated");
    return error;
}

cudaError_t capture_refuses(const Stream *stream)
{
    return stream->capture ? spoil(stream->capture, cudaErrorStreamCaptureUnsupported)
                           : cudaSuccess;
}

cudaError_t any_capture_refuses(void)
{
    for (Graph *graph = rt.graphs; graph; graph = graph->next)
        if (graph->capturing && !graph->relaxed)
            return spoil(graph, cudaErrorStreamCaptureUnsupported);
    return cudaSuccess;
}

cudaError_t legacy_refuses(const Stream *stream)
{
    if (!stream->is_default)
        return cudaSuccess;
    for (const Stream *other = rt.streams; other; other = other->next)
        if (other->capture && other->blocking)
            return spoil(other->capture, cudaErrorStreamCaptureImplicit);
    return cudaSuccess;
}

static cudaError_t begin(Stream *stream, enum cudaStreamCaptureMode mode)
{
    Graph *graph;

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (stream->is_default)
        return cudaErrorStreamCaptureUnsupported;
    if (stream->capture)
        return cudaErrorIllegalState;
    graph = new_graph();
    if (!graph || !handle_set(HANDLE_GRAPH, graph, graph))
        return cudaErrorMemoryAllocation;
    graph->capturing = true;
    graph->relaxed = mode == cudaStreamCaptureModeRelaxed;
    stream->capture = graph;
    stream->is_origin = true;
    return cudaSuccess;
}

static cudaError_t end(Stream *stream, cudaGraph_t *handle)
{
    Graph *graph = stream ? stream->capture : NULL;

    if (!stream || !handle)
        return stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *handle = NULL;
    if (!graph)
        return cudaErrorIllegalState;
    if (!stream->is_origin)
        return cudaErrorStreamCaptureUnmatched;
    for (Stream *other = rt.streams; other; other = other->next)
        if (other->capture == graph) {
            other->capture = NULL;
            other->is_origin = false;
        }
    graph->capturing = false;
    if (graph->invalidated) {
        free_graph(graph);
        return cudaErrorStreamCaptureInvalidated;
    }
    *handle = (cudaGraph_t) graph;
    return cudaSuccess;
}

static cudaError_t report_capture(const Stream *stream, enum cudaStreamCaptureStatus *status,
                                  unsigned long long *id)
{
    if (!stream || !status)
        return stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *status = !stream->capture               ? cudaStreamCaptureStatusNone
              : stream->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                             : cudaStreamCaptureStatusActive;
    if (id && stream->capture)
        *id = stream->capture->id;
    return cudaSuccess;
}

STREAM_CALL(cudaStreamBeginCapture, per_thread,
            (cudaStream_t stream, enum cudaStreamCaptureMode mode),
            begin(stream_of(stream, per_thread), mode))
STREAM_CALL(cudaStreamEndCapture, per_thread, (cudaStream_t stream, cudaGraph_t *graph),
            end(stream_of(stream, per_thread), graph))
STREAM_CALL(cudaStreamIsCapturing, per_thread,
            (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
            report_capture(stream_of(stream, per_thread), status, NULL))

API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    static _Thread_local enum cudaStreamCaptureMode of_thread = cudaStreamCaptureModeGlobal;
    enum cudaStreamCaptureMode before = of_thread;

    if (!mode)
        return cudaErrorInvalidValue;
    of_thread = *mode;
    *mode = before;
    return cudaSuccess;
}

/* ---- Graphs ---- */

static cudaError_t instantiate(cudaGraphExec_t *handle, cudaGraph_t from)
{
    const Graph *graph = handle_get(HANDLE_GRAPH, from);
    Graph *exec;

    if (!handle || !graph || graph->capturing)
        return cudaErrorInvalidValue;
    exec = copy_graph(graph);
    if (!exec || !handle_set(HANDLE_EXEC, exec, exec))
        return cudaErrorMemoryAllocation;
    *handle = (cudaGraphExec_t) exec;
    return cudaSuccess;
}

static cudaError_t launch(Stream *stream, cudaGraphExec_t handle)
{
    const Graph *exec = handle_get(HANDLE_EXEC, handle);

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!exec)
        return cudaErrorInvalidValue;
    for (const Work *work = exec->first; work; work = work->next) {
        cudaError_t error = issue(stream, work_copy(work));
        if (error)
            return error;
    }
    return cudaSuccess;
}

static cudaError_t destroy(HandleKind kind, const void *handle)
{
    Graph *graph = handle_get(kind, handle);

    if (!graph || graph->capturing)
        return cudaErrorInvalidValue;
    free_graph(graph);
    return cudaSuccess;
}

static cudaError_t create(cudaGraph_t *handle, unsigned flags)
{
    Graph *graph;

    if (!handle || flags)
        return cudaErrorInvalidValue;
    graph = new_graph();
    if (!graph || !handle_set(HANDLE_GRAPH, graph, graph))
        return cudaErrorMemoryAllocation;
    *handle = (cudaGraph_t) graph;
    return cudaSuccess;
}

API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    return CALL(create(graph, flags));
}

API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                     unsigned long long flags)
{
    (void) flags;
    return CALL(instantiate(exec, graph));
}

API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                              unsigned long long flags)
{
    (void) flags;
    return CALL(instantiate(exec, graph));
}

STREAM_CALL(cudaGraphLaunch, per_thread, (cudaGraphExec_t exec, cudaStream_t stream),
            launch(stream_of(stream, per_thread), exec))
STREAM_CALL(cudaGraphUpload, per_thread, (cudaGraphExec_t exec, cudaStream_t stream),
            !stream_of(stream, per_thread)   ? cudaErrorInvalidResourceHandle
            : !handle_get(HANDLE_EXEC, exec) ? cudaErrorInvalidValue
                                             : cudaSuccess)

API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return CALL(destroy(HANDLE_GRAPH, graph));
}

API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return CALL(destroy(HANDLE_EXEC, exec));
}

/* Nodes are only numbered and have no edges, which is enough for programs that count them. */
static cudaError_t nodes(cudaGraph_t handle, cudaGraphNode_t *list, size_t *count)
{
    const Graph *graph = handle_get(HANDLE_GRAPH, handle);
    size_t found = 0;

    if (!graph || !count)
        return cudaErrorInvalidValue;
    for (Work *work = graph->first; work; work = work->next, found++)
        if (list && found < *count)
            list[found] = (cudaGraphNode_t) work;
    if (!list || found < *count)
        *count = found;
    return cudaSuccess;
}

API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *list, size_t *count)
{
    return CALL(nodes(graph, list, count));
}
