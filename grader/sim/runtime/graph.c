/* graph.c - graphs as lists of nodes: copies, the order of launches, executable graphs. */
#include "sim/runtime/graph.h"

#include <stdlib.h>
#include <string.h>

Graph *graph_of(cudaGraph_t handle)
{
    return handle_get(HANDLE_GRAPH, handle);
}

Graph *graph_exec(cudaGraphExec_t handle)
{
    return handle_get(HANDLE_EXEC, handle);
}

Node *node_of(cudaGraphNode_t handle)
{
    return handle_get(HANDLE_NODE, handle);
}

/* ---- Graphs and nodes ---- */

Graph *graph_new(void)
{
    Graph *graph = calloc(1, sizeof *graph);

    if (!graph)
        return NULL;
    graph->id = ++rt.graph_ids;
    graph->next = rt.graphs;
    rt.graphs = graph;
    return graph;
}

static void free_node(Node *node)
{
    handle_set(HANDLE_NODE, node, NULL);
    work_free(node->work);
    if (node->child)
        graph_free(node->child);
    free(node->before);
    free(node->data);
    free(node->arguments);
    free(node);
}

void graph_free(Graph *graph)
{
    Graph **at = &rt.graphs;

    while (*at && *at != graph)
        at = &(*at)->next;
    if (*at)
        *at = graph->next;
    handle_set(HANDLE_GRAPH, graph, NULL);
    while (graph->first) {
        Node *node = graph->first;
        graph->first = node->next;
        free_node(node);
    }
    held_drop(&graph->held);
    free(graph);
}

void graphs_drop(void)
{
    while (rt.graphs) {
        Graph *graph = rt.graphs;
        while (graph->of_node) /* freed with its node */
            graph = graph->next;
        graph_free(graph);
    }
}

int node_edge(const Node *node, const Node *before)
{
    for (int i = 0; i < node->before_count; i++)
        if (node->before[i] == before)
            return i;
    return -1;
}

static bool grow_edges(Node *node)
{
    const size_t room = node->before_room ? 2 * (size_t) node->before_room : 4;
    Node **before = realloc(node->before, room * sizeof(Node *));
    cudaGraphEdgeData *data = before ? realloc(node->data, room * sizeof *data) : NULL;

    node->before = before ? before : node->before;
    node->data = data ? data : node->data;
    node->before_room = data ? (int) room : node->before_room;
    return data;
}

bool node_after(Node *node, Node *before, const cudaGraphEdgeData *data)
{
    if (node_edge(node, before) >= 0)
        return true;
    if (node->before_count == node->before_room && !grow_edges(node))
        return false;
    node->data[node->before_count] = data ? *data : (cudaGraphEdgeData){ 0 };
    node->before[node->before_count++] = before;
    return true;
}

void node_drop_edge(Node *node, int index)
{
    node->before_count--;
    node->before[index] = node->before[node->before_count];
    node->data[index] = node->data[node->before_count];
}

static void append(Graph *graph, Node *node)
{
    if (graph->last)
        graph->last->next = node;
    else
        graph->first = node;
    graph->last = node;
    graph->count++;
}

Node *node_new(Graph *graph, enum cudaGraphNodeType type, Work *work, Node *const *before,
               int count)
{
    Node *node = work ? calloc(1, sizeof *node) : NULL;
    bool well = node && handle_set(HANDLE_NODE, node, node);

    if (!node) {
        work_free(work);
        return NULL;
    }
    node->graph = graph;
    node->work = work;
    node->type = type;
    for (int i = 0; i < count && well; i++)
        well = node_after(node, before[i], NULL);
    if (!well) {
        free_node(node);
        return NULL;
    }
    append(graph, node);
    return node;
}

Node *node_in(const Graph *graph, const Node *original)
{
    for (Node *node = graph ? graph->first : NULL; node; node = node->next)
        if (node->original == original)
            return node;
    return NULL;
}

int node_index(const Graph *graph, const Node *node)
{
    int index = 0;

    for (const Node *at = graph->first; at; at = at->next, index++)
        if (at == node)
            return index;
    return -1;
}

static void unlink_node(Node *node)
{
    Graph *graph = node->graph;
    Node **at = &graph->first;

    while (*at && *at != node)
        at = &(*at)->next;
    if (*at)
        *at = node->next;
    graph->last = NULL;
    for (Node *other = graph->first; other; other = other->next)
        graph->last = other;
    graph->count--;
}

