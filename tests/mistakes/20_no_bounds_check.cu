// lab: first
// mistake: the last block's threads do not check their index
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) blockDim.x + threadIdx.x;

    out[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<(unsigned) ((n + 255) / 256), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
