// expect: pass - dynamic shared memory, a tile of 32 rows by 128 columns, explicit addresses
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

static const int H = 32, W = 128, PITCH = W + 1, THREADS = 512;

extern __shared__ float smem[];

__global__ void wide_tile_transpose(float *out, const float *in, const int rows, const int cols)
{
    const int t = threadIdx.x;
    const int nx = (cols + W - 1) / W;
    const int y0 = (int) (blockIdx.x / nx) * H, x0 = (int) (blockIdx.x % nx) * W;

    // in: four rows of 128 per pass
    {
        const int x = t % W, y = t / W;
        const float *p = in + (long long) (y0 + y) * cols + (x0 + x);
        float *q = smem + y * PITCH + x;
        for (int i = 0; i < H; i += THREADS / W) {
            if (y0 + y + i < rows && x0 + x < cols)
                *q = *p;
            p += (long long) (THREADS / W) * cols;
            q += (THREADS / W) * PITCH;
        }
    }

    __syncthreads(); // smem is full and can be read by columns

    // out: sixteen columns of 32 per pass
    {
        const int y = t % H, x = t / H;
        float *p = out + (long long) (x0 + x) * rows + (y0 + y);
        const float *q = smem + y * PITCH + x;
        for (int i = 0; i < W; i += THREADS / H) {
            if (y0 + y < rows && x0 + x + i < cols)
                *p = *q;
            p += (long long) (THREADS / H) * rows;
            q += THREADS / H;
        }
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    const int blocks = ceil_div(rows, H) * ceil_div(cols, W);
    const size_t bytes = sizeof(float) * H * PITCH;

    wide_tile_transpose<<<blocks, THREADS, bytes>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
