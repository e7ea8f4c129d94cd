/* graph_node.c - nodes that a program adds one by one, and their parameters.
 *
 * Each kind of node has three calls that take parameters: add a node, change a node of a graph, and
 * change the copy of a node in an executable graph. All make the same work.
 */
#include "sim/runtime/graph.h"
#include "sim/runtime/launch.h"

#include <stdlib.h>
#include <string.h>

/* Work for a node, with what can be read back. */
typedef struct Made {
    enum cudaGraphNodeType type;
    Work *work;
    NodeParams params;
    cudaEvent_t event;
    Graph *child;
    cudaError_t error;
} Made;

/* ---- Adding and changing ---- */

static bool read_nodes(const cudaGraphNode_t *handles, size_t count, const Graph *graph,
                       Node ***nodes)
{
    *nodes = calloc(count + 1, sizeof **nodes);
    if (!*nodes || (count && !handles))
        return false;
    for (size_t i = 0; i < count; i++) {
        (*nodes)[i] = node_of(handles[i]);
        if (!(*nodes)[i] || (*nodes)[i]->graph != graph)
            return false;
    }
    return true;
}

static void take(Node *node, const Made *made)
{
    node->params = made->params;
    node->event = made->event;
    node->child = made->child;
    if (node->child)
        node->child->of_node = true;
}

static cudaError_t add(cudaGraphNode_t *handle, Graph *graph, const cudaGraphNode_t *before,
                       size_t count, Made made)
{
    Node **nodes = NULL, *node = NULL;
    bool well;

    if (made.error)
        return made.error;
    well = handle && graph && count < INT32_MAX && read_nodes(before, count, graph, &nodes);
    if (well)
        node = node_new(graph, made.type, made.work, nodes, (int) count);
    else
        work_free(made.work);
    free(nodes);
    if (!node) {
        if (made.child)
            graph_free(made.child);
        return well ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    }
    take(node, &made);
    node->loose = graph->capturing;
    *handle = (cudaGraphNode_t) node;
    return cudaSuccess;
}

static cudaError_t drop(const Made *made, cudaError_t error)
{
    work_free(made->work);
    if (made->child)
        graph_free(made->child);
    return error;
}

static cudaError_t set(Node *node, Made made)
{
    if (made.error)
        return made.error;
    if (!node || node->type != made.type)
        return drop(&made, cudaErrorInvalidValue);
    if (made.type == cudaGraphNodeTypeKernel) {
        launch_keep_attributes(&made.work->kernel, &node->work->kernel);
        const cudaError_t error = launch_check_work(&made.work->kernel);
        if (error)
            return drop(&made, error);
    }
    work_free(node->work);
    node->work = made.work;
    free(node->arguments);
    node->arguments = NULL;
    if (node->child)
        graph_free(node->child);
    take(node, &made);
    return cudaSuccess;
}

/* The copy in an executable graph, also if the node's own graph was a copy, or is a child. */
static Node *node_of_exec(const Graph *exec, const Node *node)
{
    Node *found = exec && node ? node_in(exec, node) : NULL;

    for (Node *at = exec ? exec->first : NULL; at && !found && node; at = at->next)
        if (at->child)
            found = node_of_exec(at->child, node);
    return found;
}

Node *node_in_exec(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    return node_of_exec(graph_exec(exec), node_of(node));
}

/* ---- The work of each kind ---- */

static Made kernel(const struct cudaKernelNodeParams *params)
{
    Made made = { .type = cudaGraphNodeTypeKernel };

    made.error = params ? work_of_kernel(params, &made.work) : cudaErrorInvalidValue;
    return made;
}

static Made copy(const struct cudaMemcpy3DParms *params)
{
    Made made = { .type = cudaGraphNodeTypeMemcpy };

    made.error = params ? work_of_copy(params, "a memcpy node", &made.work) : cudaErrorInvalidValue;
    if (!made.error)
        made.params.copy = *params;
    return made;
}

static Made copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms params = {
        .srcPtr = { (void *) from, bytes, bytes, 1 },
        .dstPtr = { to, bytes, bytes, 1 },
        .extent = { bytes, 1, 1 },
        .kind = kind,
    };

    return copy(&params);
}

static Made copy_symbol(const void *symbol, size_t bytes, size_t offset, void *to, const void *from,
                        enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = symbol_at(symbol, bytes, offset, &at);

    if (error)
        return (Made){ .error = error };
    return copy_row(to ? to : at, to ? at : from, bytes, kind);
}

