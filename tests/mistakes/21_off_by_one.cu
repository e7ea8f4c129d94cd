// lab: first
// mistake: the check is <= where < is right
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) blockDim.x + threadIdx.x;

    if (i <= n)
        out[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<(unsigned) ((n + 255) / 256), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
