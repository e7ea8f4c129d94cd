// expect: pass - blocks of 16 x 16 threads, four tiles of 16 x 16 each, loaded all at once
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

#define B     16
#define TILES 4

__global__ void trans(float *o, const float *a, int m, int n)
{
    __shared__ float s[TILES][B][B + 1];
    int nb = (n + B * TILES - 1) / (B * TILES);
    int i0 = blockIdx.x / nb * B;
    int j0 = blockIdx.x % nb * (B * TILES);
    int x = threadIdx.x, y = threadIdx.y;

#pragma unroll
    for (int t = 0; t < TILES; t++)
        if (i0 + y < m && j0 + t * B + x < n)
            s[t][y][x] = a[(i0 + y) * n + j0 + t * B + x];

    __syncthreads(); // separates storing by [y][x] from reading by [x][y]

#pragma unroll
    for (int t = 0; t < TILES; t++)
        if (i0 + x < m && j0 + t * B + y < n)
            o[(j0 + t * B + y) * m + i0 + x] = s[t][x][y];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    dim3 threads(B, B);
    unsigned blocks = (unsigned) ceil_div(rows, B) * ceil_div(cols, B * TILES);

    trans<<<blocks, threads>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
