// expect: pass - one loop over a rectangle, and two lambdas for the work at each place
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

constexpr int height = 64, width = 32, threads = 256;

// Calls visit(down, along) for a Downs x Alongs rectangle; neighbouring threads differ in `along`.
template <int Downs, int Alongs, typename Visit> __device__ void walk(Visit visit)
{
    const int along = threadIdx.x % Alongs;
#pragma unroll
    for (int down = 0; down < Downs; down += threads / Alongs)
        visit(down + int(threadIdx.x) / Alongs, along);
}

__global__ void __launch_bounds__(threads)
    transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[height][width + 1];
    const int tiles_across = ceil_div(cols, width);
    const int top = blockIdx.x / tiles_across * height;
    const int left = blockIdx.x % tiles_across * width;

    walk<height, width>([&](int r, int c) {
        if (top + r < rows && left + c < cols)
            tile[r][c] = in[(top + r) * cols + left + c];
    });
    __syncthreads(); // the first loop fills what the second one reads in another order
    walk<width, height>([&](int c, int r) {
        if (top + r < rows && left + c < cols)
            out[(left + c) * rows + top + r] = tile[r][c];
    });
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    transpose_kernel<<<ceil_div(rows, height) * ceil_div(cols, width), threads>>>(out, in, rows,
                                                                                  cols);
    CUDA_CHECK(cudaGetLastError());
}
