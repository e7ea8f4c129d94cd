// expect: pass - float4 and two different kernels, one for the array and one for the sums
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

#define THREADS 256
#define BLOCKS  1024

__device__ __forceinline__ float add4(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

__global__ void stage1(const float4 *__restrict__ x, float *__restrict__ partial, int n4,
                       const float *__restrict__ tail, int tail_length)
{
    __shared__ float sm[THREADS];
    float acc0 = 0.f, acc1 = 0.f;
    int i = blockIdx.x * THREADS + threadIdx.x;

    for (; i + BLOCKS * THREADS < n4; i += 2 * BLOCKS * THREADS) {
        float4 p = __ldg(x + i);
        float4 q = __ldg(x + i + BLOCKS * THREADS);
        acc0 += add4(p);
        acc1 += add4(q);
    }
    if (i < n4)
        acc0 += add4(__ldg(x + i));
    if (blockIdx.x == BLOCKS - 1 && threadIdx.x < tail_length)
        acc1 += tail[threadIdx.x];

    sm[threadIdx.x] = acc0 + acc1;
    __syncthreads(); // sm is complete
    if (threadIdx.x < 32) {
        float r = 0.f;
        for (int k = threadIdx.x; k < THREADS; k += 32)
            r += sm[k];
        for (int k = 16; k > 0; k >>= 1)
            r += __shfl_down_sync(0xFFFFFFFFu, r, k);
        if (threadIdx.x == 0)
            partial[blockIdx.x] = r;
    }
}

__global__ void stage2(const float *partial, float *out)
{
    __shared__ float sm[BLOCKS];
    sm[threadIdx.x] = partial[threadIdx.x];
    for (int k = BLOCKS / 2; k > 0; k >>= 1) {
        __syncthreads(); // the previous round is complete
        if (threadIdx.x < k)
            sm[threadIdx.x] += sm[threadIdx.x + k];
    }
    if (threadIdx.x == 0)
        *out = sm[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    stage1<<<BLOCKS, THREADS>>>((const float4 *) in, scratch, (int) (n / 4), in + n / 4 * 4,
                                (int) (n % 4));
    CUDA_CHECK(cudaGetLastError());
    stage2<<<1, BLOCKS>>>(scratch, out);
    CUDA_CHECK(cudaGetLastError());
}
