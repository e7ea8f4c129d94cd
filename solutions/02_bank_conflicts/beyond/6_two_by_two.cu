// rung: beyond, expect: pass - four results per thread: two rows of a and two of b serve all four
// A thread uses each word twice: 4 loads for 4 results, where one result took 2. A warp reads 16
// rows of b and 2 of a at a time: still one wavefront per load.
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, TILE = 32, SIDE = 2, BLOCK = TILE / SIDE };

// x is n x d, dist is n x n. A block of BLOCK x BLOCK threads computes a tile of TILE x TILE of
// dist. It needs TILE rows of x twice: a for the tile's rows, b for its columns. In shared memory
// a row begins `pitch` floats after the previous one.
__global__ void distances_kernel(float *dist, const float *x, int n, int d, int pitch)
{
    extern __shared__ float shared[];
    float *a = shared, *b = shared + TILE * pitch;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;

    // A warp fetches one row of each, coalesced. Rows past the last one are filled with zeros.
    int thread = threadIdx.y * BLOCK + threadIdx.x;
    for (int row = thread / WARP; row < TILE; row += BLOCK * BLOCK / WARP) {
        int i = first_i + row, j = first_j + row;
        for (int k = thread % WARP; k < d; k += WARP) {
            a[row * pitch + k] = i < n ? x[i * d + k] : 0;
            b[row * pitch + k] = j < n ? x[j * d + k] : 0;
        }
    }

    // Separates the stores to a and b from the loads: other warps have filled those rows.
    __syncthreads();

    // The thread's rows of a, and of b, are BLOCK rows apart.
    float sum[SIDE][SIDE] = {};
    for (int k = 0; k < d; k++) {
        float p[SIDE], q[SIDE];
        for (int s = 0; s < SIDE; s++) {
            p[s] = a[(threadIdx.y + s * BLOCK) * pitch + k];
            q[s] = b[(threadIdx.x + s * BLOCK) * pitch + k];
        }
        for (int r = 0; r < SIDE; r++)
            for (int c = 0; c < SIDE; c++)
                sum[r][c] += (p[r] - q[c]) * (p[r] - q[c]);
    }

    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++) {
            int i = first_i + threadIdx.y + r * BLOCK, j = first_j + threadIdx.x + c * BLOCK;
            if (i < n && j < n)
                dist[i * n + j] = sum[r][c];
        }
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 block(BLOCK, BLOCK), grid(ceil_div(n, TILE), ceil_div(n, TILE));
    int pitch = d | 1;
    size_t bytes = sizeof(float) * 2 * TILE * pitch;

    distances_kernel<<<grid, block, bytes>>>(dist, x, n, d, pitch);
    CUDA_CHECK(cudaGetLastError());
}
