// rung: beyond, expect: pass - 16 bytes per access: one float4 per thread instead of four floats
// The same number of bytes is in flight with a quarter of the instructions. Rows must be whole
// vectors; if cols is not a multiple of 4, rung 2's kernel does the work.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4, WIDE = 4 };

// in and out are rows x quads, row-major: quads = cols / WIDE vectors make a row. A thread moves
// one vector; its mean and its scale are in registers.
__global__ void wide_kernel(float4 *out, const float4 *in, const float4 *mean, const float4 *scale,
                            int rows, int quads)
{
    int quad = threadIdx.x;
    int row = blockIdx.x * blockDim.y + threadIdx.y;

    if (row < rows) {
        float4 x = in[row * quads + quad], m = mean[quad], s = scale[quad];
        out[row * quads + quad] =
            make_float4((x.x - m.x) * s.x, (x.y - m.y) * s.y, (x.z - m.z) * s.z, (x.w - m.w) * s.w);
    }
}

// in and out are rows x cols, row-major. A thread takes ITEMS rows. It loads all of them before it
// stores the first, so that ITEMS loads are in flight at once.
__global__ void narrow_kernel(float *out, const float *in, const float *mean, const float *scale,
                              int rows, int cols)
{
    int col = threadIdx.x;
    int step = blockDim.y;
    int first_row = blockIdx.x * step * ITEMS + threadIdx.y;
    float m = mean[col], s = scale[col], x[ITEMS];

    // rows * cols is at most 2^30, so an int can hold every index.
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            x[j] = in[row * cols + col];
    }
    for (int j = 0; j < ITEMS; j++) {
        int row = first_row + j * step;
        if (row < rows)
            out[row * cols + col] = (x[j] - m) * s;
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    if (cols % WIDE == 0) {
        int quads = cols / WIDE;
        dim3 block(quads, BLOCK / quads);
        wide_kernel<<<ceil_div(rows, block.y), block>>>((float4 *) out, (const float4 *) in,
                                                        (const float4 *) mean,
                                                        (const float4 *) scale, rows, quads);
    } else {
        dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
        narrow_kernel<<<ceil_div(rows, block.y * ITEMS), block>>>(out, in, mean, scale, rows, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
