// expect: stray (sim: unsafe) - the last float4 reaches up to three elements past the end
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WIDE = 4 };

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = ((long) blockIdx.x * BLOCK + threadIdx.x) * WIDE;

    if (i < n)
        *(float4 *) &out[i] = *(const float4 *) &in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    long blocks = (n + BLOCK * WIDE - 1) / (BLOCK * WIDE);

    copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
