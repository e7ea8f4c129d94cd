// expect: slow - coalesced, but a single block: one SM works, all others wait
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

// One block sweeps over all elements.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int count, int cols)
{
    for (int i = threadIdx.x; i < count; i += BLOCK)
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<1, BLOCK>>>(out, in, mean, scale, rows * cols, cols);
    CUDA_CHECK(cudaGetLastError());
}
