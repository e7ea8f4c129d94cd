// expect: pass (sim: device) - cooperative groups: tiles of 32, their shuffles
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 512;

__device__ float reduceTile(const cg::thread_block_tile<32> &tile, float v)
{
    for (int i = tile.size() / 2; i > 0; i >>= 1)
        v += tile.shfl_down(v, i);
    return v;
}

__global__ void reduceKernel(float *result, const float *data, long count)
{
    __shared__ float warpSums[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);

    if (tile.meta_group_rank() == 0)
        warpSums[tile.thread_rank()] = 0.f;
    // Separates clearing from filling.
    block.sync();

    const long gridThreads = (long) gridDim.x * blockDim.x;
    float v = 0.f;
    for (long i = (long) blockIdx.x * blockDim.x + block.thread_rank(); i < count;
         i += 4 * gridThreads) {
        float v0 = data[i];
        float v1 = i + gridThreads < count ? data[i + gridThreads] : 0.f;
        float v2 = i + 2 * gridThreads < count ? data[i + 2 * gridThreads] : 0.f;
        float v3 = i + 3 * gridThreads < count ? data[i + 3 * gridThreads] : 0.f;
        v += (v0 + v1) + (v2 + v3);
    }

    v = reduceTile(tile, v);
    if (tile.thread_rank() == 0)
        warpSums[tile.meta_group_rank()] = v;
    // Separates storing the warps' sums from the first warp's loads of them.
    block.sync();
    if (tile.meta_group_rank() == 0) {
        v = reduceTile(tile, warpSums[tile.thread_rank()]);
        if (tile.thread_rank() == 0)
            result[blockIdx.x] = v;
    }
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int blocks = 1000; // below 1024, so that they fit for any n

    reduceKernel<<<blocks, kThreads>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    reduceKernel<<<1, kThreads>>>(out, scratch, blocks);
    CUDA_CHECK(cudaGetLastError());
}
