// expect: crash (sim: stray) - writes through a GPU pointer that was never set
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__device__ float *target; // a NULL pointer, which only shows once the kernel runs

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = (long) blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        target[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    long blocks = (n + BLOCK - 1) / BLOCK;

    copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