static Made fill(const struct cudaMemsetParams *params)
{
    Made made = { .type = cudaGraphNodeTypeMemset };

    made.error = params ? work_of_fill(params, &made.work) : cudaErrorInvalidValue;
    if (!made.error)
        made.params.fill = *params;
    return made;
}

static Made plain(enum cudaGraphNodeType type, Work *work)
{
    return (Made){ .type = type,
                   .work = work,
                   .error = work ? cudaSuccess : cudaErrorMemoryAllocation };
}

static Made host(const struct cudaHostNodeParams *params)
{
    Made made;

    if (!params || !params->fn)
        return (Made){ .error = cudaErrorInvalidValue };
    made = plain(cudaGraphNodeTypeHost, work_new(WORK_HOST));
    if (made.work)
        made.work->host = (HostWork){ .function = params->fn, .data = params->userData };
    return made;
}

static Made empty(void)
{
    return plain(cudaGraphNodeTypeEmpty, work_new(WORK_EMPTY));
}

static Made event_node(enum cudaGraphNodeType type, cudaEvent_t event)
{
    Made made;

    if (!handle_get(HANDLE_EVENT, event))
        return (Made){ .error = cudaErrorInvalidResourceHandle };
    made = plain(type, work_new(WORK_EMPTY));
    made.event = event;
    return made;
}

static Made child(const Graph *graph)
{
    Made made;

    if (!graph || graph->capturing)
        return (Made){ .error = cudaErrorInvalidValue };
    made = plain(cudaGraphNodeTypeGraph, work_new(WORK_EMPTY));
    made.child = made.error ? NULL : graph_copy(graph);
    if (!made.error && !made.child)
        return (Made){ .error = drop(&made, cudaErrorMemoryAllocation) };
    return made;
}

/* The address is fixed when the node is added. */
static Made allocation(struct cudaMemAllocNodeParams *params)
{
    Made made;

    if (!params || params->poolProps.allocType != cudaMemAllocationTypePinned ||
        params->poolProps.location.type != cudaMemLocationTypeDevice ||
        params->poolProps.location.id)
        return (Made){ .error = cudaErrorInvalidValue };
    made = plain(cudaGraphNodeTypeMemAlloc, work_new(WORK_ALLOCATE));
    if (made.error)
        return made;
    made.error = pool_reserve(&params->dptr, params->bytesize);
    if (made.error)
        work_free(made.work);
    else
        made.work->base = (uint64_t) (uintptr_t) params->dptr;
    return made;
}

static Made freeing(const void *pointer)
{
    Made made;

    if (!pool_may_free(pointer))
        return (Made){ .error = cudaErrorInvalidValue };
    made = plain(cudaGraphNodeTypeMemFree, work_new(WORK_FREE));
    if (made.work)
        made.work->base = (uint64_t) (uintptr_t) pointer;
    return made;
}

/* ---- The calls ---- */

#define NODE   cudaGraphNode_t node
#define EXEC   cudaGraphExec_t exec, cudaGraphNode_t node
#define PLACE  cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count
#define ADD(m) CALL(add(node, graph_of(graph), before, count, m))

API cudaError_t cudaGraphAddKernelNode(PLACE, const struct cudaKernelNodeParams *params)
{
    return ADD(kernel(params));
}

API cudaError_t cudaGraphKernelNodeSetParams(NODE, const struct cudaKernelNodeParams *params)
{
    return CALL(set(node_of(node), kernel(params)));
}

API cudaError_t cudaGraphExecKernelNodeSetParams(EXEC, const struct cudaKernelNodeParams *params)
{
    return CALL(set(node_in_exec(exec, node), kernel(params)));
}

API cudaError_t cudaGraphAddMemcpyNode(PLACE, const struct cudaMemcpy3DParms *params)
{
    return ADD(copy(params));
}

