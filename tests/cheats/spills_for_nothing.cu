// expect: slow - launch bounds that force 1.5 KB of spills, for more blocks per SM
// lab: sgemm
// Defence: time is modelled with the occupancy of the registers that are spilled.
#include "cudalab.cuh"
#include "kernel.h"

#ifndef LEAST
#define LEAST 8
#endif
enum { R = 8, C = 8, AX = 16, AY = 16 };

static __global__ void __launch_bounds__(AX *AY, LEAST)
    sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                 float alpha, float beta)
{
    int across = ceil_div(n, AX * C), first_row = blockIdx.x / across * AY * R + threadIdx.y;
    int first_col = blockIdx.x % across * AX * C + threadIdx.x;
    float sum[R][C] = { { 0 } };
    int rows[R], cols[C];

#pragma unroll
    for (int i = 0; i < R; i++)
        rows[i] = min(first_row + i * AY, m - 1) * k;
#pragma unroll
    for (int j = 0; j < C; j++)
        cols[j] = min(first_col + j * AX, n - 1);
#pragma unroll 2
    for (int s = 0; s < k; s++) {
        float left[R], right[C];
#pragma unroll
        for (int i = 0; i < R; i++)
            left[i] = a[rows[i] + s];
#pragma unroll
        for (int j = 0; j < C; j++)
            right[j] = b[s * n + cols[j]];
#pragma unroll
        for (int i = 0; i < R; i++)
#pragma unroll
            for (int j = 0; j < C; j++)
                sum[i][j] += left[i] * right[j];
    }
#pragma unroll
    for (int i = 0; i < R; i++)
#pragma unroll
        for (int j = 0; j < C; j++) {
            int row = first_row + i * AY, col = first_col + j * AX;
            if (row < m && col < n)
                d[row * n + col] =
                    beta == 0 ? alpha * sum[i][j] : alpha * sum[i][j] + beta * c[row * n + col];
        }
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    sgemm_kernel<<<ceil_div(m, AY * R) * ceil_div(n, AX * C), dim3(AX, AY)>>>(d, a, b, c, m, n, k,
                                                                              alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
