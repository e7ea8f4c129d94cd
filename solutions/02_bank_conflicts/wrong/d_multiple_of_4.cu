// expect: crash - fetches 16 bytes per thread: rows are not aligned if 4 does not divide d
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
    int i = first_i + threadIdx.y, j = first_j + threadIdx.y, whole = d / 4 * 4;
    for (int k = 4 * threadIdx.x; k < whole; k += 4 * TILE) {
        float4 p = make_float4(0, 0, 0, 0), q = p;
        if (i < n)
            p = *(const float4 *) (x + i * d + k);
        if (j < n)
            q = *(const float4 *) (x + j * d + k);
        float *to = a + threadIdx.y * pitch + k;
        to[0] = p.x, to[1] = p.y, to[2] = p.z, to[3] = p.w;
        to = b + threadIdx.y * pitch + k;
        to[0] = q.x, to[1] = q.y, to[2] = q.z, to[3] = q.w;
    }
    for (int k = whole + threadIdx.x; k < d; k += TILE) {
        a[threadIdx.y * pitch + k] = i < n ? x[i * d + k] : 0;
        b[threadIdx.y * pitch + k] = j < n ? x[j * d + k] : 0;
    }

    // Separates the stores to a and b from the loads: other warps have filled those rows.
    __syncthreads();

    // A warp uses one row of a and 32 rows of b.
    float sum = 0;
    for (int k = 0; k < d; k++) {
        float difference = a[threadIdx.y * pitch + k] - b[threadIdx.x * pitch + k];
        sum += difference * difference;
    }

    j = first_j + threadIdx.x;
    if (i < n && j < n)
        dist[i * n + j] = sum;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 block(TILE, TILE), grid(ceil_div(n, TILE), ceil_div(n, TILE));
    int pitch = d | 1;
    size_t bytes = sizeof(float) * 2 * TILE * pitch;

    distances_kernel<<<grid, block, bytes>>>(dist, x, n, d, pitch);
    CUDA_CHECK(cudaGetLastError());
}