void node_free(Node *node)
{
    for (Node *other = node->graph->first; other; other = other->next) {
        const int edge = node_edge(other, node);
        if (edge >= 0)
            node_drop_edge(other, edge);
    }
    unlink_node(node);
    free_node(node);
}

/* ---- Order ---- */

static void mark_before(Node *node)
{
    if (node->mark)
        return;
    node->mark = 1;
    for (int i = 0; i < node->before_count; i++)
        mark_before(node->before[i]);
}

void nodes_mark_before(Graph *graph, Node *const *last, int count)
{
    for (Node *node = graph->first; node; node = node->next)
        node->mark = 0;
    for (int i = 0; i < count; i++)
        mark_before(last[i]);
}

static bool is_free_to_run(const Node *node)
{
    for (int i = 0; i < node->before_count; i++)
        if (!node->before[i]->mark)
            return false;
    return !node->mark;
}

/* The oldest node whose dependencies are all marked; NULL: none is left, or there is a cycle. */
static Node *next_to_run(const Graph *graph)
{
    for (Node *node = graph->first; node; node = node->next)
        if (is_free_to_run(node))
            return node;
    return NULL;
}

/* ---- Copies ---- */

static bool copy_dependencies(Node *copy, const Node *node, const Graph *to)
{
    for (int i = 0; i < node->before_count; i++) {
        Node *before = node_in(to, node->before[i]);
        if (!before || !node_after(copy, before, &node->data[i]))
            return false;
    }
    return true;
}

static Node *copy_node(const Node *node, Graph *to)
{
    Node *copy = node_new(to, node->type, work_copy(node->work), NULL, 0);

    if (!copy)
        return NULL;
    copy->event = node->event;
    copy->params = node->params;
    copy->original = node;
    if (node->child && !(copy->child = graph_copy(node->child)))
        return NULL;
    if (copy->child)
        copy->child->of_node = true;
    return copy_dependencies(copy, node, to) ? copy : NULL;
}

Graph *graph_copy(const Graph *graph)
{
    Graph *copy = graph_new();
    Node *node;

    if (!copy)
        return NULL;
    nodes_mark_before((Graph *) graph, NULL, 0);
    while ((node = next_to_run(graph))) {
        node->mark = 1;
        if (!copy_node(node, copy))
            break;
    }
    if (copy->count == graph->count && held_join(&copy->held, graph->held))
        return copy;
    graph_free(copy);
    return NULL;
}

/* ---- Executable graphs ---- */

static cudaError_t instantiate(cudaGraphExec_t *handle, cudaGraph_t from, unsigned long long flags)
{
    const Graph *graph = graph_of(from);
    Graph *exec;

    if (!handle || !graph || graph->capturing)
        return cudaErrorInvalidValue;
    exec = graph_copy(graph);
    if (!exec)
        return cudaErrorInvalidValue;
    exec->flags = flags;
    if (!handle_set(HANDLE_EXEC, exec, exec))
        return cudaErrorMemoryAllocation;
    *handle = (cudaGraphExec_t) exec;
    return cudaSuccess;
}

static cudaError_t launch_all(Stream *stream, const Graph *graph);

static cudaError_t issue_work(Stream *stream, const Node *node)
{
    Work *work = work_copy(node->work);

    if (work) {
        work->of_graph = true;
        work->after_node = node->before_count;
    }
    return issue(stream, work);
}

static cudaError_t launch_node(Stream *stream, const Node *node)
{
    if (node->disabled)
        return cudaSuccess;
    if (node->child)
        return launch_all(stream, node->child);
    if (node->type == cudaGraphNodeTypeEventRecord)
        return event_record(node->event, stream);
    if (node->type == cudaGraphNodeTypeWaitEvent)
        return event_wait(node->event, stream);
    if (node->work->kind == WORK_EMPTY)
        return cudaSuccess;
    if (node->work->kind == WORK_HOST)
        idle_watch();
    return issue_work(stream, node);
}

/* In modelled time a node begins when all nodes before it have ended; the first ones begin with the
 * graph. */
static void begin_node(Stream *stream, const Node *node, struct TimelineItem *begin)
{
    clock_continue(stream, node->before_count ? node->before[0]->item : begin);
    for (int i = 1; i < node->before_count; i++)
        clock_join(stream, node->before[i]->item);
}

/* Nodes are issued, and executed, one after the other; only modelled time knows that they may
 * overlap. */
