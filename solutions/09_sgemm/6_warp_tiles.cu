// rung: 6, expect: pass - warp tiles of 32 x 64, lanes placed so that a load takes 2 wavefronts
#include "cudalab.cuh"
#include "kernel.h"

// A block computes TILE_M x TILE_N results, a warp WARP_M x WARP_N of them, a thread SIDE x SIDE.
enum { TILE_M = 128, TILE_N = 128, TILE_K = 16, THREADS = 256, BLOCKS_A_SM = 2 };
enum { WARP = 32, WARP_M = 32, WARP_N = 64, WARPS_ACROSS = TILE_N / WARP_N, SIDE = 8, QUAD = 4 };

// How the threads fill A's tile: 8 of them copy a sector of a row, and all of them together 32
// rows.
enum { A_COLS = 8, A_ROWS = THREADS / A_COLS, B_ROWS = THREADS / TILE_N };

// A is transposed, so that a thread's rows are neighbours. With 132 floats per row, the 8 x 4
// floats that a warp writes at once go to 32 different banks: 4 k + row.
typedef float TileA[TILE_K][TILE_M + QUAD];
typedef float TileB[TILE_K][TILE_N];

static __device__ void load_quad(float *to, const float *from)
{
    float4 quad = *(const float4 *) from;

    to[0] = quad.x;
    to[1] = quad.y;
    to[2] = quad.z;
    to[3] = quad.w;
}

__global__ void __launch_bounds__(THREADS, BLOCKS_A_SM)
    sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                 float alpha, float beta)
{
    __shared__ __align__(16) TileA as;
    __shared__ __align__(16) TileB bs;

    int tiles_across = ceil_div(n, TILE_N);
    int first_row = blockIdx.x / tiles_across * TILE_M;
    int first_col = blockIdx.x % tiles_across * TILE_N;

    // A warp has 4 x 8 lanes: lanes 1 apart share columns, lanes 2 apart share rows. So a load of
    // 16 bytes per lane takes 2 wavefronts, for A as well as for B.
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int row = warp / WARPS_ACROSS * WARP_M + (lane / 16 * 2 + lane % 2) * QUAD;
    int col = warp % WARPS_ACROSS * WARP_N + lane / 2 % 8 * QUAD;
    int a_row = threadIdx.x / A_COLS, a_col = threadIdx.x % A_COLS;
    int b_row = threadIdx.x / TILE_N, b_col = threadIdx.x % TILE_N;
    float sum[SIDE][SIDE] = {};

#pragma unroll 1
    for (int first = 0; first < k; first += TILE_K) {
#pragma unroll
        for (int j = 0; j < TILE_K; j += A_COLS)
#pragma unroll
            for (int i = 0; i < TILE_M; i += A_ROWS) {
                int from_row = first_row + a_row + i, from_col = first + a_col + j;
                as[a_col + j][a_row + i] =
                    from_row < m && from_col < k ? a[from_row * k + from_col] : 0;
            }
#pragma unroll
        for (int i = 0; i < TILE_K; i += B_ROWS) {
            int from_row = first + b_row + i, from_col = first_col + b_col;
            bs[b_row + i][b_col] = from_row < k && from_col < n ? b[from_row * n + from_col] : 0;
        }

        // Separates filling the tiles from using them: a thread uses values that others have
        // loaded.
        __syncthreads();

#pragma unroll
        for (int l = 0; l < TILE_K; l++) {
            float left[SIDE], right[SIDE];
            load_quad(&left[0], &as[l][row]);
            load_quad(&left[QUAD], &as[l][row + WARP_M / 2]);
            load_quad(&right[0], &bs[l][col]);
            load_quad(&right[QUAD], &bs[l][col + WARP_N / 2]);
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
            int to_row = first_row + row + i / QUAD * (WARP_M / 2) + i % QUAD;
            int to_col = first_col + col + j / QUAD * (WARP_N / 2) + j % QUAD;
            int at = to_row * n + to_col;
            if (to_row < m && to_col < n)
                d[at] = beta == 0 ? alpha * sum[i][j] : alpha * sum[i][j] + beta * c[at];
        }
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    int blocks = ceil_div(m, TILE_M) * ceil_div(n, TILE_N);

    sgemm_kernel<<<blocks, THREADS>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
