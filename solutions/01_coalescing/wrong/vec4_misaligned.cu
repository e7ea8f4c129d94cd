// expect: crash - float4 along each row: rows are not aligned if 4 does not divide cols
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WIDE = 4 };

// A block takes neighbouring rows; a thread takes WIDE columns of one row.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int col = threadIdx.x * WIDE;

    if (row >= rows)
        return;
    if (col <= cols - WIDE) {
        float4 x = *(const float4 *) &in[row * cols + col];
        *(float4 *) &out[row * cols + col] = make_float4(
            (x.x - mean[col]) * scale[col], (x.y - mean[col + 1]) * scale[col + 1],
            (x.z - mean[col + 2]) * scale[col + 2], (x.w - mean[col + 3]) * scale[col + 3]);
    } else {
        for (int k = col; k < cols; k++)
            out[row * cols + k] = (in[row * cols + k] - mean[k]) * scale[k];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int quads = ceil_div(cols, WIDE);
    dim3 block(quads, BLOCK / quads);

    standardise_kernel<<<ceil_div(rows, block.y), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
