// rung: beyond, expect: pass - 4 x 4 elements transposed in registers, the rest in shared memory
// Shared memory then moves 16 bytes per access both ways, with a quarter of the instructions, and
// needs no padding: the place of each float4 in its row is permuted so that no two conflict. Ragged
// shapes as before.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 64, WIDE = 4, WARP = 32, THREADS = 512 };
enum { TALL_ROWS = 96, TALL_COLS = 32, TALL_PITCH = TALL_COLS + 1, BLOCK_ROWS = 16 };

// The transpose of a vector has the same bytes in the same order.
__global__ void copy_kernel(float *out, const float *in, int count)
{
    int i = (blockIdx.x * THREADS + threadIdx.x) * WIDE;

    if (i <= count - WIDE)
        *(float4 *) &out[i] = *(const float4 *) &in[i];
    else
        for (int k = i; k < count; k++)
            out[k] = in[k];
}

// in is rows x cols, out is cols x rows; both are row-major; rows and cols are multiples of WIDE. A
// thread transposes 4 x 4 elements in its registers. The block transposes the 16 x 16 grid of these
// squares through shared memory, 16 bytes per access: quads[col][row / 4], with row / 4 permuted by
// col / 4.
enum { QUADS = TILE / WIDE, TURN_THREADS = QUADS * QUADS };

__global__ void wide_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float4 quads[TILE][QUADS];

    int tiles_down = ceil_div(rows, TILE);
    int first_row = blockIdx.x % tiles_down * TILE;
    int first_col = blockIdx.x / tiles_down * TILE;
    int along = threadIdx.x % QUADS, down = threadIdx.x / QUADS;
    int row = first_row + down * WIDE, col = first_col + along * WIDE;

    if (row < rows && col < cols) {
        const float *from = &in[row * cols + col];
        float4 a = *(const float4 *) from;
        float4 b = *(const float4 *) (from + cols);
        float4 c = *(const float4 *) (from + 2 * (size_t) cols);
        float4 d = *(const float4 *) (from + 3 * (size_t) cols);
        int place = down ^ along;
        quads[along * WIDE][place] = make_float4(a.x, b.x, c.x, d.x);
        quads[along * WIDE + 1][place] = make_float4(a.y, b.y, c.y, d.y);
        quads[along * WIDE + 2][place] = make_float4(a.z, b.z, c.z, d.z);
        quads[along * WIDE + 3][place] = make_float4(a.w, b.w, c.w, d.w);
    }

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int j = down; j < TILE; j += TURN_THREADS / QUADS) {
        row = first_row + along * WIDE;
        col = first_col + j;
        if (row < rows && col < cols)
            *(float4 *) &out[col * rows + row] = quads[j][along ^ (j / WIDE)];
    }
}

// The same for any rows and cols, four bytes per access.
__global__ void tall_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TALL_ROWS][TALL_PITCH];

    int tiles_down = ceil_div(rows, TALL_ROWS);
    int first_row = blockIdx.x % tiles_down * TALL_ROWS;
    int first_col = blockIdx.x / tiles_down * TALL_COLS;

    for (int j = 0; j < TALL_ROWS; j += BLOCK_ROWS) {
        int row = first_row + threadIdx.y + j;
        int col = first_col + threadIdx.x;
        if (row < rows && col < cols)
            tile[threadIdx.y + j][threadIdx.x] = in[row * cols + col];
    }

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int j = 0; j < TALL_COLS; j += BLOCK_ROWS)
        for (int i = 0; i < TALL_ROWS; i += WARP) {
            int row = first_row + threadIdx.x + i;
            int col = first_col + threadIdx.y + j;
            if (row < rows && col < cols)
                out[col * rows + row] = tile[threadIdx.x + i][threadIdx.y + j];
        }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int count = rows * cols;

    if (rows == 1 || cols == 1) {
        copy_kernel<<<ceil_div(count, THREADS * WIDE), THREADS>>>(out, in, count);
    } else if (rows % WIDE == 0 && cols % WIDE == 0) {
        int tiles = ceil_div(rows, TILE) * ceil_div(cols, TILE);
        wide_kernel<<<tiles, TURN_THREADS>>>(out, in, rows, cols);
    } else {
        dim3 block(TALL_COLS, BLOCK_ROWS);
        int tiles = ceil_div(rows, TALL_ROWS) * ceil_div(cols, TALL_COLS);
        tall_kernel<<<tiles, block>>>(out, in, rows, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
