// expect: slow - correct, but each lane takes another row: 32 sectors per load instead of 4
#include "cudalab.cuh"
#include "kernel.h"

enum { ACROSS = 32, DOWN = 8 };

// A block computes ACROSS x DOWN results, a warp 32 neighbours in one column.
__global__ void sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n,
                             int k, float alpha, float beta)
{
    int blocks_across = ceil_div(n, DOWN);
    int row = blockIdx.x / blocks_across * ACROSS + threadIdx.x;
    int col = blockIdx.x % blocks_across * DOWN + threadIdx.y;
    float sum = 0;

    if (row >= m || col >= n)
        return;
    // All indices are below 2^31.
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];

    int at = row * n + col;
    d[at] = beta == 0 ? alpha * sum : alpha * sum + beta * c[at];
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    dim3 block(ACROSS, DOWN);

    sgemm_kernel<<<ceil_div(m, ACROSS) * ceil_div(n, DOWN), block>>>(d, a, b, c, m, n, k, alpha,
                                                                     beta);
    CUDA_CHECK(cudaGetLastError());
}
