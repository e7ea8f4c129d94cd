/* graph.cu - captures two streams into a graph and launches it repeatedly.
 *
 * expect: ok
 * stderr: during a stream capture
 */
#include "check.h"

static __global__ void add(int *x, int value)
{
    *x += value;
}

static void count(void *data)
{
    ++*(int *) data;
}

int main()
{
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    int *x, *out, calls = 0;
    size_t nodes = 0;

    OK(cudaMalloc(&x, 2 * sizeof *x));
    OK(cudaMallocHost(&out, 2 * sizeof *out));
    OK(cudaMemset(x, 0, 2 * sizeof *x));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&side));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaDeviceSynchronize());

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, 1, 0, stream>>>(x, 1);
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(side, fork, 0));
    add<<<1, 1, 0, side>>>(x + 1, 10);
    add<<<1, 1, 0, stream>>>(x, 2);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(stream, join, 0));
    OK(cudaMemcpyAsync(out, x, 2 * sizeof *x, cudaMemcpyDeviceToHost, stream));
    OK(cudaLaunchHostFunc(stream, count, &calls));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 5);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));

    CHECK(calls == 0);
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(out[0] == 9 && out[1] == 30 && calls == 3);

    /* waiting is an error during a capture */
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    cudaGetLastError();

    OK(cudaGraphExecDestroy(exec));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(side));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaFree(x));
    OK(cudaFreeHost(out));
    puts("ok");
}
