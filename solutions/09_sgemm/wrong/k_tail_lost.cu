// expect: wrong - whole tiles of k only: the remainder of k is left out
#include "cudalab.cuh"
#include "kernel.h"

// A block computes TILE x TILE results, a thread SIDE x SIDE of them. They are ACROSS apart, so
// that neighbouring threads always have neighbouring columns.
enum { SIDE = 4, ACROSS = 16, TILE = SIDE * ACROSS, TILE_K = 16, THREADS = ACROSS * ACROSS };

__global__ void sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n,
                             int k, float alpha, float beta)
{
    __shared__ float as[TILE][TILE_K], bs[TILE_K][TILE];

    int tiles_across = ceil_div(n, TILE);
    int first_row = blockIdx.x / tiles_across * TILE;
    int first_col = blockIdx.x % tiles_across * TILE;
    int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    float sum[SIDE][SIDE] = {};

    for (int first = 0; first + TILE_K <= k; first += TILE_K) {
        for (int i = threadIdx.x; i < TILE * TILE_K; i += THREADS) {
            int row = first_row + i / TILE_K, col = first + i % TILE_K;
            as[i / TILE_K][i % TILE_K] = row < m && col < k ? a[row * k + col] : 0;
        }
        for (int i = threadIdx.x; i < TILE * TILE_K; i += THREADS) {
            int row = first + i / TILE, col = first_col + i % TILE;
            bs[i / TILE][i % TILE] = row < k && col < n ? b[row * n + col] : 0;
        }

        // Separates filling the tiles from using them: a thread uses values that others have
        // loaded.
        __syncthreads();

#pragma unroll
        for (int l = 0; l < TILE_K; l++) {
            float left[SIDE], right[SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; i++) {
                left[i] = as[ty + i * ACROSS][l];
                right[i] = bs[l][tx + i * ACROSS];
            }
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
            int row = first_row + ty + i * ACROSS, col = first_col + tx + j * ACROSS;
            int at = row * n + col;
            if (row < m && col < n)
                d[at] = beta == 0 ? alpha * sum[i][j] : alpha * sum[i][j] + beta * c[at];
        }
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    int blocks = ceil_div(m, TILE) * ceil_div(n, TILE);

    sgemm_kernel<<<blocks, THREADS>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