static cudaError_t launch_all(Stream *stream, const Graph *graph)
{
    struct TimelineItem *begin = NULL;
    cudaError_t error = cudaSuccess;

    clock_keep(&begin, stream);
    for (Node *node = graph->first; node && !error; node = node->next) {
        begin_node(stream, node, begin);
        error = launch_node(stream, node);
        clock_keep(&node->item, stream);
    }
    for (Node *node = graph->first; node; node = node->next) {
        clock_join(stream, node->item);
        clock_forget(&node->item);
    }
    clock_forget(&begin);
    return error;
}

/* The user objects of a graph and of its children. */
static bool join_objects(Held **held, const Graph *graph)
{
    bool well = held_join(held, graph->held);

    for (const Node *node = graph->first; node && well; node = node->next)
        well = !node->child || join_objects(held, node->child);
    return well;
}

/* User objects stay until the last work of the launch is done. */
static cudaError_t launch_holding(Stream *stream, const Graph *exec)
{
    const cudaError_t error = launch_all(stream, exec);

    if (stream->last && !join_objects(&stream->last->held, exec))
        return cudaErrorMemoryAllocation;
    if (stream->last && stream->last->held)
        idle_watch();
    return error;
}

/* A captured launch becomes a child graph. */
static cudaError_t capture_launch(Stream *stream, const Graph *exec)
{
    Node *node = graph_capture_node(stream, cudaGraphNodeTypeGraph, work_new(WORK_EMPTY));

    if (!node || !(node->child = graph_copy(exec)))
        return cudaErrorMemoryAllocation;
    node->child->of_node = true;
    return cudaSuccess;
}

static cudaError_t launch(Stream *stream, cudaGraphExec_t handle)
{
    const Graph *exec = graph_exec(handle);

    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!exec)
        return cudaErrorInvalidValue;
    if (stream->capture)
        return capture_launch(stream, exec);
    clock_issue_graph();
    return launch_holding(stream, exec);
}

static cudaError_t destroy(HandleKind kind, const void *handle)
{
    Graph *graph = handle_get(kind, handle);

    if (!graph || graph->capturing || graph->of_node)
        return cudaErrorInvalidValue;
    handle_set(kind, handle, NULL);
    graph_free(graph);
    return cudaSuccess;
}

static cudaError_t create(cudaGraph_t *handle, unsigned flags)
{
    Graph *graph;

    if (!handle || flags)
        return cudaErrorInvalidValue;
    graph = graph_new();
    if (!graph || !handle_set(HANDLE_GRAPH, graph, graph))
        return cudaErrorMemoryAllocation;
    *handle = (cudaGraph_t) graph;
    return cudaSuccess;
}

static cudaError_t clone_graph(cudaGraph_t *handle, const Graph *graph)
{
    Graph *copy;

    if (!handle || !graph || graph->capturing)
        return cudaErrorInvalidValue;
    copy = graph_copy(graph);
    if (!copy || !handle_set(HANDLE_GRAPH, copy, copy))
        return cudaErrorMemoryAllocation;
    *handle = (cudaGraph_t) copy;
    return cudaSuccess;
}

API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    return CALL(create(graph, flags));
}

API cudaError_t cudaGraphClone(cudaGraph_t *clone_of, cudaGraph_t graph)
{
    return CALL(clone_graph(clone_of, graph_of(graph)));
}

API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                     unsigned long long flags)
{
    return CALL(instantiate(exec, graph, flags));
}

API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                              unsigned long long flags)
{
    return CALL(instantiate(exec, graph, flags));
}

static cudaError_t instantiate_with(cudaGraphExec_t *exec, cudaGraph_t graph,
                                    cudaGraphInstantiateParams *params)
{
    cudaError_t error;

    if (!params)
        return cudaErrorInvalidValue;
    error = instantiate(exec, graph, params->flags);
    params->errNode_out = NULL;
    params->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
    return error;
}

STREAM_CALL(cudaGraphInstantiateWithParams, per_thread,
            (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *params),
            ((void) per_thread, instantiate_with(exec, graph, params)))

STREAM_CALL(cudaGraphLaunch, per_thread, (cudaGraphExec_t exec, cudaStream_t stream),
            launch(stream_of(stream, per_thread), exec))
STREAM_CALL(cudaGraphUpload, per_thread, (cudaGraphExec_t exec, cudaStream_t stream),
            !stream_of(stream, per_thread) ? cudaErrorInvalidResourceHandle
            : !graph_exec(exec)            ? cudaErrorInvalidValue
                                           : cudaSuccess)

API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return CALL(destroy(HANDLE_GRAPH, graph));
}

API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return CALL(destroy(HANDLE_EXEC, exec));
}
