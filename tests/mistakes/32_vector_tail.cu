// lab: first
// mistake: float4 leaves out the last n % 4 elements
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) blockDim.x + threadIdx.x;

    if (i < n / 4)
        ((float4 *) out)[i] = ((const float4 *) in)[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<(unsigned) (n / 1024 + 1), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
