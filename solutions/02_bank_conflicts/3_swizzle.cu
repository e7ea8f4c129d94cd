// rung: 3, expect: pass - no padding: in row r, word k changes places with word k ^ r
// Rows are rounded up to a multiple of 32 words, so that each begins in bank 0, and k ^ r stays
// within the row. Lane t finds word k of its row in bank (k ^ t) % 32: 32 banks for 32 lanes. A
// round is four columns: if 4 divides k, (k + c) ^ t is (k ^ t) ^ c, so k ^ t is computed once.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, BANKS = 32, ROUND = 4 };

// x is n x d, dist is n x n. A block of TILE x TILE threads computes a tile of dist. It needs TILE
// rows of x twice: a for the tile's rows, b for its columns. In shared memory a row begins `pitch`
// floats after the previous one, and word k of row r of b is at k ^ r. Rows of a stay unchanged,
// since a warp reads one word of a at a time.
__global__ void distances_kernel(float *dist, const float *x, int n, int d, int pitch)
{
    extern __shared__ float shared[];
    float *a = shared, *b = shared + TILE * pitch;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;

    // A warp fetches one row of each, coalesced. Rows past the last one, and words past a row's end
    // up to a whole round, are filled with zeros, whose difference is zero.
    for (int k = threadIdx.x; k < ceil_div(d, ROUND) * ROUND; k += TILE) {
        int i = first_i + threadIdx.y, j = first_j + threadIdx.y;
        a[threadIdx.y * pitch + k] = i < n && k < d ? x[i * d + k] : 0;
        b[threadIdx.y * pitch + (k ^ threadIdx.y)] = j < n && k < d ? x[j * d + k] : 0;
    }

    // Separates the stores to a and b from the loads: other warps have filled those rows.
    __syncthreads();

    // A warp uses one row of a and 32 rows of b.
    float sum = 0;
    const float *row_a = a + threadIdx.y * pitch, *row_b = b + threadIdx.x * pitch;
    for (int k = 0; k < d; k += ROUND) {
        int place = k ^ threadIdx.x;
        for (int c = 0; c < ROUND; c++) {
            float difference = row_a[k + c] - row_b[place ^ c];
            sum += difference * difference;
        }
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
