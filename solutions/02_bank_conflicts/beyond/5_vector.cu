// rung: beyond, expect: pass - 16 bytes per load: four columns at a time
// A warp's 16-byte load is served in four parts of eight lanes each. Eight lanes use all 32 banks
// once if the step between rows is an odd number of float4s. Four steps then cost 4 wavefronts for
// b and, since one row serves all lanes, 2 for a: 1.5 per step instead of 2.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32 };

// x is n x d, dist is n x n. A block of TILE x TILE threads computes a tile of dist. It needs TILE
// rows of x twice: a for the tile's rows, b for its columns. In shared memory a row is `quads`
// float4s long and begins `pitch` float4s after the previous one.
__global__ void distances_kernel(float *dist, const float *x, int n, int d, int quads, int pitch)
{
    extern __shared__ float4 shared[];
    float4 *a = shared, *b = shared + TILE * pitch;
    float *a_words = (float *) a, *b_words = (float *) b;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;

    // A warp fetches one row of each, coalesced. Zeros fill up the last float4: their differences
    // add nothing.
    for (int k = threadIdx.x; k < 4 * quads; k += TILE) {
        int i = first_i + threadIdx.y, j = first_j + threadIdx.y;
        a_words[threadIdx.y * 4 * pitch + k] = i < n && k < d ? x[i * d + k] : 0;
        b_words[threadIdx.y * 4 * pitch + k] = j < n && k < d ? x[j * d + k] : 0;
    }

    // Separates the stores to a and b from the loads: other warps have filled those rows.
    __syncthreads();

    // A warp uses one row of a and 32 rows of b.
    float sum = 0;
    for (int quad = 0; quad < quads; quad++) {
        float4 p = a[threadIdx.y * pitch + quad], q = b[threadIdx.x * pitch + quad];
        sum += (p.x - q.x) * (p.x - q.x);
        sum += (p.y - q.y) * (p.y - q.y);
        sum += (p.z - q.z) * (p.z - q.z);
        sum += (p.w - q.w) * (p.w - q.w);
    }

    int i = first_i + threadIdx.y, j = first_j + threadIdx.x;
    if (i < n && j < n)
        dist[i * n + j] = sum;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 block(TILE, TILE), grid(ceil_div(n, TILE), ceil_div(n, TILE));
    int quads = ceil_div(d, 4), pitch = quads | 1;
    size_t bytes = sizeof(float4) * 2 * TILE * pitch;

    distances_kernel<<<grid, block, bytes>>>(dist, x, n, d, quads, pitch);
    CUDA_CHECK(cudaGetLastError());
}
