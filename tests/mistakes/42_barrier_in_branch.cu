// lab: reduction
// mistake: __syncthreads() in a branch that some threads do not take
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    float sum = 0;

    for (long i = tid; i < n; i += BLOCK)
        sum += in[i];
    part[tid] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2)
        if (tid < s) {
            part[tid] += part[tid + s];
            __syncthreads();
        }
    if (tid == 0)
        out[0] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<1, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
