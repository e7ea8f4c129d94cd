// expect: build - names a function of its own cudaDeviceSynchronize, by a weak alias
// lab: coalescing
// Known (exploit 4). Defence: the audit reads the object's symbols, including weak ones, not the
// source text.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" cudaError_t no_wait(void)
{
    return cudaSuccess;
}
extern "C" cudaError_t its_name(void) __asm__("cudaDeviceSynchronize")
    __attribute__((weak, alias("no_wait"), visibility("default")));

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
