/* graph_edges.c - the shape of graphs: their nodes and edges, and updates of executable graphs. */
#include "sim/runtime/graph.h"
#include "sim/runtime/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- Data of edges: only edges between kernels can have any ---- */

bool is_plain_edge(const cudaGraphEdgeData *data)
{
    static const cudaGraphEdgeData plain;

    return !data || !memcmp(data, &plain, sizeof plain);
}

static bool is_kernel(const Node *node)
{
    return node->type == cudaGraphNodeTypeKernel;
}

bool edge_allows(const Node *from, const Node *to, const cudaGraphEdgeData *data)
{
    const bool is_programmatic = data && data->type == cudaGraphDependencyTypeProgrammatic;

    if (is_plain_edge(data))
        return true;
    for (size_t i = 0; i < sizeof data->reserved; i++)
        if (data->reserved[i])
            return false;
    if (data->to_port || data->type > cudaGraphDependencyTypeProgrammatic ||
        data->from_port > cudaGraphKernelNodePortLaunchCompletion || !is_kernel(from))
        return false;
    return is_programmatic ? is_kernel(to) && data->from_port
                           : data->from_port != cudaGraphKernelNodePortProgrammatic;
}

/* ---- Lists for the program: as many as it has room for, or only their number ---- */

typedef struct List {
    cudaGraphNode_t *nodes, *others; /* NULL: only counted; others: the ends of edges */
    cudaGraphEdgeData *data;         /* NULL: the edges must have none */
    size_t *count, room, found;
    bool loses;
} List;

static List list_of(cudaGraphNode_t *nodes, cudaGraphNode_t *others, cudaGraphEdgeData *data,
                    size_t *count)
{
    return (List){ nodes, others, data, count, nodes && count ? *count : 0, 0, false };
}

static void put(List *list, const Node *node, const Node *other, const cudaGraphEdgeData *data)
{
    if (list->found < list->room) {
        list->nodes[list->found] = (cudaGraphNode_t) node;
        if (list->others)
            list->others[list->found] = (cudaGraphNode_t) other;
        if (list->data && data)
            list->data[list->found] = *data;
        list->loses |= !list->data && !is_plain_edge(data);
    }
    list->found++;
}

static cudaError_t done(List *list)
{
    for (size_t i = list->found; i < list->room; i++) {
        list->nodes[i] = NULL;
        if (list->others)
            list->others[i] = NULL;
    }
    if (!list->nodes || list->found < *list->count)
        *list->count = list->found;
    return list->loses ? cudaErrorLossyQuery : cudaSuccess;
}

static cudaError_t nodes(const Graph *graph, cudaGraphNode_t *all, size_t *count, bool only_roots)
{
    List list = list_of(all, NULL, NULL, count);

    if (!graph || !count)
        return cudaErrorInvalidValue;
    for (const Node *node = graph->first; node; node = node->next)
        if (!only_roots || !node->before_count)
            put(&list, node, NULL, NULL);
    return done(&list);
}

static cudaError_t edges(const Graph *graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                         cudaGraphEdgeData *data, size_t *count)
{
    List list = list_of(from, to, data, count);

    if (!graph || !count || !from != !to || (data && !from))
        return cudaErrorInvalidValue;
    for (const Node *node = graph->first; node; node = node->next)
        for (int i = 0; i < node->before_count; i++)
            put(&list, node->before[i], node, &node->data[i]);
    return done(&list);
}

static cudaError_t before(const Node *node, cudaGraphNode_t *all, cudaGraphEdgeData *data,
                          size_t *count)
{
    List list = list_of(all, NULL, data, count);

    if (!node || !count || (data && !all))
        return cudaErrorInvalidValue;
    for (int i = 0; i < node->before_count; i++)
        put(&list, node->before[i], NULL, &node->data[i]);
    return done(&list);
}

