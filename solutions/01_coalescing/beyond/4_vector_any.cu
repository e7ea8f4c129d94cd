// rung: beyond, expect: pass - any cols in 16-byte accesses: only the whole array need be aligned
// A float4 need not be in one row. If cols is not a multiple of 4, the kernel treats the table as
// one long vector, and each thread computes the features of its four elements.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WIDE = 4 };

// in and out are rows x quads, row-major: quads = cols / WIDE vectors make a row. A thread moves
// one vector; its mean and its scale are in registers.
__global__ void rows_kernel(float4 *out, const float4 *in, const float4 *mean, const float4 *scale,
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

// Elements col to col + 3 of a vector of cols elements, wrapping around at its end.
static __device__ float4 four_from(const float *vector, int col, int cols)
{
    float v[WIDE];

    for (int k = 0; k < WIDE; k++) {
        v[k] = vector[col];
        col = col + 1 < cols ? col + 1 : 0;
    }
    return make_float4(v[0], v[1], v[2], v[3]);
}

// The same for any cols: in and out have count elements, and a thread takes WIDE of them.
__global__ void flat_kernel(float *out, const float *in, const float *mean, const float *scale,
                            int count, int cols)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) * WIDE;

    if (i <= count - WIDE) {
        float4 x = *(const float4 *) &in[i];
        float4 m = four_from(mean, i % cols, cols), s = four_from(scale, i % cols, cols);
        *(float4 *) &out[i] =
            make_float4((x.x - m.x) * s.x, (x.y - m.y) * s.y, (x.z - m.z) * s.z, (x.w - m.w) * s.w);
    } else {
        for (int k = i; k < count; k++)
            out[k] = (in[k] - mean[k % cols]) * scale[k % cols];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    if (cols % WIDE == 0) {
        int quads = cols / WIDE;
        dim3 block(quads, BLOCK / quads);
        rows_kernel<<<ceil_div(rows, block.y), block>>>((float4 *) out, (const float4 *) in,
                                                        (const float4 *) mean,
                                                        (const float4 *) scale, rows, quads);
    } else {
        int count = rows * cols;
        flat_kernel<<<ceil_div(count, BLOCK * WIDE), BLOCK>>>(out, in, mean, scale, count, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
