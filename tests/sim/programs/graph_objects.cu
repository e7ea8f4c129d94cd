/* graph_objects.cu - user objects: destroyed when the program, the graphs, their copies and their
 * launches have no reference left, and not before.
 *
 * expect: ok
 */
#include "check.h"

#include <unistd.h>
#include <vector>

// What a destructor gets; the kernels of a graph use the memory.
struct Buffer {
    int *memory; // pinned, so that no call is needed to forget it
    int destroyed;
};

__global__ void add(int *out, int n)
{
    atomicAdd(out, n);
}

static cudaError_t in_destructor;

static void CUDART_CB destroy(void *data)
{
    Buffer *buffer = (Buffer *) data;

    buffer->destroyed++;
    *buffer->memory = -1000; // a launch that still uses it would give another sum
    in_destructor = cudaStreamSynchronize(0);
}

static cudaUserObject_t object_of(Buffer *buffer, unsigned count)
{
    cudaUserObject_t object;

    OK(cudaUserObjectCreate(&object, buffer, destroy, count, cudaUserObjectNoDestructorSync));
    return object;
}

static void of_program(Buffer *buffer)
{
    cudaUserObject_t object = object_of(buffer, 2);

    OK(cudaUserObjectRetain(object, 3));
    OK(cudaUserObjectRelease(object, 4));
    CHECK(!buffer->destroyed);
    EXPECT(cudaErrorInvalidValue, cudaUserObjectRelease(object, 2));
    EXPECT(cudaErrorInvalidValue, cudaUserObjectRelease(object, 0));
    OK(cudaUserObjectRelease(object, 1));
    CHECK(buffer->destroyed == 1 && in_destructor == cudaErrorNotPermitted);
    EXPECT(cudaErrorInvalidValue, cudaUserObjectRetain(object, 1));
    (void) cudaGetLastError();
}

static cudaGraph_t graph_with(Buffer *buffer, int *out)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    int *from = buffer->memory, n = 5;
    void *arguments[] = { &out, &n };
    cudaKernelNodeParams params = {};

    params.func = (void *) add;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, out + 1, from, sizeof *from,
                                cudaMemcpyHostToDevice));
    OK(cudaGraphRetainUserObject(graph, object_of(buffer, 1), 1, cudaGraphUserObjectMove));
    return graph;
}

static void of_graphs(Buffer *buffer, int *out)
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    cudaGraph_t graph = graph_with(buffer, out), clone, parent;
    cudaGraphNode_t node;
    int sums[2] = {};

    *buffer->memory = 7;
    OK(cudaStreamCreate(&stream));
    OK(cudaMemset(out, 0, 2 * sizeof *out));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphCreate(&parent, 0));
    OK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(clone));
    CHECK(!buffer->destroyed);
    OK(cudaGraphDestroy(parent));
    CHECK(!buffer->destroyed);
    // The launch is queued when its graph is destroyed.
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphExecDestroy(exec));
    CHECK(!buffer->destroyed);
    OK(cudaStreamSynchronize(stream));
    CHECK(buffer->destroyed == 1);
    OK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    CHECK(sums[0] == 5 && sums[1] == 7);
    OK(cudaStreamDestroy(stream));
}

// A program may wait for a destructor without any further call.
static void awaited(Buffer *buffer, int *out)
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    cudaGraph_t graph = graph_with(buffer, out);

    OK(cudaStreamCreate(&stream));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphExecDestroy(exec));
    for (int i = 0; i < 500 && !__atomic_load_n(&buffer->destroyed, __ATOMIC_ACQUIRE); i++)
        usleep(10000);
    CHECK(__atomic_load_n(&buffer->destroyed, __ATOMIC_ACQUIRE) == 1);
    OK(cudaStreamDestroy(stream));
}

