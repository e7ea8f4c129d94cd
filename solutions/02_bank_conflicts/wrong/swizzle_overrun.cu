// expect: unsafe_or_stray - word k at k ^ r, but rows not rounded up: words land in other rows
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32 };

// x is n x d, dist is n x n. A block of TILE x TILE threads computes a tile of dist. It needs TILE
// rows of x twice: a for the tile's rows, b for its columns. In shared memory a row begins `pitch`
// floats after the previous one.
__global__ void distances_kernel(float *dist, const float *x, int n, int d, int pitch)
{
    extern __shared__ float shared[];
    float *a = shared, *b = shared + TILE * pitch;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;

    // A warp fetches one row of each, coalesced. Rows past the last one are filled with zeros.
    for (int k = threadIdx.x; k < d; k += TILE) {
        int i = first_i + threadIdx.y, j = first_j + threadIdx.y;
        a[threadIdx.y * pitch + (k ^ threadIdx.y)] = i < n ? x[i * d + k] : 0;
        b[threadIdx.y * pitch + (k ^ threadIdx.y)] = j < n ? x[j * d + k] : 0;
    }

    // Separates the stores to a and b from the loads: other warps have filled those rows.
    __syncthreads();

    // A warp uses one row of a and 32 rows of b.
    float sum = 0;
    for (int k = 0; k < d; k++) {
        float difference =
            a[threadIdx.y * pitch + (k ^ threadIdx.y)] - b[threadIdx.x * pitch + (k ^ threadIdx.x)];
        sum += difference * difference;
    }

    int i = first_i + threadIdx.y, j = first_j + threadIdx.x;
    if (i < n && j < n)
        dist[i * n + j] = sum;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 block(TILE, TILE), grid(ceil_div(n, TILE), ceil_div(n, TILE));
    int pitch = d;
    size_t bytes = sizeof(float) * 2 * TILE * pitch;

    distances_kernel<<<grid, block, bytes>>>(dist, x, n, d, pitch);
    CUDA_CHECK(cudaGetLastError());
}
