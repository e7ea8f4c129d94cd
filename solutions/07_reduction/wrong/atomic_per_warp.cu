// expect: slow - correct, but every warp adds to one address, one after the other
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32 };

// The sum of the values of a warp's lanes, in lane 0. All 32 lanes must call it.
static __device__ float warp_sum(float value)
{
    for (int s = WARP / 2; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    return value;
}

__global__ void clear_kernel(float *out)
{
    *out = 0;
}

// Adds the sum of in[0 .. n - 1] to *out.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;
    float total = warp_sum(i < n ? in[i] : 0);

    if (threadIdx.x % WARP == 0)
        atomicAdd(out, total);
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    clear_kernel<<<1, 1>>>(out);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<(int) ((n + BLOCK - 1) / BLOCK), BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
