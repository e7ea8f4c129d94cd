// Each thread computes one element of d; the 32 of a warp are neighbours in a row.
#include "cudalab.cuh"
#include "kernel.h"

enum { ACROSS = 32, DOWN = 8 };

// A block computes DOWN x ACROSS results, a warp 32 neighbours in one row.
__global__ void sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n,
                             int k, float alpha, float beta)
{
    int blocks_across = ceil_div(n, ACROSS);
    int row = blockIdx.x / blocks_across * DOWN + threadIdx.y;
    int col = blockIdx.x % blocks_across * ACROSS + threadIdx.x;
    float sum = 0;

    if (row >= m || col >= n)
        return;

    // TODO: count the loads for one FMA in this loop, and how many an SM can do per clock. Let the
    // TODO: threads of a block share what they load. Then let each thread compute several results,
    // TODO: so that it uses each value in registers more than once.
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

    sgemm_kernel<<<ceil_div(m, DOWN) * ceil_div(n, ACROSS), block>>>(d, a, b, c, m, n, k, alpha,
                                                                     beta);
    CUDA_CHECK(cudaGetLastError());
}
