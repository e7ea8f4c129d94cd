// expect: device - static tiles of 32 columns at a time, 33 words per row: two barriers per chunk
// lab: bank_conflicts
#include "cudalab.cuh"
#include "kernel.h"

#define TILE 32

__global__ void distances_kernel(float *dist, const float *x, int n, int d)
{
    __shared__ float a[TILE][TILE + 1];
    __shared__ float b[TILE][TILE + 1];
    int i = blockIdx.y * TILE + threadIdx.y;
    int j = blockIdx.x * TILE + threadIdx.x;
    int j_load = blockIdx.x * TILE + threadIdx.y;
    float acc = 0.0f;

    for (int chunk = 0; chunk < d; chunk += TILE) {
        int k = chunk + threadIdx.x;
        a[threadIdx.y][threadIdx.x] = (i < n && k < d) ? x[i * d + k] : 0.0f;
        b[threadIdx.y][threadIdx.x] = (j_load < n && k < d) ? x[j_load * d + k] : 0.0f;
        __syncthreads(); // both tiles are full before any thread reads them
        for (int s = 0; s < TILE; s++) {
            float diff = a[threadIdx.y][s] - b[threadIdx.x][s];
            acc += diff * diff;
        }
        __syncthreads(); // all threads have read before the next chunk overwrites
    }
    if (i < n && j < n)
        dist[i * n + j] = acc;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 threads(TILE, TILE);
    dim3 blocks(ceil_div(n, TILE), ceil_div(n, TILE));

    distances_kernel<<<blocks, threads>>>(dist, x, n, d);
    CUDA_CHECK(cudaGetLastError());
}
