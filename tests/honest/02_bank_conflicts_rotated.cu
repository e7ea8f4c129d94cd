// expect: device - rows of 32 words, rotated by their number: word k of row r at (k + r) % 32
// lab: bank_conflicts
#include "cudalab.cuh"
#include "kernel.h"

static __device__ int place(int row, int k, int words)
{
    return row * words + (k & ~31) + ((k + row) & 31);
}

__global__ void distances_kernel(float *dist, const float *x, int n, int d, int words)
{
    extern __shared__ float a[];
    float *b = a + 32 * words;
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.y * 32 + ty, j = blockIdx.x * 32 + tx, jy = blockIdx.x * 32 + ty;
    float sum = 0;

    for (int k = tx; k < d; k += 32) {
        a[place(ty, k, words)] = i < n ? x[i * d + k] : 0;
        b[place(ty, k, words)] = jy < n ? x[jy * d + k] : 0;
    }
    __syncthreads(); // each row is filled by one warp and read by all
    for (int k = 0; k < d; k++) {
        float t = a[place(ty, k, words)] - b[place(tx, k, words)];
        sum += t * t;
    }
    if (i < n && j < n)
        dist[i * n + j] = sum;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    int words = (d + 31) / 32 * 32, tiles = ceil_div(n, 32);

    distances_kernel<<<dim3(tiles, tiles), dim3(32, 32), 64 * words * sizeof(float)>>>(dist, x, n,
                                                                                       d, words);
    CUDA_CHECK(cudaGetLastError());
}
