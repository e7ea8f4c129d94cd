/* A capture that forks into a second stream must join it: otherwise the capture ends with an error.
 * The same capture with a join gives a graph whose edges are the program's.
 *
 * expect: ok
 * stderr: does not wait for all work of the other captured streams
 */
#include "check.h"

__global__ void add(int *x, int value)
{
    *x += value;
}

static cudaError_t capture(cudaStream_t origin, cudaStream_t side, int *x, bool join,
                           cudaGraph_t *graph)
{
    cudaEvent_t fork, joined;
    cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    cudaError_t error;

    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&joined));
    OK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    OK(cudaStreamGetCaptureInfo(origin, &status, &id));
    CHECK(status == cudaStreamCaptureStatusActive && id);
    add<<<1, 1, 0, origin>>>(x, 1);
    OK(cudaEventRecord(fork, origin));
    OK(cudaStreamWaitEvent(side, fork));
    add<<<1, 1, 0, side>>>(x + 1, 2);
    add<<<1, 1, 0, origin>>>(x, 3);
    OK(cudaEventRecord(joined, side));
    if (join)
        OK(cudaStreamWaitEvent(origin, joined));
    add<<<1, 1, 0, origin>>>(x, 4);
    error = cudaStreamEndCapture(origin, graph);
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(joined));
    return error;
}

int main()
{
    cudaStream_t origin, side;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t roots = 0;
    int *x, values[2];

    OK(cudaStreamCreate(&origin));
    OK(cudaStreamCreate(&side));
    OK(cudaMalloc(&x, sizeof values));
    OK(cudaMemset(x, 0, sizeof values));
    EXPECT(cudaErrorStreamCaptureUnjoined, capture(origin, side, x, false, &graph));
    CHECK(graph == NULL);
    OK(cudaStreamIsCapturing(side, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    OK(capture(origin, side, x, true, &graph));
    OK(cudaGraphGetRootNodes(graph, NULL, &roots));
    CHECK(roots == 1);
#if CUDART_VERSION >= 13000
    size_t edges = 0;
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(edges == 4);
#endif
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, origin));
    OK(cudaStreamSynchronize(origin));
    OK(cudaMemcpy(values, x, sizeof values, cudaMemcpyDeviceToHost));
    CHECK(values[0] == 8 && values[1] == 2);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(x));
    printf("ok\n");
}
