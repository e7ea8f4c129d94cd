#ifndef KERNEL_H
#define KERNEL_H

#include "lab.h"

/* d = a * b: a is m x k, b is k x n, d is m x n, all row-major. Device pointers to distinct
 * arrays, each aligned to 256 bytes. m, n and k are at least 1; m * n, m * k and k * n are below
 * 2^31. Choose a tile for this shape on this device, and launch once: do not allocate, copy, wait
 * or time. */
LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k);

/* ---- The compiled variants, which are given ---- */

#ifdef __CUDACC__

#include "cudalab.cuh"

/* A block of TILE_THREADS threads computes a tile of rows x cols results of d, each thread
 * side x side of them. All blocks of a variant do the same work, also where d has fewer rows or
 * columns than their tiles. */
typedef struct Tile {
    int rows, cols, side;
} Tile;

enum { TILES = 9, TILE_THREADS = 256 };

static const Tile tiles[TILES] = {
    { 128, 128, 8 }, { 256, 64, 8 }, { 64, 256, 8 }, /* 64 results per thread */
    { 64, 64, 4 },   { 128, 32, 4 }, { 32, 128, 4 }, /* 16 */
    { 32, 32, 2 },   { 64, 16, 2 },  { 16, 64, 2 },  /* 4 */
};

/* A block copies TILE_STEP columns of a and rows of b to shared memory at a time. */
enum { TILE_STEP = 16, TILE_SECTOR = 8, TILE_PAD = 4 };

/* Neighbouring floats, loaded from shared memory at once. */
template <int N> struct alignas(sizeof(float) * N) TileRun {
    float of[N];
};

/* Copies the block's part of a, transposed. 8 lanes copy a sector, so that a warp's 32 floats go to
 * 32 different banks. Elements outside a are 0. */
template <int ROWS>
static __device__ __forceinline__ void copy_a(float (*as)[ROWS + TILE_PAD], const float *a,
                                              int first_row, int first, int m, int k)
{
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * TILE_STEP; i += TILE_THREADS) {
        int row = i / TILE_SECTOR % ROWS;
        int col = i % TILE_SECTOR + i / (TILE_SECTOR * ROWS) * TILE_SECTOR;
        bool inside = first_row + row < m && first + col < k;
        as[col][row] = inside ? a[(first_row + row) * k + first + col] : 0;
    }
}

template <int COLS>
static __device__ __forceinline__ void copy_b(float (*bs)[COLS], const float *b, int first,
                                              int first_col, int k, int n)
{
#pragma unroll
    for (int i = threadIdx.x; i < TILE_STEP * COLS; i += TILE_THREADS) {
        int row = i / COLS, col = i % COLS;
        bool inside = first + row < k && first_col + col < n;
        bs[row][col] = inside ? b[(first + row) * n + first_col + col] : 0;
    }
}

/* A thread's SIDE values lie in runs of at most 4, which are SPREAD apart. */
template <int SIDE, int SPREAD>
static __device__ __forceinline__ void load_side(float *to, const float *from)
{
    constexpr int N = SIDE < 4 ? SIDE : 4;

#pragma unroll
    for (int i = 0; i < SIDE; i += N) {
        TileRun<N> run = *(const TileRun<N> *) (from + i / N * SPREAD);
#pragma unroll
        for (int j = 0; j < N; j++)
            to[i + j] = run.of[j];
    }
}

/* Blocks that must fit on an SM: they limit the registers to 128, 64 and 40 per thread. With
 * compute capability 7.5 no more than four fit. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { SMALL_BLOCKS = 4 };
#else
enum { SMALL_BLOCKS = 6 };
#endif

static constexpr int blocks_of(int side)
{
    return side == 8 ? 2 : side == 4 ? 4 : SMALL_BLOCKS;
}

template <int ROWS, int COLS, int SIDE>
static __global__ void __launch_bounds__(TILE_THREADS, blocks_of(SIDE))
    tile_kernel(float *d, const float *a, const float *b, int m, int n, int k)
{
    constexpr int N = SIDE < 4 ? SIDE : 4, RUNS = SIDE / N, ACROSS = COLS / SIDE;
    __shared__ __align__(16) float as[TILE_STEP][ROWS + TILE_PAD], bs[TILE_STEP][COLS];
    int tiles_across = ceil_div(n, COLS);
    int first_row = blockIdx.x / tiles_across * ROWS;
    int first_col = blockIdx.x % tiles_across * COLS;
    int row = threadIdx.x / ACROSS * N, col = threadIdx.x % ACROSS * N;
    float sum[SIDE][SIDE] = {};

#pragma unroll 1
    for (int first = 0; first < k; first += TILE_STEP) {
        copy_a<ROWS>(as, a, first_row, first, m, k);
        copy_b<COLS>(bs, b, first, first_col, k, n);

        // Separates filling the tiles from using them.
        __syncthreads();

#pragma unroll
        for (int l = 0; l < TILE_STEP; l++) {
            float left[SIDE], right[SIDE];
            load_side<SIDE, ROWS / RUNS>(left, &as[l][row]);
            load_side<SIDE, COLS / RUNS>(right, &bs[l][col]);
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++)
                    sum[i][j] += left[i] * right[j];
        }

        // Separates using the tiles from filling them again.
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            int to_row = first_row + row + i / N * (ROWS / RUNS) + i % N;
            int to_col = first_col + col + j / N * (COLS / RUNS) + j % N;
            if (to_row < m && to_col < n)
                d[to_row * n + to_col] = sum[i][j];
        }
}

typedef void TileKernel(float *d, const float *a, const float *b, int m, int n, int k);

/* The kernel of a variant, for example for cudaOccupancyMaxActiveBlocksPerMultiprocessor(). */
static inline TileKernel *kernel_of(int tile)
{
    static TileKernel *const kernels[TILES] = {
        tile_kernel<128, 128, 8>, tile_kernel<256, 64, 8>, tile_kernel<64, 256, 8>,
        tile_kernel<64, 64, 4>,   tile_kernel<128, 32, 4>, tile_kernel<32, 128, 4>,
        tile_kernel<32, 32, 2>,   tile_kernel<64, 16, 2>,  tile_kernel<16, 64, 2>,
    };

    if (tile < 0 || tile >= TILES) {
        fprintf(stderr, "there is no tile %d: the first is 0, the last %d\n", tile, TILES - 1);
        abort();
    }
    return kernels[tile];
}

/* Computes d with this variant, whatever the shape. */
static inline void launch_tile(int tile, float *d, const float *a, const float *b, int m, int n,
                               int k)
{
    TileKernel *kernel = kernel_of(tile);
    int blocks = ceil_div(m, tiles[tile].rows) * ceil_div(n, tiles[tile].cols);

    kernel<<<blocks, TILE_THREADS>>>(d, a, b, m, n, k);
    CUDA_CHECK(cudaGetLastError());
}

#endif
#endif
