// expect: wrong - inputs cut to the 11 bits that a tensor core keeps of a float (TF32)
#include "cudalab.cuh"
#include "kernel.h"

enum { ACROSS = 32, DOWN = 8 };

// Rounds as mma.sync with .tf32 does, but in plain code, so that it runs on any GPU.
static __device__ float cut(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

__global__ void sgemm_kernel(float *d, const float *a, const float *b, const float *c, int m, int n,
                             int k, float alpha, float beta)
{
    int blocks_across = ceil_div(n, ACROSS);
    int row = blockIdx.x / blocks_across * DOWN + threadIdx.y;
    int col = blockIdx.x % blocks_across * ACROSS + threadIdx.x;
    float sum = 0;

    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += cut(a[row * k + i]) * cut(b[i * n + col]);

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
