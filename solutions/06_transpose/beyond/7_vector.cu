// rung: beyond, expect: pass - 64 x 64 tiles, 16 bytes per thread and access on both sides
// Four times the bytes in flight for the same number of requests. A float4 must be aligned, so this
// path needs rows and cols that are multiples of 4; other shapes use the previous rung's kernel.
#include "cudalab.cuh"
#include "kernel.h"

// PITCH is 1 modulo 32: element [row][col] is in bank (row + col) % 32, as with a pitch of 33.
enum { TILE = 64, PITCH = TILE + 1, THREADS = 512 };
enum { WIDE = 4, WARP = 32 };

// A warp makes 32 accesses of 16 bytes: 4 lines of 128 bytes with 8 accesses each. Word k of the
// lanes is in banks (4 * across + down + k) % 32, which are all different.
enum { ACROSS = 8, DOWN = WARP / ACROSS, LINE = ACROSS * WIDE, WARPS = THREADS / WARP };
enum { SIDE = TILE / LINE, PASS = WARPS / SIDE * DOWN };

enum { SMALL_TILE = 32, SMALL_PITCH = SMALL_TILE + 1, BLOCK_ROWS = 8 };

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

// in is rows x cols, out is cols x rows; both are row-major; rows and cols are multiples of WIDE.
__global__ void wide_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][PITCH]; // as in the input: tile[row][col]

    // Consecutive blocks follow a row of the output.
    int tiles_down = ceil_div(rows, TILE);
    int first_row = blockIdx.x % tiles_down * TILE;
    int first_col = blockIdx.x / tiles_down * TILE;

    // This thread's place in a pass: `along` counts along memory, `down` across it.
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int along = warp % SIDE * LINE + lane % ACROSS * WIDE;
    int down = warp / SIDE * DOWN + lane / ACROSS;

    for (int pass = 0; pass < TILE; pass += PASS) {
        int j = down + pass;
        int row = first_row + j;
        int col = first_col + along;
        if (row < rows && col < cols) {
            float4 four = *(const float4 *) &in[row * cols + col];
            tile[j][along] = four.x;
            tile[j][along + 1] = four.y;
            tile[j][along + 2] = four.z;
            tile[j][along + 3] = four.w;
        }
    }

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int pass = 0; pass < TILE; pass += PASS) {
        int j = down + pass;
        int row = first_row + along;
        int col = first_col + j;
        if (row < rows && col < cols)
            *(float4 *) &out[col * rows + row] = make_float4(
                tile[along][j], tile[along + 1][j], tile[along + 2][j], tile[along + 3][j]);
    }
}

// The same for any rows and cols, four bytes per access.
__global__ void narrow_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[SMALL_TILE][SMALL_PITCH];

    int tiles_down = ceil_div(rows, SMALL_TILE);
    int first_row = blockIdx.x % tiles_down * SMALL_TILE;
    int first_col = blockIdx.x / tiles_down * SMALL_TILE;

    for (int j = 0; j < SMALL_TILE; j += BLOCK_ROWS) {
        int row = first_row + threadIdx.y + j;
        int col = first_col + threadIdx.x;
        if (row < rows && col < cols)
            tile[threadIdx.y + j][threadIdx.x] = in[row * cols + col];
    }

    // Separates writing the tile by rows from reading it by columns: other warps wrote those rows.
    __syncthreads();

    for (int j = 0; j < SMALL_TILE; j += BLOCK_ROWS) {
        int row = first_row + threadIdx.x;
        int col = first_col + threadIdx.y + j;
        if (row < rows && col < cols)
            out[col * rows + row] = tile[threadIdx.x][threadIdx.y + j];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int count = rows * cols;

    if (rows == 1 || cols == 1) {
        copy_kernel<<<ceil_div(count, THREADS * WIDE), THREADS>>>(out, in, count);
    } else if (rows % WIDE == 0 && cols % WIDE == 0) {
        int tiles = ceil_div(rows, TILE) * ceil_div(cols, TILE);
        wide_kernel<<<tiles, THREADS>>>(out, in, rows, cols);
    } else {
        dim3 block(SMALL_TILE, BLOCK_ROWS);
        int tiles = ceil_div(rows, SMALL_TILE) * ceil_div(cols, SMALL_TILE);
        narrow_kernel<<<tiles, block>>>(out, in, rows, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
