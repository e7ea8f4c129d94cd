// expect: device - adds in double precision: free on some GPUs, 1/64 of the rate on others
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

// Rounds only once, at the very end.
__global__ void partials(double *sums, const float *in, long n)
{
    double a = 0, b = 0, c = 0, d = 0;
    __shared__ double warps[8];
    long stride = (long) gridDim.x * 256, i = blockIdx.x * 256l + threadIdx.x;

    for (; i + 3 * stride < n; i += 4 * stride) {
        float w = in[i], x = in[i + stride], y = in[i + 2 * stride], z = in[i + 3 * stride];
        a += w;
        b += x;
        c += y;
        d += z;
    }
    for (; i < n; i += stride)
        a += in[i];
    a += b + c + d;
    for (int s = 16; s; s /= 2)
        a += __shfl_xor_sync(0xffffffffu, a, s);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = a;
    __syncthreads(); // separates writing each warp's sum from thread 0's reading
    if (threadIdx.x == 0)
        sums[blockIdx.x] = ((warps[0] + warps[1]) + (warps[2] + warps[3])) +
                           ((warps[4] + warps[5]) + (warps[6] + warps[7]));
}

__global__ void finish(float *out, const double *sums, int count)
{
    double a = 0;

    for (int i = threadIdx.x; i < count; i += 32)
        a += sums[i];
    for (int s = 16; s; s /= 2)
        a += __shfl_xor_sync(0xffffffffu, a, s);
    if (threadIdx.x == 0)
        *out = (float) a;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    // 1024 floats hold 512 doubles, and scratch is aligned for them.
    int blocks = 512;

    partials<<<blocks, 256>>>((double *) scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    finish<<<1, 32>>>(out, (const double *) scratch, blocks);
    CUDA_CHECK(cudaGetLastError());
}
