/* A graph built node by node, as samples do: copies, a fill, kernels, a host function, a child
 * graph, events. Its parameters are read back and changed, in the graph and in the executable
 * graph; a clone and an update.
 *
 * expect: ok
 * schedules: forward reverse random:5
 */
#include "check.h"

#include <vector>

enum { N = 1000 };

__global__ void scale(float *out, const float *in, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] * factor;
}

__global__ void sum(const float *in, float *out, int n)
{
    float total = 0;

    for (int i = 0; i < n; i++)
        total += in[i];
    *out += total;
}

__constant__ float offset;

__global__ void add_offset(float *out)
{
    *out += offset;
}

static void CUDART_CB count(void *data)
{
    ++*(int *) data;
}

struct Nodes {
    cudaGraphNode_t in, clear, scale, sum, out, host, offset;
};

static cudaKernelNodeParams kernel(void *function, int blocks, int threads, void **arguments)
{
    cudaKernelNodeParams params = {};

    params.func = function;
    params.gridDim = dim3(blocks);
    params.blockDim = dim3(threads);
    params.kernelParams = arguments;
    return params;
}

// Nodes are added out of order; the edges give the order.
static cudaGraph_t build(Nodes *nodes, float *host, float *a, float *b, float *total, float *result,
                         int *calls, float factor)
{
    cudaGraph_t graph;
    int n = N;
    const float *from = a, *summed = b;
    void *scale_arguments[] = { &b, &from, &factor, &n };
    void *sum_arguments[] = { &summed, &total, &n };
    void *offset_arguments[] = { &total };
    cudaKernelNodeParams scaled = kernel((void *) scale, 4, 256, scale_arguments);
    cudaKernelNodeParams adds = kernel((void *) sum, 1, 1, sum_arguments);
    cudaKernelNodeParams offsets = kernel((void *) add_offset, 1, 1, offset_arguments);
    cudaMemsetParams clear = {};
    cudaMemcpy3DParms in = {};
    cudaHostNodeParams called = { count, calls };
    float seven = 7;
    cudaGraphNode_t to_symbol;

    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&nodes->sum, graph, NULL, 0, &adds));
    OK(cudaGraphAddKernelNode(&nodes->scale, graph, NULL, 0, &scaled));
    in.srcPtr = make_cudaPitchedPtr(host, N * sizeof(float), N, 1);
    in.dstPtr = make_cudaPitchedPtr(a, N * sizeof(float), N, 1);
    in.extent = make_cudaExtent(N * sizeof(float), 1, 1);
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaGraphAddMemcpyNode(&nodes->in, graph, NULL, 0, &in));
    clear.dst = total;
    clear.elementSize = 4;
    clear.width = 1;
    clear.height = 1;
    OK(cudaGraphAddMemsetNode(&nodes->clear, graph, NULL, 0, &clear));
    OK(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, NULL, 0, offset, &seven, sizeof seven, 0,
                                      cudaMemcpyHostToDevice));
    cudaGraphNode_t before[] = { nodes->sum, to_symbol };
    OK(cudaGraphAddKernelNode(&nodes->offset, graph, before, 2, &offsets));
    OK(cudaGraphAddMemcpyNode1D(&nodes->out, graph, &nodes->offset, 1, result, total,
                                sizeof *result, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddHostNode(&nodes->host, graph, &nodes->out, 1, &called));
    cudaGraphNode_t first[] = { nodes->in, nodes->clear, nodes->scale };
    cudaGraphNode_t second[] = { nodes->scale, nodes->sum, nodes->sum };
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddDependencies(graph, first, second, NULL, 3));
    EXPECT(cudaErrorInvalidValue,
           cudaGraphAddDependencies(graph, second, first, NULL, 1)); // a cycle
#else
    OK(cudaGraphAddDependencies(graph, first, second, 3));
#endif
    OK(cudaGraphNodeGetType(nodes->host, (cudaGraphNodeType *) &n));
    CHECK(n == cudaGraphNodeTypeHost);
    // The value is copied when the graph runs, so it must not be a local variable.
    static float kept = 7;
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(to_symbol, offset, &kept, sizeof kept, 0,
                                            cudaMemcpyHostToDevice));
    return graph;
}

