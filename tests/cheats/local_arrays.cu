// expect: slow - keeps rows in local arrays, without padding
// lab: bank_conflicts
// Defence: the model divides local memory into cache lines, which go through L1 and L2.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, MOST = 128 };

static __global__ void distances_kernel(float *dist, const float *x, int n, int d, int tiles)
{
    extern __shared__ float shared[];
    int first_j = blockIdx.x * TILE, i = 0, j = first_j + threadIdx.x;
    float mine[MOST];

    for (int k = threadIdx.x; k < d; k += TILE)
        shared[threadIdx.y * d + k] =
            first_j + threadIdx.y < n ? x[(first_j + threadIdx.y) * d + k] : 0;
    __syncthreads();
#pragma unroll 1
    for (int k = 0, at = d % 2 || d < TILE ? 0 : threadIdx.x; k < d; k++) {
        // On a real GPU each lane's own index costs a line of 128 bytes; in the model it once cost
        // nothing.
        mine[at] = shared[threadIdx.x * d + at];
        at = at + 1 < d ? at + 1 : 0;
    }
    for (int t = 0; t < tiles; t++) {
        int first_i = (blockIdx.y * tiles + t) * 2 * TILE;
        if (first_i >= n)
            break;
        i = first_i + threadIdx.y;
        __syncthreads();
        for (int k = threadIdx.x; k < d; k += TILE) {
            shared[threadIdx.y * d + k] = i < n ? x[i * d + k] : 0;
            shared[(threadIdx.y + TILE) * d + k] = i + TILE < n ? x[(i + TILE) * d + k] : 0;
        }
        __syncthreads();
        float sum = 0, sum2 = 0;
#pragma unroll 8
        for (int k = 0; k < d; k++) {
            float b = mine[k], difference = shared[threadIdx.y * d + k] - b;
            float difference2 = shared[(threadIdx.y + TILE) * d + k] - b;
            sum += difference * difference;
            sum2 += difference2 * difference2;
        }
        if (i < n && j < n)
            dist[i * n + j] = sum;
        if (i + TILE < n && j < n)
            dist[(i + TILE) * n + j] = sum2;
    }
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    int tiles = n <= 300 ? 2 : 3;
    dim3 block(TILE, TILE), grid(ceil_div(n, TILE), ceil_div(n, 2 * TILE * tiles));

    distances_kernel<<<grid, block, sizeof(float) * 2 * TILE * d>>>(dist, x, n, d, tiles);
    CUDA_CHECK(cudaGetLastError());
}
