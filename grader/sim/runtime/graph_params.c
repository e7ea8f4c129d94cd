/* graph_params.c - reads the parameters of nodes back, and switches nodes of executable graphs off.
 */
#include "sim/runtime/graph.h"

#include <stdlib.h>

#define NODE cudaGraphNode_t node
#define EXEC cudaGraphExec_t exec, cudaGraphNode_t node

/* ---- Reading parameters back ---- */

static cudaError_t read_kernel(Node *node, struct cudaKernelNodeParams *params)
{
    const KernelWork *work;

    if (!node || node->type != cudaGraphNodeTypeKernel || !params)
        return cudaErrorInvalidValue;
    work = &node->work->kernel;
    if (!node->arguments && !(node->arguments = kernel_arguments(work)))
        return cudaErrorMemoryAllocation;
    *params = (struct cudaKernelNodeParams){
        .func = (void *) work->function->host,
        .gridDim = { (unsigned) work->grid[0], (unsigned) work->grid[1], (unsigned) work->grid[2] },
        .blockDim = { (unsigned) work->block[0], (unsigned) work->block[1],
                      (unsigned) work->block[2] },
        .sharedMemBytes = (unsigned) work->dynamic_shared_bytes,
        .kernelParams = node->arguments,
    };
    return cudaSuccess;
}

/* Captured copies and fills have no parameters as a program gave them. */
static struct cudaMemcpy3DParms captured_copy(const CopyWork *copy)
{
    static const enum cudaMemcpyKind kinds[2][2] = {
        { cudaMemcpyHostToHost, cudaMemcpyHostToDevice },
        { cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice },
    };

    return (struct cudaMemcpy3DParms){
        .srcPtr = { (void *) (uintptr_t) copy->from, copy->from_pitch, copy->width, copy->height },
        .dstPtr = { (void *) (uintptr_t) copy->to, copy->to_pitch, copy->width, copy->height },
        .extent = { copy->width, copy->height, copy->depth },
        .kind = kinds[copy->from_device][copy->to_device],
    };
}

static struct cudaMemsetParams captured_fill(const FillWork *fill)
{
    return (struct cudaMemsetParams){ .dst = (void *) (uintptr_t) fill->to,
                                      .pitch = fill->pitch,
                                      .value = fill->value[0],
                                      .elementSize = 1,
                                      .width = fill->width,
                                      .height = fill->height };
}

static cudaError_t read_copy(const Node *node, struct cudaMemcpy3DParms *params)
{
    if (!node || node->type != cudaGraphNodeTypeMemcpy || !params)
        return cudaErrorInvalidValue;
    *params = node->params.copy.extent.depth ? node->params.copy : captured_copy(&node->work->copy);
    return cudaSuccess;
}

static cudaError_t read_fill(const Node *node, struct cudaMemsetParams *params)
{
    if (!node || node->type != cudaGraphNodeTypeMemset || !params)
        return cudaErrorInvalidValue;
    *params = node->params.fill.dst ? node->params.fill : captured_fill(&node->work->fill);
    return cudaSuccess;
}

static cudaError_t read_host(const Node *node, struct cudaHostNodeParams *params)
{
    if (!node || node->type != cudaGraphNodeTypeHost || !params)
        return cudaErrorInvalidValue;
    *params = (struct cudaHostNodeParams){ .fn = node->work->host.function,
                                           .userData = node->work->host.data };
    return cudaSuccess;
}

static cudaError_t read_event(const Node *node, enum cudaGraphNodeType type, cudaEvent_t *event)
{
    if (!node || node->type != type || !event)
        return cudaErrorInvalidValue;
    *event = node->event;
    return cudaSuccess;
}

/* The child's own nodes may be read and changed. */
static cudaError_t read_child(const Node *node, cudaGraph_t *graph)
{
    if (!node || !node->child || !graph || !handle_set(HANDLE_GRAPH, node->child, node->child))
        return cudaErrorInvalidValue;
    *graph = (cudaGraph_t) node->child;
    return cudaSuccess;
}

