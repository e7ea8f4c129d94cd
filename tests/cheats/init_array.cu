// expect: build - puts a pointer into .init_array, by a section attribute
// lab: coalescing
// No constructor is declared. Defence: the audit checks the size of that section, however it was
// made.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static void at_load(void)
{
    puts("loaded");
}
__attribute__((section(".init_array"), used)) static void (*const pointer)(void) = at_load;

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
