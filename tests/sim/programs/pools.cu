/* Stream-ordered allocation as libraries use it: the default pool with a release threshold, a pool
 * of the program's own, and temporary buffers that each round of a loop allocates and frees.
 *
 * expect: ok
 * schedules: forward reverse random:3
 */
#include "check.h"

__global__ void square(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] * in[i];
}

static unsigned long long attribute(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    unsigned long long value = 0;

    OK(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

static cudaMemPool_t default_pool()
{
    cudaMemPool_t pool, current;
    int supported = 0;

    OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    CHECK(supported == 1);
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaDeviceGetMemPool(&current, 0));
    CHECK(pool == current);
    return pool;
}

// The buffer of each round is freed in the stream; with the threshold, the pool keeps the memory.
static void rounds(cudaMemPool_t pool, cudaStream_t stream)
{
    enum { N = 100000 };
    unsigned long long threshold = ~0ull, zero = 0;
    float *in, *host = new float[N];

    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    OK(cudaMallocAsync(&in, N * sizeof *in, stream));
    for (int i = 0; i < N; i++)
        host[i] = (float) (i % 100);
    OK(cudaMemcpyAsync(in, host, N * sizeof *in, cudaMemcpyHostToDevice, stream));
    for (int round = 0; round < 3; round++) {
        float *out;
        OK(cudaMallocAsync(&out, N * sizeof *out, stream));
        square<<<(N + 255) / 256, 256, 0, stream>>>(out, in, N);
        OK(cudaMemcpyAsync(host, out, N * sizeof *out, cudaMemcpyDeviceToHost, stream));
        OK(cudaFreeAsync(out, stream));
    }
    CHECK(host[99] == 99.0f * 99.0f);
    OK(cudaFreeAsync(in, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemHigh) >= 2 * N * sizeof *in);
    CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) >= 2 * N * sizeof *in);
    OK(cudaMemPoolTrimTo(pool, 0));
    CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 0);
    delete[] host;
}

static void own_pool(cudaStream_t stream)
{
    cudaMemPoolProps properties = {};
    cudaMemPool_t pool, current;
    int *a, *b, reuse = 1, off = 0;
    cudaMemAccessFlags access;

    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&pool, &properties));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &off));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    CHECK(reuse == 0);
    OK(cudaMemPoolGetAccess(&access, pool, &properties.location));
    CHECK(access == cudaMemAccessFlagsProtReadWrite);
    OK(cudaMallocFromPoolAsync(&a, 1000, pool, stream));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) >= 1000);
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaDeviceGetMemPool(&current, 0));
    CHECK(current == pool);
    OK(cudaMallocAsync(&b, 1000, stream));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) >= 2000);
    OK(cudaFreeAsync(b, stream));
    OK(cudaMemPoolDestroy(pool)); // it stays until its memory is freed
    EXPECT(cudaErrorInvalidValue, cudaMemPoolTrimTo(pool, 0));
    OK(cudaFree(a));
}

// The buffer exists only while the graph runs; the graph may run again.
static void in_a_graph(cudaStream_t stream)
{
    enum { N = 1000 };
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float *in, *out, *buffer, last = 0;
    unsigned long long used = 1;

    OK(cudaMalloc(&in, N * sizeof *in));
    OK(cudaMalloc(&out, N * sizeof *out));
    OK(cudaMemset(in, 0, N * sizeof *in));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&buffer, N * sizeof *buffer, stream));
    OK(cudaMemsetAsync(buffer, 0, N * sizeof *buffer, stream));
    square<<<4, 256, 0, stream>>>(buffer, in, N);
    square<<<4, 256, 0, stream>>>(out, buffer, N);
    OK(cudaFreeAsync(buffer, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpyAsync(&last, out + N - 1, sizeof last, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(last == 0);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    CHECK(used >= N * sizeof *buffer);
    OK(cudaDeviceGraphMemTrim(0));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    CHECK(used == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(in));
    OK(cudaFree(out));
}

// The same with nodes that allocate and free.
static void in_nodes(cudaStream_t stream)
{
    enum { N = 1000 };
    cudaMemAllocNodeParams params = {}, found = {};
    cudaGraphNode_t node;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float last = 1;

    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = N * sizeof(float);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    OK(cudaGraphMemAllocNodeGetParams(node, &found));
    CHECK(found.dptr == params.dptr && found.bytesize == params.bytesize);
    CHECK(params.dptr);
    cudaMemsetParams clear = {};
    clear.dst = params.dptr;
    clear.elementSize = 4;
    clear.width = N;
    clear.height = 1;
    OK(cudaGraphAddMemsetNode(&node, graph, &node, 1, &clear));
    OK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, &last, (float *) params.dptr + N - 1,
                                sizeof last, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddMemFreeNode(&node, graph, &node, 1, params.dptr));
    EXPECT(cudaErrorInvalidValue, cudaGraphMemAllocNodeGetParams(node, &found));
    (void) cudaGetLastError();
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(last == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

int main()
{
    cudaStream_t stream;

    OK(cudaStreamCreate(&stream));
    rounds(default_pool(), stream);
    own_pool(stream);
    in_a_graph(stream);
    in_nodes(stream);
    OK(cudaStreamDestroy(stream));
    printf("ok\n");
}
