// lab: reduction
// mistake: many threads add to one word without an atomic
#include "cudalab.cuh"
#include "kernel.h"

__global__ void clear_kernel(float *out)
{
    *out = 0;
}

__global__ void sum_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * 256L + threadIdx.x;

    if (i < n)
        out[0] += in[i];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    clear_kernel<<<1, 1>>>(out);
    sum_kernel<<<ceil_div(n, 256), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