API cudaError_t cudaGraphKernelNodeGetParams(NODE, struct cudaKernelNodeParams *params)
{
    return CALL(read_kernel(node_of(node), params));
}

API cudaError_t cudaGraphMemcpyNodeGetParams(NODE, struct cudaMemcpy3DParms *params)
{
    return CALL(read_copy(node_of(node), params));
}

API cudaError_t cudaGraphMemsetNodeGetParams(NODE, struct cudaMemsetParams *params)
{
    return CALL(read_fill(node_of(node), params));
}

API cudaError_t cudaGraphHostNodeGetParams(NODE, struct cudaHostNodeParams *params)
{
    return CALL(read_host(node_of(node), params));
}

API cudaError_t cudaGraphEventRecordNodeGetEvent(NODE, cudaEvent_t *event)
{
    return CALL(read_event(node_of(node), cudaGraphNodeTypeEventRecord, event));
}

API cudaError_t cudaGraphEventWaitNodeGetEvent(NODE, cudaEvent_t *event)
{
    return CALL(read_event(node_of(node), cudaGraphNodeTypeWaitEvent, event));
}

API cudaError_t cudaGraphChildGraphNodeGetGraph(NODE, cudaGraph_t *graph)
{
    return CALL(read_child(node_of(node), graph));
}

static cudaError_t read_free(const Node *node, void **pointer)
{
    if (!node || node->type != cudaGraphNodeTypeMemFree || !pointer)
        return cudaErrorInvalidValue;
    *pointer = (void *) (uintptr_t) node->work->base;
    return cudaSuccess;
}

/* Memory of graphs is always the device's own, so only its size and address differ. */
static cudaError_t read_allocation(const Node *node, struct cudaMemAllocNodeParams *params)
{
    const Allocation *allocation;

    if (!node || node->type != cudaGraphNodeTypeMemAlloc || !params)
        return cudaErrorInvalidValue;
    allocation = memory_nearest(node->work->base);
    if (!allocation || allocation->base != node->work->base)
        return cudaErrorInvalidValue;
    *params = (struct cudaMemAllocNodeParams){
        .poolProps = { .allocType = cudaMemAllocationTypePinned,
                       .location = { .type = cudaMemLocationTypeDevice } },
        .bytesize = allocation->bytes,
        .dptr = (void *) (uintptr_t) node->work->base,
    };
    return cudaSuccess;
}

API cudaError_t cudaGraphMemAllocNodeGetParams(NODE, struct cudaMemAllocNodeParams *params)
{
    return CALL(read_allocation(node_of(node), params));
}

API cudaError_t cudaGraphMemFreeNodeGetParams(NODE, void *pointer)
{
    return CALL(read_free(node_of(node), pointer));
}

static cudaError_t exec_flags(const Graph *exec, unsigned long long *flags)
{
    if (!exec || !flags)
        return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
}

API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    return CALL(exec_flags(graph_exec(exec), flags));
}

/* ---- Enabling ---- */

static cudaError_t enable(Node *node, unsigned on)
{
    if (!node || (node->type != cudaGraphNodeTypeKernel && node->type != cudaGraphNodeTypeMemcpy &&
                  node->type != cudaGraphNodeTypeMemset))
        return cudaErrorInvalidValue;
    node->disabled = !on;
    return cudaSuccess;
}

static cudaError_t is_enabled(const Node *node, unsigned *on)
{
    if (!node || !on)
        return cudaErrorInvalidValue;
    *on = !node->disabled;
    return cudaSuccess;
}

API cudaError_t cudaGraphNodeSetEnabled(EXEC, unsigned on)
{
    return CALL(enable(node_in_exec(exec, node), on));
}

API cudaError_t cudaGraphNodeGetEnabled(EXEC, unsigned *on)
{
    return CALL(is_enabled(node_in_exec(exec, node), on));
}
