// expect: device - the host code recurses until one sum is left; 512 threads, four elements each
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

__global__ void quarter(float *dst, const float *src, long n)
{
    __shared__ float s[512];
    long i = (long) blockIdx.x * 2048 + threadIdx.x;
    float v = 0;

    if (i < n)
        v = src[i];
    if (i + 512 < n)
        v += src[i + 512];
    if (i + 1024 < n)
        v += src[i + 1024];
    if (i + 1536 < n)
        v += src[i + 1536];
    s[threadIdx.x] = v;
    for (unsigned stride = 256; stride > 0; stride >>= 1) {
        __syncthreads(); // the previous round is complete
        if (threadIdx.x < stride)
            s[threadIdx.x] = v = v + s[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        dst[blockIdx.x] = v;
}

static void reduce(float *out, const float *in, long n, float *work)
{
    long blocks = (n + 2047) / 2048;

    if (blocks == 1) {
        quarter<<<1, 512>>>(out, in, n);
        CUDA_CHECK(cudaGetLastError());
        return;
    }
    quarter<<<blocks, 512>>>(work, in, n);
    CUDA_CHECK(cudaGetLastError());
    reduce(out, work, blocks, work + blocks);
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    reduce(out, in, n, scratch);
}