static void shape(cudaGraph_t graph, const Nodes *nodes)
{
    size_t all = 0, roots = 0;
    cudaKernelNodeParams params;

    OK(cudaGraphGetNodes(graph, NULL, &all));
    OK(cudaGraphGetRootNodes(graph, NULL, &roots));
    CHECK(all == 8 && roots == 3);
    std::vector<cudaGraphNode_t> list(all);
    OK(cudaGraphGetNodes(graph, list.data(), &all));
    CHECK(list[0] == nodes->sum);
#if CUDART_VERSION >= 13000
    size_t edges = 0, before = 5, after = 0;
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    OK(cudaGraphNodeGetDependencies(nodes->sum, list.data(), NULL, &before));
    OK(cudaGraphNodeGetDependentNodes(nodes->sum, NULL, NULL, &after));
    CHECK(edges == 7 && before == 2 && after == 1);
#endif
    OK(cudaGraphKernelNodeGetParams(nodes->scale, &params));
    CHECK(params.blockDim.x == 256 && *(float *) params.kernelParams[2] == 2.0f);
}

static float run(cudaGraphExec_t exec, cudaStream_t stream, const float *result)
{
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    return *result;
}

int main()
{
    float *a, *b, *total, *result, *host;
    int calls = 0;
    Nodes nodes, others;
    cudaStream_t stream;
    cudaGraphExec_t exec, whole;
    cudaGraphExecUpdateResultInfo info;
    cudaKernelNodeParams params;
    cudaGraphNode_t node, in_clone;
    cudaEvent_t begun, ended;
    float ms = -1;

    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&a, N * sizeof *a));
    OK(cudaMalloc(&b, N * sizeof *b));
    OK(cudaMalloc(&total, sizeof *total));
    OK(cudaMallocHost(&host, N * sizeof *host));
    OK(cudaMallocHost(&result, sizeof *result));
    for (int i = 0; i < N; i++)
        host[i] = (float) (i % 10);
    cudaGraph_t graph = build(&nodes, host, a, b, total, result, &calls, 2);
    shape(graph, &nodes);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(run(exec, stream, result) == 9007 && run(exec, stream, result) == 9007 && calls == 2);

    // Another factor in the executable graph only, then by an update with another graph.
    OK(cudaGraphKernelNodeGetParams(nodes.scale, &params));
    float factor = 3;
    params.kernelParams[2] = &factor;
    OK(cudaGraphExecKernelNodeSetParams(exec, nodes.scale, &params));
    CHECK(run(exec, stream, result) == 13507);
    cudaGraph_t other = build(&others, host, a, b, total, result, &calls, 4);
    OK(cudaGraphExecUpdate(exec, other, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    CHECK(run(exec, stream, result) == 18007);
    OK(cudaGraphAddEmptyNode(&node, other, NULL, 0));
    EXPECT(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    (void) cudaGetLastError();

    // The clone keeps its parameters when the original changes; both as child graphs, between
    // events.
    cudaGraph_t clone, parent;
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&in_clone, nodes.scale, clone));
    OK(cudaGraphKernelNodeGetParams(in_clone, &params));
    CHECK(*(float *) params.kernelParams[2] == 2.0f);
    factor = 5;
    params.kernelParams[2] = &factor;
    OK(cudaGraphKernelNodeSetParams(in_clone, &params));
    OK(cudaEventCreate(&begun));
    OK(cudaEventCreate(&ended));
    OK(cudaGraphCreate(&parent, 0));
    OK(cudaGraphAddEventRecordNode(&node, parent, NULL, 0, begun));
    OK(cudaGraphAddChildGraphNode(&node, parent, &node, 1, graph));
    OK(cudaGraphAddChildGraphNode(&node, parent, &node, 1, clone));
    OK(cudaGraphAddEventRecordNode(&node, parent, &node, 1, ended));
    OK(cudaGraphInstantiate(&whole, parent, 0));
    calls = 0;
    CHECK(run(whole, stream, result) == 22507 && calls == 2);
    OK(cudaEventElapsedTime(&ms, begun, ended));
    CHECK(ms >= 0);

    OK(cudaGraphExecDestroy(whole));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(parent));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(other));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(total));
    OK(cudaFreeHost(host));
    OK(cudaFreeHost(result));
    printf("ok\n");
}
