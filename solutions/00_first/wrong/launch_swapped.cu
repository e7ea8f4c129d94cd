// expect: crash - <<<threads, blocks>>>: right for small n, too many threads per block for large n
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
    long blocks = (n + BLOCK - 1) / BLOCK;

    copy_kernel<<<BLOCK, (unsigned) blocks>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
