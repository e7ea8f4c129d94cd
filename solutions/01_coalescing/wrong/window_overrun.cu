// expect: stray (sim: unsafe) - tests the index of the round before: one round too many
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, BLOCKS = 32, STEP = BLOCKS * BLOCK };

// All threads together go over the elements, one window of STEP after the other.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int count, int cols)
{
    int last = 0;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; last < count; i += STEP) {
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
        last = i;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<BLOCKS, BLOCK>>>(out, in, mean, scale, rows * cols, cols);
    CUDA_CHECK(cudaGetLastError());
}
