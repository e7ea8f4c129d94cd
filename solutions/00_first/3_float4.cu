// rung: 3, expect: pass - one float4 per thread: as many bytes in flight, a quarter of the loads
// The address of a float4 must be a multiple of 16. The arrays begin at such an address, so element
// i has one if i is a multiple of 4. The thread at the end of the array copies the remaining
// elements one by one.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WIDE = 4 };

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = ((long) blockIdx.x * BLOCK + threadIdx.x) * WIDE;

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
