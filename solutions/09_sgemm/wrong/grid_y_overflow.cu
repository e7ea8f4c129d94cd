// expect: crash - tiles of rows in gridDim.y, whose limit is 65,535: tall products do not launch
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32 };

// A block computes TILE x TILE results, one per thread.
__global__ void sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n,
                             int k, float alpha, float beta)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0;

    for (int first = 0; first < k; first += TILE) {
        as[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0;
        bs[ty][tx] = first + ty < k && col < n ? b[(first + ty) * n + col] : 0;

        // Separates filling the tiles from using them: a thread uses values that others have
        // loaded.
        __syncthreads();

        for (int i = 0; i < TILE; i++)
            sum += as[ty][i] * bs[i][tx];

        // Separates using the tiles from filling them again.
        __syncthreads();
    }

    int at = row * n + col;
    if (row < m && col < n)
        d[at] = beta == 0 ? alpha * sum : alpha * sum + beta * c[at];
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    dim3 block(TILE, TILE);

    dim3 grid(ceil_div(n, TILE), ceil_div(m, TILE));

    sgemm_kernel<<<grid, block>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
