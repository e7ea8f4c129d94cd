// lab: reduction
// mistake: a thread reads past the end of a shared array
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
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        __syncthreads();
        sum += part[tid + s];
        __syncthreads();
        part[tid] = sum;
    }
    if (tid == 0)
        out[0] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<1, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
