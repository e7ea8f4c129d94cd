// expect: build - embeds a file of the grader's by .incbin and a relative name
// lab: coalescing
// (Known, exploit 23.)
// Defence: what does not lie below an allowed folder is refused, whatever it is called, and what is
// not found counts as that; where the kernel has Landlock, the compiler itself cannot open it.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

asm(".pushsection .rodata\nembedded: .incbin \"../../../grader/build/stub.c\"\n.popsection\n");

// Lanes along the rows of one feature: right, and far below the bar by itself.
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
