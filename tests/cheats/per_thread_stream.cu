// expect: slow - launches into the per-thread stream; the kernel is slow
// lab: coalescing
// Two events on the default stream may not include the work of another stream. Known (exploit 6).
// The handle cudaStreamPerThread needs no call that could be refused. Defence: that stream is
// ordered with the default one, so the events do include it; and the parent's clock waits for all
// streams.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK, 0, cudaStreamPerThread>>>(
        out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
