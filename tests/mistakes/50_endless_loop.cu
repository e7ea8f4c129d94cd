// lab: first
// mistake: a loop's step is 0
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long step = gridDim.x / 1024 * blockDim.x;

    for (long i = blockIdx.x * (long) blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = in[i];
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<(unsigned) ((n + 255) / 256), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