static cudaError_t after(const Node *node, cudaGraphNode_t *all, cudaGraphEdgeData *data,
                         size_t *count)
{
    List list = list_of(all, NULL, data, count);

    if (!node || !count || (data && !all))
        return cudaErrorInvalidValue;
    for (const Node *other = node->graph->first; other; other = other->next) {
        const int edge = node_edge(other, node);
        if (edge >= 0)
            put(&list, other, NULL, &other->data[edge]);
    }
    return done(&list);
}

API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *all, size_t *count)
{
    return CALL(nodes(graph_of(graph), all, count, false));
}

API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *all, size_t *count)
{
    return CALL(nodes(graph_of(graph), all, count, true));
}

/* ---- Changing edges ---- */

static bool is_before(Graph *graph, Node *node, Node *other)
{
    nodes_mark_before(graph, &other, 1);
    return node->mark;
}

static cudaError_t add_edges(Graph *graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                             const cudaGraphEdgeData *data, size_t count)
{
    if (!graph || (count && (!from || !to)))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        Node *first = node_of(from[i]), *second = node_of(to[i]);
        const cudaGraphEdgeData *with = data ? &data[i] : NULL;
        if (!first || !second || first->graph != graph || second->graph != graph ||
            node_edge(second, first) >= 0 || !edge_allows(first, second, with) ||
            is_before(graph, second, first)) /* it would be a cycle */
            return cudaErrorInvalidValue;
        if (!node_after(second, first, with))
            return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

/* An edge is only found with the data that it has. */
static bool take_edge(Node *node, const Node *first, const cudaGraphEdgeData *data)
{
    static const cudaGraphEdgeData plain;
    const int edge = node_edge(node, first);

    if (edge < 0 || memcmp(&node->data[edge], data ? data : &plain, sizeof plain))
        return false;
    node_drop_edge(node, edge);
    return true;
}

static cudaError_t remove_edges(Graph *graph, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                size_t count)
{
    if (!graph || (count && (!from || !to)))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        Node *second = node_of(to[i]);
        if (!second || second->graph != graph ||
            !take_edge(second, node_of(from[i]), data ? &data[i] : NULL))
            return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* ---- The calls. CUDA 13 added the data of edges before the count, as the calls of CUDA 12 with
 * _v2 in their names have it. Programs that were built with CUDA 12 pass the count in its place to
 * the others ---- */

#define FROM_TO cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to
#define LISTS   cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to
#define NODES   cudaGraphNode_t node, cudaGraphNode_t *all

#define PLAIN(...) __VA_ARGS__

/* A call with the data of edges, and the same without it; `number` is its last parameter. */
#define EDGE_CALL(name, parameters, data_type, number_type, function, ...)                         \
    API cudaError_t name##_v2(PLAIN parameters, data_type *data, number_type number);              \
    API cudaError_t name##_v2(PLAIN parameters, data_type *data, number_type number)               \
    {                                                                                              \
        return CALL(function(__VA_ARGS__, data, number));                                          \
    }                                                                                              \
    EDGE_CALL_OF_BOTH(name, parameters, data_type, number_type, function, __VA_ARGS__)

#if CUDART_VERSION >= 13000
#define EDGE_CALL_OF_BOTH(name, parameters, data_type, number_type, function, ...)                 \
    API cudaError_t name(PLAIN parameters, data_type *data, number_type number)                    \
    {                                                                                              \
        return is_program_of_12()                                                                  \
                   ? CALL(function(__VA_ARGS__, NULL, (number_type) (uintptr_t) data))             \
                   : CALL(function(__VA_ARGS__, data, number));                                    \
    }
#else
#define EDGE_CALL_OF_BOTH(name, parameters, data_type, number_type, function, ...)                 \
    API cudaError_t name(PLAIN parameters, number_type number)                                     \
    {                                                                                              \
        return CALL(function(__VA_ARGS__, NULL, number));                                          \
    }
#endif

EDGE_CALL(cudaGraphAddDependencies, (FROM_TO), const cudaGraphEdgeData, size_t, add_edges,
          graph_of(graph), from, to)
EDGE_CALL(cudaGraphRemoveDependencies, (FROM_TO), const cudaGraphEdgeData, size_t, remove_edges,
          graph_of(graph), from, to)
EDGE_CALL(cudaGraphGetEdges, (LISTS), cudaGraphEdgeData, size_t *, edges, graph_of(graph), from, to)
EDGE_CALL(cudaGraphNodeGetDependencies, (NODES), cudaGraphEdgeData, size_t *, before, node_of(node),
          all)
EDGE_CALL(cudaGraphNodeGetDependentNodes, (NODES), cudaGraphEdgeData, size_t *, after,
          node_of(node), all)

/* ---- Nodes ---- */

static cudaError_t type_of(const Node *node, enum cudaGraphNodeType *type)
{
    if (!node || !type)
        return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
}

static cudaError_t find_in(cudaGraphNode_t *handle, const Node *original, const Graph *clone)
{
    Node *node = original ? node_in(clone, original) : NULL;

    if (!handle || !node)
        return cudaErrorInvalidValue;
    *handle = (cudaGraphNode_t) node;
    return cudaSuccess;
}

API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    return CALL(type_of(node_of(node), type));
}

API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                         cudaGraph_t clone)
{
    return CALL(find_in(node, node_of(original), graph_of(clone)));
}

