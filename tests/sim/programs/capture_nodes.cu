/* capture_nodes.cu - a program that adds nodes of its own to a graph while it is captured, as
 * libraries do, and changes what the next captured node runs after; edges with data.
 *
 * expect: ok
 * stderr: does not wait for all work of the other captured streams
 */
#include "check.h"

#if CUDART_VERSION < 13000
#error "the calls of CUDA 12 are in runtime/abi12.c"
#endif

__global__ void add(int *x, int n)
{
    *x += n;
}

__global__ void times(int *x, int n)
{
    *x *= n;
}

struct Captured {
    cudaGraph_t graph;
    const cudaGraphNode_t *nodes;
    const cudaGraphEdgeData *data;
    size_t count;
};

static Captured state_of(cudaStream_t stream)
{
    Captured state = {};
    cudaStreamCaptureStatus status;

    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, &state.graph, &state.nodes, &state.data,
                                &state.count));
    CHECK(status == cudaStreamCaptureStatusActive);
    return state;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                  void (*kernel)(int *, int), int *x, int n)
{
    cudaGraphNode_t node;
    void *arguments[] = { &x, &n };
    cudaKernelNodeParams params = {};

    params.func = (void *) kernel;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&node, graph, before, count, &params));
    return node;
}

static int run(cudaGraph_t graph, int *x)
{
    cudaGraphExec_t exec;
    int result = 1;

    OK(cudaMemcpy(x, &result, sizeof result, cudaMemcpyHostToDevice));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(&result, x, sizeof result, cudaMemcpyDeviceToHost));
    OK(cudaGraphExecDestroy(exec));
    return result;
}

// ((1 + 4) * 3) + 2: the product is a node of the program's own.
static void own_node(cudaStream_t stream, int *x)
{
    cudaGraph_t graph;
    size_t edges = 0;

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(state_of(stream).count == 0);
    add<<<1, 1, 0, stream>>>(x, 4);
    Captured state = state_of(stream);
    CHECK(state.count == 1 && state.data[0].type == cudaGraphDependencyTypeDefault);
    cudaGraphNode_t node = add_kernel(state.graph, state.nodes, state.count, times, x, 3);
    EXPECT(cudaErrorIllegalState, cudaGraphDestroyNode(node));
    OK(cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                           cudaStreamSetCaptureDependencies));
    CHECK(state_of(stream).count == 1 && state_of(stream).nodes[0] == node);
    add<<<1, 1, 0, stream>>>(x, 2);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(edges == 2 && run(graph, x) == 17);
    OK(cudaGraphDestroy(graph));
    (void) cudaGetLastError();
}

// Nodes that are added, or let go, need not be joined at the end.
static void let_go(cudaStream_t stream, int *x)
{
    cudaGraph_t graph;
    size_t nodes = 0, edges = 0;

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(x, 4);
    cudaGraphNode_t first = state_of(stream).nodes[0];
    cudaGraphNode_t alone = add_kernel(state_of(stream).graph, NULL, 0, add, x + 1, 1);
    OK(cudaStreamUpdateCaptureDependencies(stream, &alone, NULL, 1,
                                           cudaStreamAddCaptureDependencies));
    CHECK(state_of(stream).count == 2);
    OK(cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0,
                                           cudaStreamSetCaptureDependencies));
    CHECK(state_of(stream).count == 0);
    OK(cudaStreamUpdateCaptureDependencies(stream, &first, NULL, 1, 0));
    times<<<1, 1, 0, stream>>>(x, 3);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(nodes == 3 && edges == 1 && run(graph, x) == 15);
    OK(cudaGraphDestroy(graph));
}

// Work of another stream must be joined as before.
static void unjoined(cudaStream_t stream, int *x)
{
    cudaStream_t other;
    cudaEvent_t event;
    cudaGraph_t graph;

    OK(cudaStreamCreate(&other));
    OK(cudaEventCreate(&event));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(x, 4);
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(other, event));
    add<<<1, 1, 0, other>>>(x, 4);
    EXPECT(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(stream, &graph));
    (void) cudaGetLastError();
    OK(cudaStreamDestroy(other));
    OK(cudaEventDestroy(event));
}

static void wrong(cudaStream_t stream, int *x)
{
    cudaGraph_t other, graph;
    cudaGraphNode_t foreign;
    const unsigned set = cudaStreamSetCaptureDependencies;

    OK(cudaGraphCreate(&other, 0));
    OK(cudaGraphAddEmptyNode(&foreign, other, NULL, 0));
    EXPECT(cudaErrorIllegalState, cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, set));
    EXPECT(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(stream, other, NULL, NULL, 1,
                                                                cudaStreamCaptureModeGlobal));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(x, 4);
    EXPECT(cudaErrorInvalidValue,
           cudaStreamUpdateCaptureDependencies(stream, &foreign, NULL, 1, set));
    EXPECT(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 1, set));
    EXPECT(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 7));
    CHECK(state_of(stream).count == 1); // as before
    OK(cudaStreamEndCapture(stream, &graph));
    CHECK(run(graph, x) == 5);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(other));
    (void) cudaGetLastError();
}

static void edge_data(int *x)
{
    cudaGraph_t graph;
    cudaGraphNode_t list[2], others[2], empty, third;
    cudaGraphEdgeData early = {}, bad = {}, found[2];
    cudaGraphNodeParams params = {};
    size_t count = 0;

    early.type = cudaGraphDependencyTypeProgrammatic;
    early.from_port = cudaGraphKernelNodePortProgrammatic;
    bad.to_port = 3;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t a = add_kernel(graph, NULL, 0, add, x, 4);
    cudaGraphNode_t b = add_kernel(graph, NULL, 0, times, x, 3);
    OK(cudaGraphAddEmptyNode(&empty, graph, NULL, 0));
    EXPECT(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &b, &bad, 1));
    EXPECT(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &empty, &b, &early, 1));
    OK(cudaGraphAddDependencies(graph, &a, &b, &early, 1));
    EXPECT(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &b, &early, 1));
    CHECK(run(graph, x) == 15);

    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 1);
    EXPECT(cudaErrorLossyQuery, cudaGraphGetEdges(graph, list, others, NULL, &count));
    count = 2;
    OK(cudaGraphGetEdges(graph, list, others, found, &count));
    CHECK(count == 1 && list[0] == a && others[0] == b && !others[1]);
    CHECK(found[0].type == early.type && found[0].from_port == early.from_port);
    OK(cudaGraphNodeGetDependencies(b, list, found, &count));
    CHECK(count == 1 && list[0] == a && found[0].from_port == early.from_port);
    OK(cudaGraphNodeGetDependentNodes(a, list, found, &count));
    CHECK(count == 1 && list[0] == b && found[0].from_port == early.from_port);
    EXPECT(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cudaGraphRemoveDependencies(graph, &a, &b, &early, 1));

    params.type = cudaGraphNodeTypeEmpty;
    EXPECT(cudaErrorInvalidValue, cudaGraphAddNode(&third, graph, &a, &early, 1, &params));
    OK(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 3);
    OK(cudaGraphDestroy(graph));
    (void) cudaGetLastError();
}

int main()
{
    cudaStream_t stream;
    int *x;

    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&x, 2 * sizeof *x));
    OK(cudaMemset(x, 0, 2 * sizeof *x));
    own_node(stream, x);
    let_go(stream, x);
    unjoined(stream, x);
    wrong(stream, x);
    edge_data(x);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(x));
    puts("ok");
}
