/* graph_any_node.cu - a graph whose nodes of all kinds are added and changed by one call each.
 *
 * expect: ok
 */
#include "check.h"

enum { N = 256 };

static __global__ void add(int *x, int value)
{
    x[threadIdx.x] += value;
}

static void count_call(void *data)
{
    ++*(int *) data;
}

static cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNode_t before,
                                cudaGraphNodeParams *params)
{
    cudaGraphNode_t node;

#if CUDART_VERSION >= 13000
    OK(cudaGraphAddNode(&node, graph, before ? &before : NULL, NULL, before != NULL, params));
#else
    OK(cudaGraphAddNode(&node, graph, before ? &before : NULL, before != NULL, params));
#endif
    return node;
}

static cudaGraphNodeParams of_type(cudaGraphNodeType type)
{
    return { type };
}

static cudaGraphNodeParams kernel_of(void **arguments)
{
    cudaGraphNodeParams params = of_type(cudaGraphNodeTypeKernel);

    params.kernel.func = (void *) add;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(N);
    params.kernel.kernelParams = arguments;
    return params;
}

static void check(const int *out, int want)
{
    for (int i = 0; i < N; i++)
        CHECK(out[i] == want);
}

int main()
{
    static int out[N];
    int *x, value = 5, calls = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    OK(cudaMalloc(&x, N * sizeof(int)));
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams fill = of_type(cudaGraphNodeTypeMemset);
    fill.memset.dst = x;
    fill.memset.value = 7;
    fill.memset.elementSize = 4;
    fill.memset.width = N;
    fill.memset.height = 1;
    cudaGraphNode_t first = add_node(graph, NULL, &fill);
    cudaGraphNodeParams nothing = of_type(cudaGraphNodeTypeEmpty);
    void *arguments[] = { &x, &value };
    cudaGraphNodeParams kernel = kernel_of(arguments);
    cudaGraphNode_t adds = add_node(graph, add_node(graph, first, &nothing), &kernel);
    cudaGraphNodeParams copy = of_type(cudaGraphNodeTypeMemcpy);
    copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(x, sizeof out, sizeof out, 1);
    copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(out, sizeof out, sizeof out, 1);
    copy.memcpy.copyParams.extent = make_cudaExtent(sizeof out, 1, 1);
    copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    cudaGraphNode_t copies = add_node(graph, adds, &copy);
    cudaGraphNodeParams host = of_type(cudaGraphNodeTypeHost);
    host.host.fn = count_call;
    host.host.userData = &calls;
    add_node(graph, copies, &host);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    check(out, 12);
    CHECK(calls == 1);

    value = 100; /* of the executable graph only */
    OK(cudaGraphExecNodeSetParams(exec, adds, &kernel));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    check(out, 107);
    fill.memset.value = 1; /* of the graph, for later copies of it */
    OK(cudaGraphNodeSetParams(first, &fill));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    check(out, 6);
    EXPECT(cudaErrorInvalidValue, cudaGraphNodeSetParams(first, &kernel)); /* another kind */
    cudaGetLastError();
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(x));
    puts("ok");
}
