// expect: stray - changes the input so that little work is left, and the result with it
// lab: coalescing
// It sets every input to its mean, so that all results are 0, and hopes that the right answer is
// computed from the changed input. Known (exploit 15). Defence: inputs are compared with their seed
// afterwards; the right answer comes from the seed, never from memory.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void settle_kernel(float *out, float *in, const float *mean, int count, int cols)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count) {
        in[i] = mean[i % cols];
        out[i] = 0;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    settle_kernel<<<ceil_div(rows * cols, BLOCK), BLOCK>>>(out, (float *) in, mean, rows * cols,
                                                           cols);
    CUDA_CHECK(cudaGetLastError());
}
