// rung: 3, expect: device - 8 results per thread, in a column: each float of B serves 8 FMAs
#include "cudalab.cuh"
#include "kernel.h"

// A block computes TILE_M x TILE_N results, a warp SIDE rows of them, a thread one column of these
// rows.
enum { SIDE = 8, WARPS = 8, TILE_M = WARPS * SIDE, TILE_N = 32, TILE_K = 32 };

__global__ void sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n,
                             int k, float alpha, float beta)
{
    __shared__ float as[TILE_M][TILE_K], bs[TILE_K][TILE_N];

    int tiles_across = ceil_div(n, TILE_N);
    int first_row = blockIdx.x / tiles_across * TILE_M;
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x % tiles_across * TILE_N + tx;
    float sum[SIDE] = {};

    for (int first = 0; first < k; first += TILE_K) {
        for (int i = ty; i < TILE_M; i += WARPS) {
            int row = first_row + i;
            as[i][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0;
        }
        for (int i = ty; i < TILE_K; i += WARPS)
            bs[i][tx] = first + i < k && col < n ? b[(first + i) * n + col] : 0;

        // Separates filling the tiles from using them: a thread uses values that others have
        // loaded.
        __syncthreads();

#pragma unroll
        for (int i = 0; i < TILE_K; i++) {
            float right = bs[i][tx];
#pragma unroll
            for (int j = 0; j < SIDE; j++)
                sum[j] += as[ty * SIDE + j][i] * right;
        }

        // Separates using the tiles from filling them again.
        __syncthreads();
    }

#pragma unroll
    for (int j = 0; j < SIDE; j++) {
        int row = first_row + ty * SIDE + j, at = row * n + col;
        if (row < m && col < n)
            d[at] = beta == 0 ? alpha * sum[j] : alpha * sum[j] + beta * c[at];
    }
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    dim3 block(TILE_N, WARPS);

    sgemm_kernel<<<ceil_div(m, TILE_M) * ceil_div(n, TILE_N), block>>>(d, a, b, c, m, n, k, alpha,
                                                                       beta);
    CUDA_CHECK(cudaGetLastError());
}
