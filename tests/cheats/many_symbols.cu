// expect: build - has 100000 symbols, so that their list is truncated
// lab: coalescing
// Symbols at its end may not be seen. Known (exploit 27). Defence: a truncated list is refused.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

asm(".set count, 0\n.rept 100000\n.altmacro\n.macro one n\nsymbol_\\n:\n.endm\none %count\n.purgem "
    "one\n.set count, count + 1\n.endr\n");

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
