// lab: reduction
// mistake: the launch passes no bytes for extern __shared__
#include "cudalab.cuh"
#include "kernel.h"

__global__ void sum_kernel(float *out, const float *in, long n)
{
    extern __shared__ float part[];
    float sum = 0;

    for (long i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0)
        out[0] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<1, 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
