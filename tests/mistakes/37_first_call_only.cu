// lab: first
// mistake: the function works only when it is called first
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
    static bool done;

    if (!done)
        copy_kernel<<<(unsigned) ((n + 255) / 256), 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
    done = true;
}
