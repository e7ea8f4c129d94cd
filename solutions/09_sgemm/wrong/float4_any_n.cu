// expect: crash - 16 bytes of B at a time for any n: rows of B may not be aligned
#include "cudalab.cuh"
#include "kernel.h"

#include <cuda_pipeline.h>

// A block computes TILE_M x TILE_N results, a warp WARP_M x WARP_N of them, a thread SIDE x SIDE.
enum { TILE_M = 128, TILE_N = 128, TILE_K = 16, THREADS = 256, BLOCKS_A_SM = 2 };
enum { WARP = 32, WARP_M = 32, WARP_N = 64, WARPS_ACROSS = TILE_N / WARP_N, SIDE = 8, QUAD = 4 };

// How the threads copy A: 8 of them copy a sector of a row, and all of them together 32 rows.
enum { A_COLS = 8, A_ROWS = THREADS / A_COLS, A_EACH = TILE_M / A_ROWS };

// A is transposed, so that a thread's rows are neighbours. With 132 floats per row, the 8 x 4
// floats that a warp copies at once go to 32 different banks: 4 k + row.
typedef float TileA[TILE_K][TILE_M + QUAD];
typedef float TileB[TILE_K][TILE_N];

// One pair is multiplied while the other one is copied.
typedef struct Tiles {
    TileA as[2];
    TileB bs[2];
} Tiles;

// The next copies of a thread; `width` is the number of floats of B per copy, 4 or 1.
typedef struct Share {
    const float *a[A_EACH], *b;
    int a_row, a_col, b_row, b_col, b_down, n, width;
} Share;

// Rows and columns past the edge are copies of the last ones: their results are never written.
static __device__ __forceinline__ void open_share(Share *my, const float *a, const float *b,
                                                  int first_row, int first_col, int m, int k)
{
    int across = TILE_N / my->width;

    my->a_row = threadIdx.x / A_COLS;
    my->a_col = threadIdx.x % A_COLS;
    for (int i = 0; i < A_EACH; i++) {
        int row = min(first_row + my->a_row + i * A_ROWS, m - 1);
        my->a[i] = a + (size_t) row * k + my->a_col;
    }
    my->b_row = threadIdx.x / across;
    my->b_col = threadIdx.x % across * my->width;
    my->b_down = THREADS / across;
    my->b = b + (size_t) my->b_row * my->n + min(first_col + my->b_col, my->n - my->width);
}

// Starts to copy the part of k that does not fill a tile, and fills the rest with zeros.
static __device__ __forceinline__ void copy_rest(TileA as, TileB bs, Share *my, int rest)
{
    for (int j = 0; j < TILE_K; j += A_COLS)
        for (int i = 0; i < A_EACH; i++)
            if (my->a_col + j < rest)
                __pipeline_memcpy_async(&as[my->a_col + j][my->a_row + i * A_ROWS], my->a[i] + j,
                                        sizeof(float));
            else
                as[my->a_col + j][my->a_row + i * A_ROWS] = 0;
    for (int i = 0; i < TILE_K; i += my->b_down)
        if (my->b_row + i < rest)
            __pipeline_memcpy_async(&bs[my->b_row + i][my->b_col], my->b + (size_t) i * my->n,
                                    my->width * sizeof(float));
        else
            for (int j = 0; j < my->width; j++)
                bs[my->b_row + i][my->b_col + j] = 0;
    for (int i = 0; i < A_EACH; i++)
        my->a[i] += rest;
    my->b += (size_t) rest * my->n;
    __pipeline_commit();
}

// Starts to copy a whole pair of tiles.
static __device__ __forceinline__ void copy_tiles(TileA as, TileB bs, Share *my)
{
#pragma unroll
    for (int i = 0; i < A_EACH; i++)
#pragma unroll
        for (int j = 0; j < TILE_K; j += A_COLS)
            __pipeline_memcpy_async(&as[my->a_col + j][my->a_row + i * A_ROWS], my->a[i] + j,
                                    sizeof(float));
#pragma unroll
    for (int i = 0; i < TILE_K; i += my->b_down)
        __pipeline_memcpy_async(&bs[my->b_row + i][my->b_col], my->b + (size_t) i * my->n,
                                my->width * sizeof(float));
#pragma unroll
    for (int i = 0; i < A_EACH; i++)
        my->a[i] += TILE_K;
    my->b += (size_t) TILE_K * my->n;
    __pipeline_commit();
}