static void updated(Buffer *old, Buffer *fresh, int *out)
{
    cudaGraph_t first = graph_with(old, out), second = graph_with(fresh, out);
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;

    OK(cudaGraphInstantiate(&exec, first, 0));
    OK(cudaGraphDestroy(first));
    CHECK(!old->destroyed);
    OK(cudaGraphExecUpdate(exec, second, &info));
    CHECK(old->destroyed == 1);
    OK(cudaGraphDestroy(second));
    CHECK(!fresh->destroyed);
    OK(cudaGraphExecDestroy(exec));
    CHECK(fresh->destroyed == 1);
}

// Keeps memory alive as long as a captured graph, as frameworks do.
static void captured(Buffer *buffer)
{
    cudaStream_t stream;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph, ended;

    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
#if CUDART_VERSION >= 13000
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL));
#else
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
#endif
    CHECK(status == cudaStreamCaptureStatusActive);
    OK(cudaGraphRetainUserObject(graph, object_of(buffer, 1), 1, cudaGraphUserObjectMove));
    OK(cudaStreamEndCapture(stream, &ended));
    OK(cudaStreamDestroy(stream));
    CHECK(!buffer->destroyed);
    OK(cudaGraphDestroy(ended));
    CHECK(buffer->destroyed == 1);
}

static void wrong(Buffer *buffer)
{
    cudaUserObject_t object;
    cudaGraph_t graph, other;
    const unsigned sync = cudaUserObjectNoDestructorSync, move = cudaGraphUserObjectMove;

    EXPECT(cudaErrorInvalidValue, cudaUserObjectCreate(NULL, buffer, destroy, 1, sync));
    EXPECT(cudaErrorInvalidValue, cudaUserObjectCreate(&object, buffer, NULL, 1, sync));
    EXPECT(cudaErrorInvalidValue, cudaUserObjectCreate(&object, buffer, destroy, 0, sync));
    EXPECT(cudaErrorInvalidValue, cudaUserObjectCreate(&object, buffer, destroy, 1, 0));
    EXPECT(cudaErrorInvalidValue, cudaUserObjectCreate(&object, buffer, destroy, 1u << 31, sync));
    EXPECT(cudaErrorInvalidValue, cudaUserObjectRetain(NULL, 1));
    EXPECT(cudaErrorInvalidValue, cudaUserObjectRetain((cudaUserObject_t) buffer, 1));
    object = object_of(buffer, 1);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&other, 0));
    EXPECT(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, object, 2, move));
    EXPECT(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, object, 0, 0));
    EXPECT(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, object, 1, 8));
    EXPECT(cudaErrorInvalidValue, cudaGraphRetainUserObject(NULL, object, 1, 0));
    OK(cudaGraphRetainUserObject(graph, object, 2, 0));
    EXPECT(cudaErrorInvalidValue, cudaGraphReleaseUserObject(other, object, 1));
    EXPECT(cudaErrorInvalidValue, cudaGraphReleaseUserObject(graph, object, 3));
    (void) cudaGetLastError();
    OK(cudaGraphReleaseUserObject(graph, object, 1));
    OK(cudaUserObjectRelease(object, 1));
    CHECK(!buffer->destroyed);
    OK(cudaGraphReleaseUserObject(graph, object, 1));
    CHECK(buffer->destroyed == 1);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(other));
}

int main()
{
    std::vector<Buffer> buffers(7);
    int *memory, *out;

    OK(cudaMallocHost(&memory, buffers.size() * sizeof *memory));
    OK(cudaMalloc(&out, 2 * sizeof *out));
    for (size_t i = 0; i < buffers.size(); i++)
        buffers[i] = { memory + i, 0 };
    of_program(&buffers[0]);
    of_graphs(&buffers[1], out);
    updated(&buffers[2], &buffers[3], out);
    captured(&buffers[4]);
    wrong(&buffers[5]);
    awaited(&buffers[6], out);
    OK(cudaFreeHost(memory));
    OK(cudaFree(out));
    puts("ok");
}
