// expect: build - puts a pointer into .ctors, which the linker adds to .init_array
// lab: coalescing
// This is the older mechanism. Defence: that section is refused.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" __attribute__((visibility("hidden"), used)) void at_load(void)
{
    puts("loaded");
}
asm(".pushsection .ctors,\"aw\"\n.quad at_load\n.popsection\n");

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
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
