// expect: build - adds relocations of its own to .rela.dyn, which the loader obeys
// lab: coalescing
// The linker merges sections of the same name, including its own tables. Defence: an object may
// have only sections that compilers write.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

asm(".pushsection .rela.dyn,\"a\"\n.quad 0, 0, 0\n.popsection\n");

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
