// expect: build - calls a function of the runner that fills arrays from a seed
// lab: coalescing
// The runner is the program that loads the object. Known (exploit 13). Defence: its names are not
// on the list of symbols, and it exports no symbols.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" cudaError_t device_fill(int, int, long, void *, size_t);

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
    device_fill(0, 0, 0, out, sizeof *out);
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
