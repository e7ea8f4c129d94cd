// expect: build - calls cudaMalloc under another name, by an asm label
// lab: coalescing
// A search of the source text would not find it, even after expanding macros. Known (exploit 27).
// Defence: the audit reads the object's symbols, not its text.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

#define PASTE(a, b) #a #b
extern "C" cudaError_t harmless(void **block, size_t size) __asm__(PASTE(cuda, Malloc));

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
    static void *kept;

    if (!kept)
        CUDA_CHECK(harmless(&kept, 1 << 20));
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
