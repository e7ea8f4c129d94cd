// expect: unsafe - works only where the output is still poison; the kernel is slow
// lab: coalescing
// It reads the output first: where there is no poison, an earlier call has already written. Known
// (exploit 8, 13). Defence: everything is poisoned before each sample, so there is always work, and
// checking for poison costs extra.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    // Bytes of 0xFF and of 0x7F are what this grader poisons with.
    if (r >= rows)
        return;
    unsigned was = __float_as_uint(out[(size_t) r * cols + c]);
    if (was == 0xffffffffu || was == 0x7f7f7f7fu)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
