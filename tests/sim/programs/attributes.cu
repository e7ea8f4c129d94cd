/* attributes.cu - attributes of streams and of kernel nodes are kept, copied and inherited; those
 * that change how a kernel runs are checked.
 *
 * expect: ok
 * architecture: 90
 * device: h200
 * stderr: a grid of (4,1,1) blocks is not a multiple of its clusters of (3,1,1)
 */
#include "check.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void count(int *out)
{
    if (!threadIdx.x)
        out[blockIdx.x] = (int) cg::this_cluster().num_blocks();
}

static cudaStreamAttrValue window_of(void *base, float ratio)
{
    cudaStreamAttrValue value = {};

    value.accessPolicyWindow.base_ptr = base;
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = ratio;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    return value;
}

// Two streams: the first one gets attributes, the second one copies them.
static void of_streams(void *memory)
{
    cudaStream_t a, b;
    cudaStreamAttrValue value = {}, read = {};
    int priority;

    OK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, -1));
    OK(cudaStreamCreate(&b));
    OK(cudaStreamGetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &read));
    CHECK(read.syncPolicy == cudaSyncPolicyAuto);
    OK(cudaStreamGetAttribute(a, cudaStreamAttributePriority, &read));
    CHECK(read.priority == -1);
    OK(cudaStreamGetAttribute(a, cudaStreamAttributeMemSyncDomainMap, &read));
    CHECK(read.memSyncDomainMap.default_ == 0 && read.memSyncDomainMap.remote == 1);

    value.syncPolicy = cudaSyncPolicyBlockingSync;
    OK(cudaStreamSetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &value));
    value = window_of(memory, 0.5f);
    OK(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &value));
    OK(cudaStreamCopyAttributes(b, a));
    OK(cudaStreamGetAttribute(b, cudaStreamAttributeSynchronizationPolicy, &read));
    CHECK(read.syncPolicy == cudaSyncPolicyBlockingSync);
    OK(cudaStreamGetAttribute(b, cudaStreamAttributeAccessPolicyWindow, &read));
    CHECK(read.accessPolicyWindow.base_ptr == memory && read.accessPolicyWindow.hitRatio == 0.5f);
    OK(cudaStreamGetPriority(b, &priority));
    CHECK(priority == -1);

    EXPECT(cudaErrorInvalidValue,
           cudaStreamGetAttribute(a, cudaLaunchAttributeClusterDimension, &read));
    EXPECT(cudaErrorInvalidValue,
           cudaStreamSetAttribute(a, cudaLaunchAttributeCooperative, &value));
    EXPECT(cudaErrorInvalidValue, cudaStreamGetAttribute(a, cudaStreamAttributePriority, NULL));
    value = window_of(memory, 1.5f);
    EXPECT(cudaErrorInvalidValue,
           cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &value));
    value.syncPolicy = (cudaSynchronizationPolicy) 77;
    EXPECT(cudaErrorInvalidValue,
           cudaStreamSetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &value));
    (void) cudaGetLastError();
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

// A captured kernel has the attributes of its stream.
static void captured(int *memory)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    size_t one = 1;
    cudaKernelNodeAttrValue read;
    cudaStreamAttrValue window = window_of(memory, 0.25f);

    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -2));
    OK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    count<<<4, 32, 0, stream>>>(memory);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, &node, &one));
    OK(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributePriority, &read));
    CHECK(read.priority == -2);
    OK(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &read));
    CHECK(read.accessPolicyWindow.hitRatio == 0.25f);
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

static int blocks_of_cluster(cudaGraph_t graph, int *memory)
{
    cudaGraphExec_t exec;
    int blocks = 0;

    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(&blocks, memory, sizeof blocks, cudaMemcpyDeviceToHost));
    OK(cudaGraphExecDestroy(exec));
    return blocks;
}

static void of_nodes(int *memory)
{
    cudaGraph_t graph, plain;
    cudaGraphNode_t node, other, empty;
    void *arguments[] = { &memory };
    cudaKernelNodeParams params = {};
    cudaKernelNodeAttrValue value = {}, read;

    params.func = (void *) count;
    params.gridDim = dim3(4);
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&plain, 0));
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(cudaGraphAddKernelNode(&other, plain, NULL, 0, &params));
    OK(cudaGraphAddEmptyNode(&empty, graph, &node, 1));
    CHECK(blocks_of_cluster(graph, memory) == 1);

    value.clusterDim.x = 2;
    value.clusterDim.y = value.clusterDim.z = 1;
    OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &read));
    CHECK(read.clusterDim.x == 2 && read.clusterDim.y == 1);
    CHECK(blocks_of_cluster(graph, memory) == 2);
    value.clusterDim.x = 3; // 4 blocks are no whole number of clusters
    EXPECT(cudaErrorInvalidClusterSize,
           cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    value.clusterDim.x = 0;
    EXPECT(cudaErrorInvalidValue,
           cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    CHECK(blocks_of_cluster(graph, memory) == 2);

    // New parameters keep them; another node may copy them.
    value.priority = -3;
    OK(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributePriority, &value));
    params.gridDim = dim3(8);
    OK(cudaGraphKernelNodeSetParams(node, &params));
    CHECK(blocks_of_cluster(graph, memory) == 2);
    OK(cudaGraphKernelNodeCopyAttributes(other, node));
    OK(cudaGraphKernelNodeGetAttribute(other, cudaKernelNodeAttributePriority, &read));
    CHECK(read.priority == -3 && blocks_of_cluster(plain, memory) == 2);
    value.cooperative = 1;
    OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
    OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &read));
    CHECK(read.cooperative == 1);

    EXPECT(cudaErrorInvalidValue,
           cudaGraphKernelNodeGetAttribute(empty, cudaKernelNodeAttributePriority, &read));
    EXPECT(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(other, empty));
    EXPECT(cudaErrorInvalidValue,
           cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributePriority, NULL));
    EXPECT(cudaErrorInvalidValue,
           cudaGraphKernelNodeGetAttribute(NULL, cudaKernelNodeAttributePriority, &read));
    EXPECT(cudaErrorInvalidValue,
           cudaGraphKernelNodeGetAttribute(node, (cudaLaunchAttributeID) 99, &read));
    (void) cudaGetLastError();
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(plain));
}

int main()
{
    int *memory;

    OK(cudaMalloc(&memory, 4096));
    of_streams(memory);
    captured(memory);
    of_nodes(memory);
    OK(cudaFree(memory));
    puts("ok");
}
