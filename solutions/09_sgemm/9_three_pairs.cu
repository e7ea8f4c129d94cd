// rung: 9, expect: pass - three pairs of tiles, and copies that do not delay the loads
// In rung 8, ten copies start right after each barrier, and the loads that the FMAs wait for queue
// behind them. Also, a pair of tiles has only the time of one pair to arrive. This rung changes the
// copies in four ways:
// 1. There are three pairs of tiles: one is multiplied while two are in flight, so each has twice
// as long to arrive.
// 2. Copies begin at the 4th k, when many FMAs can already run. No thread waits for a copy before
// the barrier after next, so a later start costs nothing.
// 3. 16 lanes x 2 rows copy A, not 8 x 4: a copy touches two cache lines instead of four. (Two
// words then share each bank. Removing that gained nothing.)
// 4. A warp copies whole rows of B: a thread's floats are at fixed distances from one address,
// which needs no additions.
// Three pairs are 50 KB. An array declared in a kernel may have 48, so the launch requests dynamic
// shared memory.
#include "cudalab.cuh"
#include "kernel.h"

#include <cuda_pipeline.h>

// A block computes TILE_M x TILE_N results, a warp WARP_M x WARP_N of them, a thread SIDE x SIDE.
enum { TILE_M = 128, TILE_N = 128, TILE_K = 16, THREADS = 256, BLOCKS_A_SM = 2 };
enum { WARP = 32, WARP_M = 32, WARP_N = 64, WARPS_ACROSS = TILE_N / WARP_N, SIDE = 8, QUAD = 4 };
enum { PAIRS = 3, COPY_AT = 3 };

// How the threads copy A: 16 of them copy a row, and all of them together 16 rows.
enum { A_COLS = TILE_K, A_ROWS = THREADS / A_COLS, A_EACH = TILE_M / A_ROWS };

// How the threads copy B: each warp copies one row.
enum { B_ROWS = THREADS / WARP, B_EACH = TILE_K / B_ROWS };

// One pair of tiles. A is transposed, so that a thread's rows are neighbours.
typedef struct Tiles {
    float a[TILE_K][TILE_M + QUAD], b[TILE_K][TILE_N];
} Tiles;

// The next copies of a thread: one address per row of A and of B. `width` is the number of floats
// of B per copy, 4 or 1. A row can end before the tile does only in a tile at the right `edge`;
// `room` is the largest `j` at which a copy still fits into the row.
typedef struct Share {
    const float *a[A_EACH], *b[B_EACH];
    int a_row, a_col, b_row, b_col, room, n, width;
    bool edge;
} Share;

// Results past the edge are never written, so any rows and columns will do there. But the lanes
// must not all copy the same column: a block that did so took 901 us instead of 671 (H200).
static __device__ __forceinline__ void open_share(Share *my, const float *a, const float *b,
                                                  int first_row, int first_col, int m, int k)
{
    my->a_row = threadIdx.x / A_COLS;
    my->a_col = threadIdx.x % A_COLS;
    for (int i = 0; i < A_EACH; i++) {
        int row = min(first_row + my->a_row + i * A_ROWS, m - 1);
        my->a[i] = a + (size_t) row * k + my->a_col;
    }
    my->b_row = threadIdx.x / WARP;
    my->b_col = threadIdx.x % WARP * my->width;
    int from_col = first_col + my->b_col;
    if (from_col >= my->n)
        from_col = min(my->b_col, my->n - my->width);
    my->room = my->n - my->width - from_col;
    for (int i = 0; i < B_EACH; i++)
        my->b[i] = b + (size_t) (my->b_row + i * B_ROWS) * my->n + from_col;
}

// Starts to copy `width` floats of B, `j` floats after the thread's address in its row `i`.
static __device__ __forceinline__ void copy_b(Tiles *to, const Share *my, int i, int j)
{
    __pipeline_memcpy_async(&to->b[my->b_row + i * B_ROWS][my->b_col + j],
                            my->b[i] + (my->edge && j > my->room ? 0 : j),
                            my->width * sizeof(float));
}

// Starts to copy the part of k that does not fill a tile, and fills the rest with zeros.
static __device__ __forceinline__ void copy_rest(Tiles *to, Share *my, int rest)
{
    for (int i = 0; i < A_EACH; i++) {
        float *place = &to->a[my->a_col][my->a_row + i * A_ROWS];
        if (my->a_col < rest)
            __pipeline_memcpy_async(place, my->a[i], sizeof(float));
        else
            *place = 0;
        my->a[i] += rest;
    }
    for (int i = 0; i < B_EACH; i++) {
        for (int j = 0; j < TILE_N; j += WARP * my->width)
            if (my->b_row + i * B_ROWS < rest)
                copy_b(to, my, i, j);
            else
                for (int l = 0; l < my->width; l++)
                    to->b[my->b_row + i * B_ROWS][my->b_col + j + l] = 0;
        my->b[i] += (size_t) rest * my->n;
    }
    __pipeline_commit();
}

