// lab: first
// mistake: a kernel calls a function of the host
#include "cudalab.cuh"
#include "kernel.h"

float same(float x)
{
    return x;
}

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = same(in[i]);
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<(unsigned) ((n + 255) / 256), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
