// expect: build - adds a section in which the linker looks for code that is not compiled yet
// lab: coalescing
// With link-time optimisation the linker takes an object's functions from there, so the code that
// runs is not the code that was audited. Defence: those sections are refused. Besides, such code
// must be the compiler's own, or linking fails.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

asm(".pushsection \".gnu.lto_.symtab.1\",\"e\"\n.quad 1, 1\n.popsection\n");

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