// Starts to copy a whole pair of tiles.
static __device__ __forceinline__ void copy_tiles(Tiles *to, Share *my)
{
#pragma unroll
    for (int i = 0; i < A_EACH; i++) {
        __pipeline_memcpy_async(&to->a[my->a_col][my->a_row + i * A_ROWS], my->a[i], sizeof(float));
        my->a[i] += TILE_K;
    }
#pragma unroll
    for (int i = 0; i < B_EACH; i++) {
#pragma unroll
        for (int j = 0; j < TILE_N; j += WARP * my->width)
            copy_b(to, my, i, j);
        my->b[i] += (size_t) TILE_K * my->n;
    }
    __pipeline_commit();
}

// Starts to copy a pair of tiles if there are `more`. The wait counts groups of copies, so each
// step has one group, even if it is empty.
static __device__ __forceinline__ void copy_if(bool more, Tiles *to, Share *my)
{
    if (more)
        copy_tiles(to, my);
    else
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

// A thread's operands for one k.
typedef struct Operands {
    float left[SIDE], right[SIDE];
} Operands;

static __device__ __forceinline__ void load(Operands *to, const Tiles *from, int k, int row,
                                            int col)
{
    load_quad(&to->left[0], &from->a[k][row]);
    load_quad(&to->left[QUAD], &from->a[k][row + WARP_M / 2]);
    load_quad(&to->right[0], &from->b[k][col]);
    load_quad(&to->right[QUAD], &from->b[k][col + WARP_N / 2]);
}

// 64 FMAs for 16 floats, back and forth.
static __device__ __forceinline__ void multiply(float sum[SIDE][SIDE], const Operands *by)
{
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int step = 0; step < SIDE; step++) {
            int j = i % 2 ? SIDE - 1 - step : step;
            sum[i][j] += by->left[i] * by->right[j];
        }
}

static __device__ __forceinline__ void product(float *d, const float *a, const float *b,
                                               const float *c, int m, int n, int k, float alpha,
                                               float beta, int width, bool edge)
{
    extern __shared__ __align__(16) float shared[];
    Tiles *tiles = (Tiles *) shared;

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
    my.edge = edge;
    open_share(&my, a, b, first_row, first_col, m, k);
    copy_rest(&tiles[0], &my, k - (steps - 1) * TILE_K);
    for (int ahead = 1; ahead < PAIRS - 1; ahead++)
        copy_if(ahead < steps, &tiles[ahead], &my);

    Tiles *now = &tiles[0], *free = &tiles[PAIRS - 1];
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        // Separates all threads' copies of a pair from its use, and the use of the previous pair
        // from the copies that overwrite it.
        __pipeline_wait_prior(PAIRS - 2);
        __syncthreads();

#pragma unroll
        for (int l = 0; l < TILE_K; l++) {
            Operands by;
            load(&by, now, l, row, col);
            if (l == COPY_AT)
                copy_if(step + PAIRS - 1 < steps, free, &my);
            multiply(sum, &by);
        }
        free = now;
        now = now + 1 < tiles + PAIRS ? now + 1 : tiles;
    }

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

// For n that is a multiple of 4: every row of B is aligned to 16 bytes, and its last 16 bytes do
// not cross its end.
__global__ void __launch_bounds__(THREADS, BLOCKS_A_SM)
    sgemm_fours(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                float alpha, float beta)
{
    product(d, a, b, c, m, n, k, alpha, beta, QUAD, false);
}

// Two loops, since a tile inside the matrix has no columns to check.
__global__ void __launch_bounds__(THREADS, BLOCKS_A_SM)
    sgemm_any(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
              float alpha, float beta)
{
    int tiles_across = ceil_div(n, TILE_N);

    if ((blockIdx.x % tiles_across + 1) * TILE_N <= n)
        product(d, a, b, c, m, n, k, alpha, beta, 1, false);
    else
        product(d, a, b, c, m, n, k, alpha, beta, 1, true);
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    int blocks = ceil_div(m, TILE_M) * ceil_div(n, TILE_N);
    int shared_bytes = PAIRS * sizeof(Tiles);
    void (*kernel)(float *, const float *, const float *, const float *, int, int, int, float,
                   float) = n % QUAD == 0 ? sgemm_fours : sgemm_any;

    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    kernel<<<blocks, THREADS, shared_bytes>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
