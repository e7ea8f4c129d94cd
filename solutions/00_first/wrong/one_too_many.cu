// expect: stray (sim: unsafe) - <= instead of <: one element too many, if there is a spare thread
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = (long) blockIdx.x * blockDim.x + threadIdx.x;

    if (i <= n)
        out[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    long blocks = (n + BLOCK - 1) / BLOCK;

    copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
