// expect: pass - a template on the block size, an unrolled tree, eight loads per thread
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

template <unsigned int blockSize>
__global__ void reduce6(const float *__restrict__ g_idata, float *g_odata, size_t n)
{
    __shared__ float sdata[blockSize];
    const unsigned int tid = threadIdx.x;
    const size_t gridSize = (size_t) blockSize * 8 * gridDim.x;
    size_t i = (size_t) blockIdx.x * (blockSize * 8) + tid;
    float acc = 0.0f;

    while (i + 7 * blockSize < n) {
        float x[8];
#pragma unroll
        for (int k = 0; k < 8; ++k)
            x[k] = g_idata[i + k * blockSize];
#pragma unroll
        for (int k = 0; k < 8; ++k)
            acc += x[k];
        i += gridSize;
    }
    for (int k = 0; k < 8; ++k)
        if (i + k * blockSize < n)
            acc += g_idata[i + k * blockSize];

    sdata[tid] = acc;
    __syncthreads(); // the tree reads values of other threads

    if (blockSize >= 512) {
        if (tid < 256)
            sdata[tid] += sdata[tid + 256];
        __syncthreads(); // this round is complete
    }
    if (blockSize >= 256) {
        if (tid < 128)
            sdata[tid] += sdata[tid + 128];
        __syncthreads(); // this round is complete
    }
    if (blockSize >= 128) {
        if (tid < 64)
            sdata[tid] += sdata[tid + 64];
        __syncthreads(); // this round is complete
    }
    if (tid < 32) {
        float v = sdata[tid] + sdata[tid + 32];
        v += __shfl_down_sync(~0u, v, 16);
        v += __shfl_down_sync(~0u, v, 8);
        v += __shfl_down_sync(~0u, v, 4);
        v += __shfl_down_sync(~0u, v, 2);
        v += __shfl_down_sync(~0u, v, 1);
        if (tid == 0)
            g_odata[blockIdx.x] = v;
    }
}

template <unsigned int blockSize>
static void launch(const float *in, float *out, size_t n, unsigned int blocks)
{
    reduce6<blockSize><<<blocks, blockSize>>>(in, out, n);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    const unsigned int blocks = 528;

    if (n > 4096) {
        launch<512>(in, scratch, n, blocks);
        launch<128>(scratch, out, blocks, 1);
    } else {
        launch<256>(in, out, n, 1);
    }
}
