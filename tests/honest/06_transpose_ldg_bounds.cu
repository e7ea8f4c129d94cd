// expect: device - __ldg, __restrict__, launch bounds; loads into an array first; vectors copied
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

namespace
{
const int Lanes = 32, Warps = 16, Tall = 2, Items = Lanes * Tall / Warps;
const int Threads = Lanes * Warps;
} // namespace

// One row or one column: the same order on both sides.
__global__ void __launch_bounds__(Threads)
    copy(float *__restrict__ out, const float *__restrict__ in, unsigned n)
{
    for (unsigned i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads)
        out[i] = __ldg(in + i);
}

__global__ void __launch_bounds__(Threads, 2)
    transpose_tall(float *__restrict__ out, const float *__restrict__ in, int rows, int cols)
{
    __shared__ float tile[Lanes * Tall][Lanes + 1];
    const int strips = (cols + Lanes - 1) / Lanes;
    const int row0 = blockIdx.x / strips * (Lanes * Tall), col0 = blockIdx.x % strips * Lanes;
    const int lane = threadIdx.x, warp = threadIdx.y;
    float item[Items];

#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int row = row0 + i * Warps + warp, col = col0 + lane;
        item[i] = row < rows && col < cols ? __ldg(&in[(size_t) row * cols + col]) : 0.f;
    }
#pragma unroll
    for (int i = 0; i < Items; ++i)
        tile[i * Warps + warp][lane] = item[i];

    __syncthreads(); // all items are in the tile

    for (int col = warp; col < Lanes && col0 + col < cols; col += Warps)
#pragma unroll
        for (int half = 0; half < Tall; ++half) {
            const int row = half * Lanes + lane;
            if (row0 + row < rows)
                out[(size_t) (col0 + col) * rows + row0 + row] = tile[row][col];
        }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 1 || cols == 1)
        copy<<<1024, Threads>>>(out, in, (unsigned) rows * cols);
    else
        transpose_tall<<<ceil_div(rows, Lanes * Tall) * ceil_div(cols, Lanes),
                         dim3(Lanes, Warps)>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
