// expect: pass - no padding: element (r, c) of the tile is in column c ^ r
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

#define N 32

__global__ void turn(float *__restrict__ out, const float *__restrict__ in, unsigned rows,
                     unsigned cols, unsigned across)
{
    __shared__ float s[N * N];
    const unsigned r0 = blockIdx.x / across * N, c0 = blockIdx.x % across * N;
    const unsigned lane = threadIdx.x & (N - 1), warp = threadIdx.x / N;

#pragma unroll
    for (unsigned k = 0; k < N; k += 8) {
        const unsigned r = k + warp;
        if (r0 + r < rows && c0 + lane < cols)
            s[r * N + (lane ^ r)] = in[(r0 + r) * cols + c0 + lane];
    }

    // Separates writing rows from reading columns: both involve all eight warps.
    __syncthreads();

#pragma unroll
    for (unsigned k = 0; k < N; k += 8) {
        const unsigned c = k + warp;
        if (r0 + lane < rows && c0 + c < cols)
            out[(c0 + c) * rows + r0 + lane] = s[lane * N + (c ^ lane)];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    const int across = ceil_div(cols, N);

    turn<<<ceil_div(rows, N) * across, 256>>>(out, in, rows, cols, across);
    CUDA_CHECK(cudaGetLastError());
}
