// lab: first
// mistake: a float4 at an address that 16 does not divide
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = (blockIdx.x * (long) blockDim.x + threadIdx.x) * 4 + n % 4;

    if (i + 3 < n)
        *(float4 *) (out + i) = *(const float4 *) (in + i);
    if (i == n % 4)
        for (long k = 0; k < i; k++)
            out[k] = in[k];
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<(unsigned) ((n / 4 + 256) / 256), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
