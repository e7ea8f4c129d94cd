/* capture.c - stream capture: issued work becomes nodes of a graph.
 *
 * Each capturing stream has the last nodes of its work; a new node runs after them. An event that
 * is recorded takes them over, and a stream that waits for the event adds them to its own.
 */
#include "sim/runtime/graph.h"

#include <stdlib.h>

/* ---- Sets of last nodes ---- */

void last_clear(LastNodes *last)
{
    free(last->all);
    free(last->data);
    *last = (LastNodes){ 0 };
}

/* `data`: NULL: an ordinary edge. */
static bool last_add(LastNodes *last, Node *node, const cudaGraphEdgeData *data)
{
    const size_t room = (size_t) last->count + 1;
    Node **all;
    cudaGraphEdgeData *datas;

    for (int i = 0; i < last->count; i++)
        if (last->all[i] == node)
            return true;
    all = realloc(last->all, room * sizeof(Node *));
    last->all = all ? all : last->all;
    datas = realloc(last->data, room * sizeof *datas);
    last->data = datas ? datas : last->data;
    if (!all || !datas)
        return false;
    datas[last->count] = data ? *data : (cudaGraphEdgeData){ 0 };
    all[last->count++] = node;
    return true;
}

bool last_join(LastNodes *to, const LastNodes *from)
{
    bool well = true;

    for (int i = 0; i < from->count && well; i++)
        well = last_add(to, from->all[i], &from->data[i]);
    return well;
}

/* ---- While capturing ---- */

static enum cudaGraphNodeType type_of(WorkKind kind)
{
    static const enum cudaGraphNodeType types[] = {
        [WORK_KERNEL] = cudaGraphNodeTypeKernel,     [WORK_COPY] = cudaGraphNodeTypeMemcpy,
        [WORK_FILL] = cudaGraphNodeTypeMemset,       [WORK_HOST] = cudaGraphNodeTypeHost,
        [WORK_RECORD] = cudaGraphNodeTypeEmpty,      [WORK_WAIT] = cudaGraphNodeTypeEmpty,
        [WORK_ALLOCATE] = cudaGraphNodeTypeMemAlloc, [WORK_FREE] = cudaGraphNodeTypeMemFree,
        [WORK_EMPTY] = cudaGraphNodeTypeEmpty,
    };

    return types[kind];
}

Node *graph_capture_node(Stream *stream, enum cudaGraphNodeType type, Work *work)
{
    LastNodes *last = &stream->last_nodes;
    Node *node = node_new(stream->capture, type, work, last->all, last->count);

    for (int i = 0; node && i < last->count; i++)
        if (edge_allows(last->all[i], node, &last->data[i]))
            node->data[node_edge(node, last->all[i])] = last->data[i];
    last_clear(last);
    return node && last_add(last, node, NULL) ? node : NULL;
}

