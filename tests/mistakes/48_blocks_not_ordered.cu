// lab: reduction
// mistake: a block reads what other blocks of the same launch write
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void sum_kernel(float *out, const float *in, long n, float *scratch)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    float sum = 0;

    for (long i = blockIdx.x * (long) BLOCK + tid; i < n; i += gridDim.x * (long) BLOCK)
        sum += in[i];
    part[tid] = sum;
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        __syncthreads();
        if (tid < s)
            part[tid] += part[tid + s];
    }
    if (tid == 0)
        scratch[blockIdx.x] = part[0];
    __syncthreads();
    if (blockIdx.x == 0 && tid == 0) {
        sum = 0;
        for (int b = 0; b < gridDim.x; b++)
            sum += scratch[b];
        out[0] = sum;
    }
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<32, BLOCK>>>(out, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
