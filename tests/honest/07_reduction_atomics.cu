// expect: pass - a fixed grid, one atomicAdd per block on an out that a first kernel clears
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

__global__ void zero(float *x)
{
    x[threadIdx.x] = 0;
}

__global__ void accumulate(float *out, const float *in, long n)
{
    __shared__ float blockTotal;
    float acc = 0;

    if (threadIdx.x == 0)
        blockTotal = 0;
    __syncthreads(); // cleared before any thread adds

    const float4 *v = (const float4 *) in;
    long quads = n >> 2, stride = (long) blockDim.x * gridDim.x;
    long at = (long) blockDim.x * blockIdx.x + threadIdx.x;
#pragma unroll 4
    for (long i = at; i < quads; i += stride) {
        float4 q = v[i];
        acc += q.x;
        acc += q.y;
        acc += q.z;
        acc += q.w;
    }
    if (at < (n & 3))
        acc += in[(quads << 2) + at];

    for (int mask = 16; mask; mask >>= 1)
        acc += __shfl_xor_sync(0xffffffff, acc, mask);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(&blockTotal, acc);
    __syncthreads(); // all warps have added
    if (threadIdx.x == 0)
        atomicAdd(out, blockTotal);
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    zero<<<1, 1>>>(out);
    accumulate<<<1056, 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