cudaError_t graph_capture(Stream *stream, Work *work)
{
    return graph_capture_node(stream, type_of(work->kind), work) ? cudaSuccess
                                                                 : cudaErrorMemoryAllocation;
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

static cudaError_t spoil_by(Graph *graph, const char *call)
{
    graph->invalidated = true;
    rt_finding(FINDING_LAUNCH, true, NULL,
               "the program called %s() during a stream capture. A GPU refuses calls then that "
               "may wait for it. The capture is invalidated. Call it before, or begin the capture "
               "with cudaStreamCaptureModeThreadLocal, which allows it in other threads, or "
               "cudaStreamCaptureModeRelaxed",
               call);
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t capture_refuses(const Stream *stream)
{
    return stream->capture ? spoil(stream->capture, cudaErrorStreamCaptureUnsupported)
                           : cudaSuccess;
}

cudaError_t device_refuses(void)
{
    for (Graph *graph = rt.graphs; graph; graph = graph->next)
        if (graph->capturing)
            return spoil(graph, cudaErrorStreamCaptureUnsupported);
    return cudaSuccess;
}

static _Thread_local enum cudaStreamCaptureMode of_thread = cudaStreamCaptureModeGlobal;

/* Whether this thread may make calls that may wait (tests/sim/programs/capture_modes.cu has what an
 * H200 refuses). */
static bool allows_calls(const Graph *graph)
{
    const bool own = pthread_equal(graph->capturer, pthread_self());

    if (of_thread == cudaStreamCaptureModeRelaxed || graph->mode == cudaStreamCaptureModeRelaxed)
        return true;
    return !own && (of_thread == cudaStreamCaptureModeThreadLocal ||
                    graph->mode == cudaStreamCaptureModeThreadLocal);
}

cudaError_t any_capture_refuses(const char *call)
{
    for (Graph *graph = rt.graphs; graph; graph = graph->next)
        if (graph->capturing && !allows_calls(graph))
            return spoil_by(graph, call);
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

/* ---- Begin ---- */

static cudaError_t check_begin(const Stream *stream)
{
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (stream->is_default)
        return cudaErrorStreamCaptureUnsupported;
    return stream->capture ? cudaErrorIllegalState : cudaSuccess;
}

static void begin_in(Stream *stream, Graph *graph, enum cudaStreamCaptureMode mode)
{
    graph->capturing = true;
    graph->mode = mode;
    graph->capturer = pthread_self();
    stream->capture = graph;
    stream->is_origin = true;
    last_clear(&stream->last_nodes);
}

static cudaError_t begin(Stream *stream, enum cudaStreamCaptureMode mode)
{
    cudaError_t error = check_begin(stream);
    Graph *graph;

    if (error)
        return error;
    graph = graph_new();
    if (!graph || !handle_set(HANDLE_GRAPH, graph, graph))
        return cudaErrorMemoryAllocation;
    begin_in(stream, graph, mode);
    return cudaSuccess;
}

cudaError_t last_add_named(LastNodes *last, const Graph *graph, const cudaGraphNode_t *nodes,
                           const cudaGraphEdgeData *data, size_t count)
{
    if (count && !nodes)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        Node *node = node_of(nodes[i]);
        if (!node || node->graph != graph)
            return cudaErrorInvalidValue;
        if (!last_add(last, node, data ? &data[i] : NULL))
            return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

static cudaError_t begin_to(Stream *stream, Graph *graph, const cudaGraphNode_t *before,
                            const cudaGraphEdgeData *data, size_t count,
                            enum cudaStreamCaptureMode mode)
{
    LastNodes last = { 0 };
    cudaError_t error = check_begin(stream);

    if (error)
        return error;
    if (!graph || graph->capturing)
        return cudaErrorInvalidValue;
    error = last_add_named(&last, graph, before, data, count);
    if (error) {
        last_clear(&last);
        return error;
    }
    begin_in(stream, graph, mode);
    graph->is_programs = true;
    stream->last_nodes = last;
    return cudaSuccess;
}

/* ---- End ---- */

static bool add_loose(LastNodes *last, Graph *graph)
{
    bool well = true;

    for (Node *node = graph->first; node && well; node = node->next)
        well = !node->loose || last_add(last, node, NULL);
    return well;
}

/* Whether the origin waits for the work of all other streams of the capture, except for nodes that
 * the program has added or let go itself. */
static bool all_joined(const Stream *origin)
{
    Graph *graph = origin->capture;
    LastNodes last = { 0 };
    bool well = last_join(&last, &origin->last_nodes) && add_loose(&last, graph);

    nodes_mark_before(graph, last.all, last.count);
    last_clear(&last);
    for (const Node *node = graph->first; node; node = node->next)
        well &= node->mark;
    return well || graph->is_programs;
}

static cudaError_t say_unjoined(void)
{
    rt_finding(FINDING_LAUNCH, true, NULL,
               "a stream capture ends, but the stream where it began does not wait for all work of "
               "the other captured streams: record an event in each of them, and let the first "
               "stream wait for it (cudaStreamWaitEvent)");
    return cudaErrorStreamCaptureUnjoined;
}

static void leave(Graph *graph)
{
    for (Stream *other = rt.streams; other; other = other->next)
        if (other->capture == graph) {
            other->capture = NULL;
            other->is_origin = false;
            last_clear(&other->last_nodes);
        }
    graph->capturing = false;
}

static cudaError_t end(Stream *stream, cudaGraph_t *handle)
{
    Graph *graph = stream ? stream->capture : NULL;
    cudaError_t error;

    if (!stream || !handle)
        return stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *handle = NULL;
    if (!graph)
        return cudaErrorIllegalState;
    if (!stream->is_origin)
        return cudaErrorStreamCaptureUnmatched;
    error = graph->invalidated    ? cudaErrorStreamCaptureInvalidated
            : !all_joined(stream) ? say_unjoined()
                                  : cudaSuccess;
    leave(graph);
    if (error) {
        if (!graph->is_programs)
            graph_free(graph);
        return error;
    }
    graph->is_programs = false;
    *handle = (cudaGraph_t) graph;
    return cudaSuccess;
}

STREAM_CALL(cudaStreamBeginCapture, per_thread,
            (cudaStream_t stream, enum cudaStreamCaptureMode mode),
            begin(stream_of(stream, per_thread), mode))
STREAM_CALL(cudaStreamBeginCaptureToGraph, per_thread,
            (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *before,
             const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
            begin_to(stream_of(stream, per_thread), graph_of(graph), before, edges, count, mode))
STREAM_CALL(cudaStreamEndCapture, per_thread, (cudaStream_t stream, cudaGraph_t *graph),
            end(stream_of(stream, per_thread), graph))

API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    enum cudaStreamCaptureMode before = of_thread;

    if (!mode)
        return cudaErrorInvalidValue;
    of_thread = *mode;
    *mode = before;
    return cudaSuccess;
}