static __device__ __forceinline__ void load_quad(float *to, const float *from)
{
    float4 quad = *(const float4 *) from;

    to[0] = quad.x;
    to[1] = quad.y;
    to[2] = quad.z;
    to[3] = quad.w;
}

// Adds a pair of tiles to a thread's results: TILE_K times 64 FMAs for 16 floats.
static __device__ __forceinline__ void multiply(float sum[SIDE][SIDE], const TileA as,
                                                const TileB bs, int row, int col)
{
#pragma unroll
    for (int k = 0; k < TILE_K; k++) {
        float left[SIDE], right[SIDE];
        load_quad(&left[0], &as[k][row]);
        load_quad(&left[QUAD], &as[k][row + WARP_M / 2]);
        load_quad(&right[0], &bs[k][col]);
        load_quad(&right[QUAD], &bs[k][col + WARP_N / 2]);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int step = 0; step < SIDE; step++) {
                int j = i % 2 ? SIDE - 1 - step : step;
                sum[i][j] += left[i] * right[j];
            }
    }
}

static __device__ __forceinline__ void product(float *d, const float *a, const float *b,
                                               const float *c, int m, int n, int k, float alpha,
                                               float beta, int width)
{
    __shared__ __align__(16) Tiles tiles;

    int tiles_across = ceil_div(n, TILE_N), steps = ceil_div(k, TILE_K);
    int first_row = blockIdx.x / tiles_across * TILE_M;
    int first_col = blockIdx.x % tiles_across * TILE_N;

    // A warp has 4 x 8 lanes: lanes 1 apart share columns, lanes 2 apart share rows. So a load of
    // 16 bytes per lane takes 2 wavefronts, for A as well as for B.
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int row = warp / WARPS_ACROSS * WARP_M + (lane / 16 * 2 + lane % 2) * QUAD;
    int col = warp % WARPS_ACROSS * WARP_N + lane / 2 % 8 * QUAD;

    float sum[SIDE][SIDE] = {};
    Share my;

    // The first pair of tiles takes the remainder of k, so that all others are whole.
    my.n = n;
    my.width = width;
    open_share(&my, a, b, first_row, first_col, m, k);
    copy_rest(tiles.as[0], tiles.bs[0], &my, k - (steps - 1) * TILE_K);

#pragma unroll 1
    for (int step = 0; step + 1 < steps; step++) {
        // Separates all threads' copies of a pair from its use, and the use of the previous pair
        // from the copies that overwrite it.
        __pipeline_wait_prior(0);
        __syncthreads();

        copy_tiles(tiles.as[(step + 1) % 2], tiles.bs[(step + 1) % 2], &my);
        multiply(sum, tiles.as[step % 2], tiles.bs[step % 2], row, col);
    }

    // Separates the copies of the last pair from its use.
    __pipeline_wait_prior(0);
    __syncthreads();
    multiply(sum, tiles.as[(steps - 1) % 2], tiles.bs[(steps - 1) % 2], row, col);

#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            int to_row = first_row + row + i / QUAD * (WARP_M / 2) + i % QUAD;
            int to_col = first_col + col + j / QUAD * (WARP_N / 2) + j % QUAD;
            size_t at = (size_t) to_row * n + to_col;
            if (to_row < m && to_col < n)
                d[at] = beta == 0 ? alpha * sum[i][j] : alpha * sum[i][j] + beta * c[at];
        }
}

// For n that is a multiple of 4: every row of B is aligned to 16 bytes.
__global__ void __launch_bounds__(THREADS, BLOCKS_A_SM)
    sgemm_fours(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                float alpha, float beta)
{
    product(d, a, b, c, m, n, k, alpha, beta, QUAD);
}

__global__ void __launch_bounds__(THREADS, BLOCKS_A_SM)
    sgemm_any(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
              float alpha, float beta)
{
    product(d, a, b, c, m, n, k, alpha, beta, 1);
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    int blocks = ceil_div(m, TILE_M) * ceil_div(n, TILE_N);

    if (n >= QUAD)
        sgemm_fours<<<blocks, THREADS>>>(d, a, b, c, m, n, k, alpha, beta);
    else
        sgemm_any<<<blocks, THREADS>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
