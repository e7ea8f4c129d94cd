// expect: wrong - the last warp reads what atomics of other warps may still add to
// lab: reduction
// There is no race, since every access is atomic, and the result is correct wherever warps happen
// to run in order, as they once always did on the simulated GPU. Defence: its small cases also run
// warps backwards and at random.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float total;
    float mine = 0;

    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    for (long i = threadIdx.x; i < n; i += BLOCK)
        mine += in[i];
    for (int step = 16; step > 0; step /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, mine);
    if (threadIdx.x == BLOCK - 32)
        out[0] = atomicAdd(&total, 0);
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<1, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
