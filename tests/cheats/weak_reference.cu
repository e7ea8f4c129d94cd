// expect: build - refers to mprotect weakly and calls it if it exists
// lab: coalescing
// A linker does not insist on weak symbols. Known (exploit 4). Defence: weak references are
// symbols like others.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" int mprotect(void *, size_t, int) __attribute__((weak));

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
    if (mprotect)
        mprotect((void *) ((long) cudaGetLastError & -4096), 4096, 7);
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
