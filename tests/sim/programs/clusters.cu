/* clusters.cu - clusters of blocks: distributed shared memory, as in the programming guide's
 * histogram, and bulk copies.
 *
 * expect: ok
 * stderr: at most 8 blocks are allowed, unless
 * architecture: 90
 * device: h200
 */
#include "check.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <vector>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum { BINS = 64, THREADS = 128, BLOCKS = 16, N = 5000 };

/* Each block of the cluster holds a part of the bins. */
static __global__ void histogram(int *bins, const int *in, int n, int bins_per_block)
{
    extern __shared__ int part[];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = (int) (blockIdx.x * blockDim.x + threadIdx.x);

    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        part[i] = 0;
    cluster.sync();
    for (int i = t; i < n; i += (int) (gridDim.x * blockDim.x)) {
        const int bin = in[i] % BINS;
        int *there = cluster.map_shared_rank(part, bin / bins_per_block);
        atomicAdd(there + bin % bins_per_block, 1);
    }
    cluster.sync();
    int *to = bins + cluster.block_rank() * bins_per_block;
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        atomicAdd(&to[i], part[i]);
}

/* A ring: each block passes its sum to the next one. */
static __global__ void __cluster_dims__(4, 1, 1) ring(int *out)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();

    if (threadIdx.x == 0)
        word = (int) (blockIdx.x + 1);
    for (unsigned i = 1; i < size; i++) {
        cluster.sync();
        const int next = *cluster.map_shared_rank(&word, (rank + 1) % size);
        cluster.sync();
        if (threadIdx.x == 0)
            word = word * 2 + next;
    }
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = word;
}

/* A tile comes and goes by bulk copies. */
static __global__ void bulk(const int *in, int *out)
{
    __shared__ alignas(16) int tile[THREADS];
    __shared__ uint64_t bar;

    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, THREADS);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    uint64_t token;
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + blockIdx.x * THREADS,
                           sizeof tile, &bar);
        token = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                               &bar, sizeof tile);
    } else {
        token = ptx::mbarrier_arrive(&bar);
    }
    while (!ptx::mbarrier_try_wait(&bar, token))
        ;
    tile[threadIdx.x] += 1000;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * THREADS, tile,
                           sizeof tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

static void check_histogram(const std::vector<int> &in, int *device_in, int *device_out, int size)
{
    std::vector<int> bins(BINS), want(BINS);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;

    config.gridDim = BLOCKS;
    config.blockDim = THREADS;
    config.dynamicSmemBytes = BINS / size * sizeof(int);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0, most = 0;
    OK(cudaOccupancyMaxPotentialClusterSize(&most, histogram, &config));
    CHECK(most == (size > 8 ? 16 : 8));
    OK(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
    CHECK(clusters > 0);
    OK(cudaMemset(device_out, 0, BINS * 4));
    OK(cudaLaunchKernelEx(&config, histogram, device_out, (const int *) device_in, (int) N,
                          BINS / size));
    OK(cudaMemcpy(bins.data(), device_out, BINS * 4, cudaMemcpyDeviceToHost));
    for (int word : in)
        want[word % BINS]++;
    CHECK(bins == want);
}

/* Clusters of more than 8 blocks are not portable, so a program has to say that it wants them. */
static void check_large(const std::vector<int> &in, int *device_in, int *device_out)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;

    config.gridDim = config.blockDim = 16;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 16;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    EXPECT(cudaErrorInvalidClusterSize,
           cudaLaunchKernelEx(&config, histogram, device_out, (const int *) device_in, (int) N, 4));
    OK(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, histogram));
    CHECK(attributes.nonPortableClusterSizeAllowed == 1);
    check_histogram(in, device_in, device_out, 16);
}

static void check_ring(int *device_out)
{
    int out[BLOCKS];

    ring<<<BLOCKS, 32>>>(device_out);
    OK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int first = 0; first < BLOCKS; first += 4) {
        int word[4] = { first + 1, first + 2, first + 3, first + 4 }, next[4];
        for (int round = 1; round < 4; round++) {
            for (int i = 0; i < 4; i++)
                next[i] = word[i] * 2 + word[(i + 1) % 4];
            for (int i = 0; i < 4; i++)
                word[i] = next[i];
        }
        for (int i = 0; i < 4; i++)
            CHECK(out[first + i] == word[i]);
    }
}

int main()
{
    std::vector<int> in(N), out(BLOCKS * THREADS);
    int *device_in, *device_out, has_clusters = 0;

    for (int i = 0; i < N; i++)
        in[i] = i * 7919 % 1009;
    OK(cudaMalloc(&device_in, N * 4));
    OK(cudaMalloc(&device_out, BLOCKS * THREADS * 4));
    OK(cudaMemcpy(device_in, in.data(), N * 4, cudaMemcpyHostToDevice));
    OK(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
    CHECK(has_clusters);
    check_histogram(in, device_in, device_out, 4);
    check_large(in, device_in, device_out);
    check_ring(device_out);
    bulk<<<BLOCKS, THREADS>>>(device_in, device_out);
    OK(cudaMemcpy(out.data(), device_out, out.size() * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < out.size(); i++)
        CHECK(out[i] == in[i] + 1000);
    OK(cudaFree(device_in));
    OK(cudaFree(device_out));
    puts("ok");
}
