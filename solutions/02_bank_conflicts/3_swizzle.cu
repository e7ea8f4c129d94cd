// rung: 3, expect: pass - no padding: in row r, word k changes places with word k ^ r
// Rows are rounded up to a multiple of 32 words, so that each begins in bank 0, and k ^ r stays
// within the row. Lane t finds word k of its row in bank (k ^ t) % 32: for 32 lanes 32 banks.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, BANKS = 32 };

// x is n x d, dist is n x n. A block of TILE x TILE threads finds a tile of dist, for which it
// needs TILE rows of x twice: those of the tile's rows, a, and those of its columns, b. In shared
// memory a row begins `pitch` floats after the one before, and word k of row r of b lies at k ^ r.
// Of a, a warp reads one word at a time, which needs no other place.
__global__ void distances_kernel(float *dist, const float *x, int n, int d, int pitch)
{
    extern __shared__ float shared[];
    float *a = shared, *b = shared + TILE * pitch;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;

    // A warp fetches one row of each, neighbours by neighbours. Rows past the last are not needed.
    for (int k = threadIdx.x; k < d; k += TILE) {
        int i = first_i + threadIdx.y, j = first_j + threadIdx.y;
        a[threadIdx.y * pitch + k] = i < n ? x[i * d + k] : 0;
        b[threadIdx.y * pitch + (k ^ threadIdx.y)] = j < n ? x[j * d + k] : 0;
    }

    // Between the filling of a and b and their reading: other warps have filled those rows.
    __syncthreads();

    // A warp has one row of a and 32 rows of b.
    float sum = 0;
    for (int k = 0; k < d; k++) {
        float difference = a[threadIdx.y * pitch + k] - b[threadIdx.x * pitch + (k ^ threadIdx.x)];
        sum += difference * difference;
    }

    int i = first_i + threadIdx.y, j = first_j + threadIdx.x;
    if (i < n && j < n)
        dist[i * n + j] = sum;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 block(TILE, TILE), grid(ceil_div(n, TILE), ceil_div(n, TILE));
    int pitch = ceil_div(d, BANKS) * BANKS;
    size_t bytes = sizeof(float) * 2 * TILE * pitch;

    distances_kernel<<<grid, block, bytes>>>(dist, x, n, d, pitch);
    CUDA_CHECK(cudaGetLastError());
}
