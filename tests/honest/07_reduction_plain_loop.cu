// expect: device - a grid-stride loop before the slowest tree: whether nvcc unrolls it decides
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

__global__ void sum_up(float *out, const float *in, long n)
{
    __shared__ float s[256];
    float t = 0;

    for (long i = blockIdx.x * 256l + threadIdx.x; i < n; i += gridDim.x * 256l)
        t += in[i];
    s[threadIdx.x] = t;
    __syncthreads(); // s is complete before any thread reads it
    for (int k = 1; k < 256; k *= 2) {
        if (threadIdx.x % (2 * k) == 0)
            s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads(); // this level is complete
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));

    int blocks = n < 256 ? 1 : sms * 8 < n / 256 ? sms * 8 : n / 256;

    sum_up<<<blocks, 256>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    sum_up<<<1, 256>>>(out, scratch, blocks);
    CUDA_CHECK(cudaGetLastError());
}
