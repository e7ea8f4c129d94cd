// lab: first
// mistake: host code uses a device pointer
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long i = blockIdx.x * (long) blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    for (long i = 0; i < n; i++)
        out[i] = in[i];
}
