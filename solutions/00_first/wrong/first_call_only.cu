// expect: wrong - copies on the first call, and never again
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = (long) blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    static bool done;
    long blocks = (n + BLOCK - 1) / BLOCK;

    if (!done)
        copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    done = true;
    CUDA_CHECK(cudaGetLastError());
}
