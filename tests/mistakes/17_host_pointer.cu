// lab: first
// mistake: a kernel gets a pointer to the host's memory
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n, const float *factor)
{
    long i = blockIdx.x * (long) blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] * *factor;
}

LAB_API void copy(float *out, const float *in, long n)
{
    float factor = 1;

    copy_kernel<<<(unsigned) ((n + 255) / 256), 256>>>(out, in, n, &factor);
    CUDA_CHECK(cudaGetLastError());
}
