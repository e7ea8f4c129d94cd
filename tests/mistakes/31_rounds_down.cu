// lab: first
// mistake: the number of blocks is rounded down
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<(unsigned) (n / 256 + (n < 256)), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
