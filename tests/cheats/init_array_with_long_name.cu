// expect: build - puts a pointer into a section whose name has 300 characters
// lab: coalescing
// The linker adds all of .init_array.* to .init_array; the table's reader has room for 255
// characters. Defence: a row that cannot be read is refused.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" __attribute__((visibility("hidden"), used)) void at_load(void)
{
    puts("loaded");
}
#define TEN     "aaaaaaaaaa"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
asm(".pushsection .init_array." HUNDRED HUNDRED HUNDRED
    ",\"aw\",@init_array\n.quad at_load\n.popsection\n");

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
