// expect: pass - the rows of b are stored transposed, in steps of 33
// lab: bank_conflicts
#include "cudalab.cuh"
#include "kernel.h"

enum { SIDE = 32, STEP = SIDE + 1 };

__global__ void pairs(float *dist, const float *x, int n, int d)
{
    extern __shared__ float memory[];
    float *left = memory;           // SIDE rows of d
    float *right = left + SIDE * d; // d columns of SIDE, STEP apart
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + ty;
    float total = 0.f;

    for (int k = tx; k < d; k += SIDE) {
        left[ty * d + k] = row < n ? x[row * d + k] : 0.f;
        right[k * STEP + ty] = col < n ? x[col * d + k] : 0.f;
    }
    // Separates writing both sides from reading what other warps have written.
    __syncthreads();
    for (int k = 0; k < d; k++) {
        float delta = left[ty * d + k] - right[k * STEP + tx];
        total = fmaf(delta, delta, total);
    }
    col = blockIdx.x * SIDE + tx;
    if (row < n && col < n)
        dist[row * n + col] = total;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    int blocks = ceil_div(n, SIDE);

    pairs<<<dim3(blocks, blocks), dim3(SIDE, SIDE), (SIDE + STEP) * d * sizeof(float)>>>(dist, x, n,
                                                                                         d);
    CUDA_CHECK(cudaGetLastError());
}