static cudaError_t destroy(Node *node)
{
    if (!node)
        return cudaErrorInvalidValue;
    if (node->graph->capturing) /* the capture may add nodes after it */
        return cudaErrorIllegalState;
    node_free(node);
    return cudaSuccess;
}

API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return CALL(destroy(node_of(node)));
}

/* ---- Updates: an executable graph takes the parameters of a graph of the same shape ---- */

static bool same_edges(const Graph *exec, const Node *a, const Graph *graph, const Node *b)
{
    if (a->before_count != b->before_count)
        return false;
    for (int i = 0; i < a->before_count; i++)
        if (node_index(exec, a->before[i]) != node_index(graph, b->before[i]) ||
            memcmp(&a->data[i], &b->data[i], sizeof *a->data))
            return false;
    return true;
}

static void replace_work(Node *node, Node *with)
{
    Work *work = node->work;

    node->work = with->work;
    with->work = work;
    node->params = with->params;
    node->event = with->event;
    node->original = with->original;
    free(node->arguments);
    node->arguments = NULL;
    if (node->child && with->child) {
        Graph *child = node->child;
        node->child = with->child;
        with->child = child;
    }
}

/* `copy`: of the graph, in the order of a launch. */
static cudaError_t update(Graph *exec, Graph *copy, cudaGraphExecUpdateResultInfo *info)
{
    const Node *wrong = NULL;
    Node *a = exec->first, *b = copy->first;

    info->result = exec->count == copy->count ? cudaGraphExecUpdateSuccess
                                              : cudaGraphExecUpdateErrorTopologyChanged;
    for (; a && b && !info->result; a = a->next, b = b->next) {
        wrong = b->original;
        if (a->type != b->type)
            info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
        else if (!same_edges(exec, a, copy, b))
            info->result = cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (info->result) {
        info->errorNode = (cudaGraphNode_t) wrong;
        return cudaErrorGraphExecUpdateFailure;
    }
    for (a = exec->first, b = copy->first; a && b; a = a->next, b = b->next)
        replace_work(a, b);
    Held *held = exec->held;
    exec->held = copy->held;
    copy->held = held;
    return cudaSuccess;
}

static cudaError_t update_exec(Graph *exec, const Graph *graph, cudaGraphExecUpdateResultInfo *info)
{
    Graph *copy = exec && graph && !graph->capturing ? graph_copy(graph) : NULL;
    cudaError_t error;

    if (!exec || !graph || !info || !copy) {
        if (copy)
            graph_free(copy);
        return cudaErrorInvalidValue;
    }
    memset(info, 0, sizeof *info);
    error = update(exec, copy, info);
    graph_free(copy);
    return error;
}

API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                    cudaGraphExecUpdateResultInfo *info)
{
    return CALL(update_exec(graph_exec(exec), graph_of(graph), info));
}
