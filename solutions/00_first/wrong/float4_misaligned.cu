// expect: crash - float4s at addresses that are not multiples of 16
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WIDE = 4 };

// Element 0 is copied alone, which shifts all float4s after it.
__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = ((long) blockIdx.x * BLOCK + threadIdx.x) * WIDE + 1;

    if (i == 1)
        out[0] = in[0];
    if (i + WIDE <= n)
        *(float4 *) &out[i] = *(const float4 *) &in[i];
    else
        for (long k = i; k < n; k++)
            out[k] = in[k];
}

LAB_API void copy(float *out, const float *in, long n)
{
    long blocks = (n + BLOCK * WIDE - 1) / (BLOCK * WIDE);

    copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
