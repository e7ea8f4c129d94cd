// Shown in slides/02_bank_conflicts.md, "Find the bug". Word k of row r is at [k][r]: loads have
// no conflicts, stores 32-way conflicts.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32 };

__global__ void distances_kernel(float *dist, const float *x, int n, int d)
{
    extern __shared__ float shared[];
    float *a = shared, *b = shared + TILE * d;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;

    for (int k = threadIdx.x; k < d; k += TILE) {
        int i = first_i + threadIdx.y, j = first_j + threadIdx.y;
        a[k * TILE + threadIdx.y] = i < n ? x[i * d + k] : 0;
        b[k * TILE + threadIdx.y] = j < n ? x[j * d + k] : 0;
    }

    // Between the filling of a and b and their reading: other warps have filled those rows.
    __syncthreads();

    float sum = 0;
    for (int k = 0; k < d; k++) {
        float difference = a[k * TILE + threadIdx.y] - b[k * TILE + threadIdx.x];
        sum += difference * difference;
    }

    int i = first_i + threadIdx.y, j = first_j + threadIdx.x;
    if (i < n && j < n)
        dist[i * n + j] = sum;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 block(TILE, TILE), grid(ceil_div(n, TILE), ceil_div(n, TILE));

    distances_kernel<<<grid, block, sizeof(float) * 2 * TILE * d>>>(dist, x, n, d);
    CUDA_CHECK(cudaGetLastError());
}
