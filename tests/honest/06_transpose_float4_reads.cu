// expect: pass - float4 into shared memory where cols allows; rows of 36 floats, 4-way conflicts
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

#define TILE  32
#define PITCH 36 // a multiple of 4: float4 stores into shared memory stay aligned

__global__ void transpose_vec(float *__restrict__ out, const float *__restrict__ in, int rows,
                              int cols, bool aligned)
{
    __shared__ __align__(16) float tile[TILE][PITCH];
    int tiles_x = ceil_div(cols, TILE);
    int by = blockIdx.x / tiles_x, bx = blockIdx.x - by * tiles_x;
    int tid = threadIdx.x;

    // 256 threads, 8 of them for each of 32 rows
    int r = tid >> 3, c = (tid & 7) << 2;
    int row = by * TILE + r, col = bx * TILE + c;
    if (row < rows) {
        const float *src = in + (size_t) row * cols + col;
        if (aligned && col < cols) {
            *reinterpret_cast<float4 *>(&tile[r][c]) = *reinterpret_cast<const float4 *>(src);
        } else {
            for (int k = 0; k < 4; k++)
                if (col + k < cols)
                    tile[r][c + k] = src[k];
        }
    }

    __syncthreads(); // tile complete

    row = by * TILE + (tid & 31);
    if (row >= rows)
        return; // no barrier below
#pragma unroll
    for (int k = 0; k < TILE; k += 8) {
        c = (tid >> 5) + k;
        col = bx * TILE + c;
        if (col < cols)
            out[(size_t) col * rows + row] = tile[tid & 31][c];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_vec<<<ceil_div(rows, TILE) * ceil_div(cols, TILE), 256>>>(out, in, rows, cols,
                                                                        cols % 4 == 0);
    CUDA_CHECK(cudaGetLastError());
}
