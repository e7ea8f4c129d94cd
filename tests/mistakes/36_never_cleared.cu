// lab: reduction
// mistake: atomicAdd to a word that is not set to 0 first
#include "cudalab.cuh"
#include "kernel.h"

__global__ void sum_kernel(float *out, const float *in, long n)
{
    float sum = 0;

    for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += gridDim.x * 256L)
        sum += in[i];
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<32, 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
