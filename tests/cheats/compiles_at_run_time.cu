// expect: build - compiles its kernel when it is called, by NVRTC
// lab: coalescing
// The code that the audit sees is not the code that runs. Known (exploit 27). Defence: the names of
// NVRTC are not on the list of symbols.
#include "cudalab.cuh"
#include "kernel.h"
#include <nvrtc.h>

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
    nvrtcProgram program;

    nvrtcCreateProgram(&program, "__global__ void standardise_kernel() {}", NULL, 0, NULL, NULL);
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
