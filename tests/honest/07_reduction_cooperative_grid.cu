// expect: pass - one cooperative launch, grid.sync() between the two passes
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"
#include <cooperative_groups.h>

__global__ void whole_sum(float *out, const float *__restrict__ in, long n, float *scratch)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    __shared__ float s[256];
    long rank = grid.thread_rank(), size = grid.size();
    const float4 *in4 = (const float4 *) in; // kernel.h guarantees alignment to 256 bytes
    float mine = 0;

#pragma unroll 4
    for (long i = rank; i < n / 4; i += size) {
        float4 v = in4[i];
        mine += v.x + v.y + v.z + v.w;
    }
    if (rank < n % 4)
        mine += in[n / 4 * 4 + rank];

    s[threadIdx.x] = mine;
    __syncthreads(); // separates filling from the tree
    for (int w = 128; w; w >>= 1) {
        if (threadIdx.x < w)
            s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads(); // separates two rounds of the tree
    }
    if (threadIdx.x == 0)
        scratch[blockIdx.x] = s[0];

    grid.sync(); // separates writing the blocks' sums from reading them

    if (blockIdx.x)
        return;
    mine = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256)
        mine += ((volatile float *) scratch)[i];
    s[threadIdx.x] = mine;
    __syncthreads(); // separates filling from the tree
    for (int w = 128; w; w >>= 1) {
        if (threadIdx.x < w)
            s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads(); // separates two rounds of the tree
    }
    if (threadIdx.x == 0)
        *out = s[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms, per_sm;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, whole_sum, 256, 0));
    int blocks = sms * per_sm < scratch_count ? sms * per_sm : (int) scratch_count;
    void *args[] = { &out, &in, &n, &scratch };
    CUDA_CHECK(cudaLaunchCooperativeKernel((void *) whole_sum, blocks, 256, args, 0, 0));
}
