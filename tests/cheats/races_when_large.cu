// expect: wrong (sim: unsafe) - leaves its barriers out in cases too large for checks of races
// lab: reduction
// Defence: shared memory is checked in a few blocks of each large launch, drawn at random.
#include "cudalab.cuh"
#include "kernel.h"

#ifndef LARGE
#define LARGE (1000003 + 1)
#endif
enum { BLOCK = 256, WARPS = BLOCK / 32, BLOCKS_A_SM = 8 };

template <bool RACES> static __global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ volatile float part[BLOCK + 32];
    __shared__ volatile float sums[WARPS];
    long step = gridDim.x * (long) BLOCK, i = blockIdx.x * (long) BLOCK + threadIdx.x;
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    float t0 = 0, t1 = 0, t2 = 0, t3 = 0;

    for (; i + 3 * step < n; i += 4 * step) {
        float a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
        t0 += a;
        t1 += b;
        t2 += c;
        t3 += d;
    }
#pragma unroll 1
    for (; i < n; i += step)
        t0 += in[i];
    t0 = (t0 + t1) + (t2 + t3);
    part[tid] = t0;
    for (int s = 16; s > 0; s /= 2) {
        if (!RACES)
            __syncwarp();
        t0 = lane < s ? t0 + part[tid + s] : t0;
        if (!RACES)
            __syncwarp();
        part[tid] = t0;
    }
    if (lane == 0)
        sums[warp] = t0;
    if (!RACES)
        __syncthreads();
    if (tid == BLOCK - 32) {
        float all = 0;
        for (int w = 0; w < WARPS; w++)
            all += sums[w];
        out[blockIdx.x] = all;
    }
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    long enough = (n + BLOCK - 1) / BLOCK;
    int blocks = enough < BLOCKS_A_SM * sms ? (int) enough : BLOCKS_A_SM * sms;

    if (n >= LARGE)
        sum_kernel<true><<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
    else
        sum_kernel<false><<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
    CUDA_CHECK(cudaGetLastError());
    if (blocks > 1) {
        sum_kernel<false><<<1, BLOCK>>>(out, scratch, blocks);
        CUDA_CHECK(cudaGetLastError());
    }
}
