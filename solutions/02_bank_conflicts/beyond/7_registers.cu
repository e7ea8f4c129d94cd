// rung: beyond, expect: pass - 16 results per thread, 16 bytes per load: arithmetic is the limit
// Four steps take 4 loads of 2 wavefronts (a) and 4 of 4 (b), and give 64 differences per thread:
// 0.375 wavefronts each, where rung 4 needs 2. The limit is now the arithmetic: half a clock per
// difference and warp on an SM with 128 FP32 units. Lab 09 continues from here.
#include "cudalab.cuh"
#include "kernel.h"

// A tile of the result is 64 x 64. QUADS float4s of each row are in shared memory at a time, in
// rows of PITCH float4s: an odd number, so that eight lanes use 32 banks.
enum { SIDE = 4, BLOCK = 16, TILE = SIDE * BLOCK, QUADS = 8, STEPS = 4 * QUADS, PITCH = QUADS + 1 };

static __device__ float plus_square(float sum, float difference)
{
    return sum + difference * difference;
}

// x is n x d, dist is n x n; BLOCK x BLOCK threads compute a TILE x TILE tile of dist.
__global__ void distances_kernel(float *dist, const float *x, int n, int d)
{
    __shared__ float4 a[TILE][PITCH], b[TILE][PITCH];
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;
    int thread = threadIdx.y * BLOCK + threadIdx.x;
    float sum[SIDE][SIDE] = {};

    for (int first_k = 0; first_k < d; first_k += STEPS) {
        // A warp fetches a piece of a row. Outside x it stores zeros, which add nothing.
        for (int row = thread / STEPS; row < TILE; row += BLOCK * BLOCK / STEPS) {
            int i = first_i + row, j = first_j + row, k = first_k + thread % STEPS;
            ((float *) a[row])[thread % STEPS] = i < n && k < d ? x[i * d + k] : 0;
            ((float *) b[row])[thread % STEPS] = j < n && k < d ? x[j * d + k] : 0;
        }

        // Separates the stores to a and b from the loads: other warps have filled those rows.
        __syncthreads();

        for (int quad = 0; quad < QUADS; quad++) {
            float4 p[SIDE], q[SIDE];
            for (int s = 0; s < SIDE; s++) {
                p[s] = a[threadIdx.y + s * BLOCK][quad];
                q[s] = b[threadIdx.x + s * BLOCK][quad];
            }
            for (int r = 0; r < SIDE; r++)
                for (int c = 0; c < SIDE; c++) {
                    sum[r][c] = plus_square(sum[r][c], p[r].x - q[c].x);
                    sum[r][c] = plus_square(sum[r][c], p[r].y - q[c].y);
                    sum[r][c] = plus_square(sum[r][c], p[r].z - q[c].z);
                    sum[r][c] = plus_square(sum[r][c], p[r].w - q[c].w);
                }
        }

        // Separates reading a and b, by all threads, from filling them with the next columns.
        __syncthreads();
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

    distances_kernel<<<grid, block>>>(dist, x, n, d);
    CUDA_CHECK(cudaGetLastError());
}