API cudaError_t cudaGraphMemcpyNodeSetParams(NODE, const struct cudaMemcpy3DParms *params)
{
    return CALL(set(node_of(node), copy(params)));
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams(EXEC, const struct cudaMemcpy3DParms *params)
{
    return CALL(set(node_in_exec(exec, node), copy(params)));
}

#define ROW void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind
#define TO_SYMBOL                                                                                  \
    const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind
#define FROM_SYMBOL                                                                                \
    void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind

API cudaError_t cudaGraphAddMemcpyNode1D(PLACE, ROW)
{
    return ADD(copy_row(to, from, bytes, kind));
}

API cudaError_t cudaGraphMemcpyNodeSetParams1D(NODE, ROW)
{
    return CALL(set(node_of(node), copy_row(to, from, bytes, kind)));
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(EXEC, ROW)
{
    return CALL(set(node_in_exec(exec, node), copy_row(to, from, bytes, kind)));
}

API cudaError_t cudaGraphAddMemcpyNodeToSymbol(PLACE, TO_SYMBOL)
{
    return ADD(copy_symbol(symbol, bytes, offset, NULL, from, kind));
}

API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(NODE, TO_SYMBOL)
{
    return CALL(set(node_of(node), copy_symbol(symbol, bytes, offset, NULL, from, kind)));
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(EXEC, TO_SYMBOL)
{
    return CALL(
        set(node_in_exec(exec, node), copy_symbol(symbol, bytes, offset, NULL, from, kind)));
}

API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(PLACE, FROM_SYMBOL)
{
    return ADD(copy_symbol(symbol, bytes, offset, to, NULL, kind));
}

API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(NODE, FROM_SYMBOL)
{
    return CALL(set(node_of(node), copy_symbol(symbol, bytes, offset, to, NULL, kind)));
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(EXEC, FROM_SYMBOL)
{
    return CALL(set(node_in_exec(exec, node), copy_symbol(symbol, bytes, offset, to, NULL, kind)));
}

API cudaError_t cudaGraphAddMemsetNode(PLACE, const struct cudaMemsetParams *params)
{
    return ADD(fill(params));
}

API cudaError_t cudaGraphMemsetNodeSetParams(NODE, const struct cudaMemsetParams *params)
{
    return CALL(set(node_of(node), fill(params)));
}

API cudaError_t cudaGraphExecMemsetNodeSetParams(EXEC, const struct cudaMemsetParams *params)
{
    return CALL(set(node_in_exec(exec, node), fill(params)));
}

API cudaError_t cudaGraphAddHostNode(PLACE, const struct cudaHostNodeParams *params)
{
    return ADD(host(params));
}

API cudaError_t cudaGraphHostNodeSetParams(NODE, const struct cudaHostNodeParams *params)
{
    return CALL(set(node_of(node), host(params)));
}

API cudaError_t cudaGraphExecHostNodeSetParams(EXEC, const struct cudaHostNodeParams *params)
{
    return CALL(set(node_in_exec(exec, node), host(params)));
}

API cudaError_t cudaGraphAddEmptyNode(PLACE)
{
    return ADD(empty());
}

API cudaError_t cudaGraphAddEventRecordNode(PLACE, cudaEvent_t event)
{
    return ADD(event_node(cudaGraphNodeTypeEventRecord, event));
}

API cudaError_t cudaGraphEventRecordNodeSetEvent(NODE, cudaEvent_t event)
{
    return CALL(set(node_of(node), event_node(cudaGraphNodeTypeEventRecord, event)));
}

API cudaError_t cudaGraphExecEventRecordNodeSetEvent(EXEC, cudaEvent_t event)
{
    return CALL(set(node_in_exec(exec, node), event_node(cudaGraphNodeTypeEventRecord, event)));
}

API cudaError_t cudaGraphAddEventWaitNode(PLACE, cudaEvent_t event)
{
    return ADD(event_node(cudaGraphNodeTypeWaitEvent, event));
}

API cudaError_t cudaGraphEventWaitNodeSetEvent(NODE, cudaEvent_t event)
{
    return CALL(set(node_of(node), event_node(cudaGraphNodeTypeWaitEvent, event)));
}

API cudaError_t cudaGraphExecEventWaitNodeSetEvent(EXEC, cudaEvent_t event)
{
    return CALL(set(node_in_exec(exec, node), event_node(cudaGraphNodeTypeWaitEvent, event)));
}

API cudaError_t cudaGraphAddChildGraphNode(PLACE, cudaGraph_t of)
{
    return ADD(child(graph_of(of)));
}

API cudaError_t cudaGraphExecChildGraphNodeSetParams(EXEC, cudaGraph_t of)
{
    return CALL(set(node_in_exec(exec, node), child(graph_of(of))));
}

API cudaError_t cudaGraphAddMemAllocNode(PLACE, struct cudaMemAllocNodeParams *params)
{
    return ADD(allocation(params));
}

API cudaError_t cudaGraphAddMemFreeNode(PLACE, void *pointer)
{
    return ADD(freeing(pointer));
}
