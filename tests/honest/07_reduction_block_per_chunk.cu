// expect: device - a block for every 4096 elements, no loop over the array: many short blocks
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

const int chunk = 4096;
const int threads = 256;
const int each = chunk / threads;

__global__ void sum_chunks(float *sums, const float *x, long n)
{
    __shared__ float buffer[threads];
    long start = (long) blockIdx.x * chunk;
    float mine = 0;

    if (start + chunk <= n) {
        float v[each];
        for (int k = 0; k < each; k++)
            v[k] = x[start + k * threads + threadIdx.x];
        for (int k = 0; k < each; k++)
            mine += v[k];
    } else {
        for (long i = start + threadIdx.x; i < n; i += threads)
            mine += x[i];
    }

    buffer[threadIdx.x] = mine;
    __syncthreads(); // all sums are written before the first warp reads them
    if (threadIdx.x >= 32)
        return;
    mine = 0;
    for (int k = 0; k < threads; k += 32)
        mine += buffer[k + threadIdx.x];
    for (int k = 1; k < 32; k *= 2)
        mine += __shfl_xor_sync(0xffffffff, mine, k);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = mine;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    long left = n;
    const float *from = in;
    float *to = scratch;

    while (left > chunk) {
        long blocks = (left + chunk - 1) / chunk;
        sum_chunks<<<blocks, threads>>>(to, from, left);
        CUDA_CHECK(cudaGetLastError());
        from = to;
        to += blocks;
        left = blocks;
    }
    sum_chunks<<<1, threads>>>(out, from, left);
    CUDA_CHECK(cudaGetLastError());
}
