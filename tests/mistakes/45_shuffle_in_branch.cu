// lab: reduction
// mistake: a shuffle's mask names lanes that take another branch
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
    if (tid < 16)
        sum += __shfl_down_sync(0xffffffff, sum, 16);
    part[tid] = sum;
    __syncthreads();
    if (tid == 0) {
        for (int i = 1; i < BLOCK; i++)
            sum += part[i];
        out[0] = sum;
    }
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<1, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
