// rung: 1, expect: pass - one thread per element, and a check for the last block
// One thread per element: thread number i of the whole grid copies element i.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// On the GPU: every thread of every block runs this once, with its own blockIdx and threadIdx.
__global__ void copy_kernel(float *out, const float *in, long n)
{
    // Cast to long before multiplying: blockIdx.x and blockDim.x are 32 bits wide, and so is their
    // product.
    long i = (long) blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

// On the host: a launch only queues the kernel and returns. The host may not access out and in.
LAB_API void copy(float *out, const float *in, long n)
{
    long blocks = (n + BLOCK - 1) / BLOCK;

    copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
