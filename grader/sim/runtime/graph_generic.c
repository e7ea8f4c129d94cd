/* graph_generic.c - nodes of any kind by one call: the kind is part of the parameters. Each kind is
 * passed to its own call. */
#include "sim/runtime/graph.h"
#include "sim/runtime/program.h"

static cudaError_t refuse_kind(const char *call)
{
    rt_finding(FINDING_UNKNOWN_CALL, true, call,
               "conditional nodes and nodes of external semaphores are not simulated; the call "
               "returns cudaErrorNotSupported");
    last_error_set(cudaErrorNotSupported);
    return cudaErrorNotSupported;
}

/* ---- The parameters that differ from those of the older calls ---- */

static struct cudaKernelNodeParams kernel_of(const struct cudaGraphNodeParams *params)
{
    return (struct cudaKernelNodeParams){ .func = params->kernel.func,
                                          .gridDim = params->kernel.gridDim,
                                          .blockDim = params->kernel.blockDim,
                                          .sharedMemBytes = params->kernel.sharedMemBytes,
                                          .kernelParams = params->kernel.kernelParams,
                                          .extra = params->kernel.extra };
}

static struct cudaMemsetParams fill_of(const struct cudaGraphNodeParams *params)
{
    return (struct cudaMemsetParams){ .dst = params->memset.dst,
                                      .pitch = params->memset.pitch,
                                      .value = params->memset.value,
                                      .elementSize = params->memset.elementSize,
                                      .width = params->memset.width,
                                      .height = params->memset.height };
}

static struct cudaHostNodeParams host_of(const struct cudaGraphNodeParams *params)
{
    return (struct cudaHostNodeParams){ .fn = params->host.fn, .userData = params->host.userData };
}

/* ---- Adding ---- */

#define PLACE cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count

static cudaError_t add_allocation(PLACE, struct cudaGraphNodeParams *params)
{
    struct cudaMemAllocNodeParams of_call = { .poolProps = params->alloc.poolProps,
                                              .accessDescs = params->alloc.accessDescs,
                                              .accessDescCount = params->alloc.accessDescCount,
                                              .bytesize = params->alloc.bytesize };
    const cudaError_t error = cudaGraphAddMemAllocNode(node, graph, before, count, &of_call);

    params->alloc.dptr = of_call.dptr;
    return error;
}

static cudaError_t add(PLACE, struct cudaGraphNodeParams *params)
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;

    switch (params ? (int) params->type : -1) {
    case -1:
        return cudaErrorInvalidValue;
    case cudaGraphNodeTypeKernel:
        kernel = kernel_of(params);
        return cudaGraphAddKernelNode(node, graph, before, count, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(node, graph, before, count, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        fill = fill_of(params);
        return cudaGraphAddMemsetNode(node, graph, before, count, &fill);
    case cudaGraphNodeTypeHost:
        host = host_of(params);
        return cudaGraphAddHostNode(node, graph, before, count, &host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, before, count, params->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(node, graph, before, count);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(node, graph, before, count, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, before, count, params->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
        return add_allocation(node, graph, before, count, params);
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, before, count, params->free.dptr);
    default:
        return refuse_kind("cudaGraphAddNode");
    }
}

/* A node whose edges cannot have their data is not added. */
static cudaError_t give_data(Node *node, const cudaGraphNode_t *before,
                             const cudaGraphEdgeData *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const Node *from = node_of(before[i]);
        if (!edge_allows(from, node, &data[i])) {
            node_free(node);
            return cudaErrorInvalidValue;
        }
        node->data[node_edge(node, from)] = data[i];
    }
    return cudaSuccess;
}

static cudaError_t add_with_data(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
                                 size_t count, struct cudaGraphNodeParams *params)
{
    const cudaError_t error = add(node, graph, before, count, params);

    return error || !data ? error : CALL(give_data(node_of(*node), before, data, count));
}

/* Programs that were built with CUDA 12 pass no data of edges to cudaGraphAddNode. */
API cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
                                    size_t count, struct cudaGraphNodeParams *params);
API cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
                                    size_t count, struct cudaGraphNodeParams *params)
{
    return add_with_data(node, graph, before, data, count, params);
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
                                 size_t count, struct cudaGraphNodeParams *params)
{
    if (is_program_of_12())
        return add(node, graph, before, (size_t) (uintptr_t) data,
                   (struct cudaGraphNodeParams *) count);
    return add_with_data(node, graph, before, data, count, params);
}
#else
API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *before, size_t count,
                                 struct cudaGraphNodeParams *params)
{
    return add(node, graph, before, count, params);
}
#endif

/* ---- Changing ---- */

API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;

    switch (params ? (int) params->type : -1) {
    case -1:
        return cudaErrorInvalidValue;
    case cudaGraphNodeTypeKernel:
        kernel = kernel_of(params);
        return cudaGraphKernelNodeSetParams(node, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphMemcpyNodeSetParams(node, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        fill = fill_of(params);
        return cudaGraphMemsetNodeSetParams(node, &fill);
    case cudaGraphNodeTypeHost:
        host = host_of(params);
        return cudaGraphHostNodeSetParams(node, &host);
    default:
        return refuse_kind("cudaGraphNodeSetParams");
    }
}

API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           struct cudaGraphNodeParams *params)
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;

    switch (params ? (int) params->type : -1) {
    case -1:
        return cudaErrorInvalidValue;
    case cudaGraphNodeTypeKernel:
        kernel = kernel_of(params);
        return cudaGraphExecKernelNodeSetParams(exec, node, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        fill = fill_of(params);
        return cudaGraphExecMemsetNodeSetParams(exec, node, &fill);
    case cudaGraphNodeTypeHost:
        host = host_of(params);
        return cudaGraphExecHostNodeSetParams(exec, node, &host);
    default:
        return refuse_kind("cudaGraphExecNodeSetParams");
    }
}
