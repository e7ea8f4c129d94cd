// expect: pass - a template on tile, rows per pass and edges: whole tiles have no checks
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

template <int Tile, int Rows, bool Edges>
__global__ void transposeTiled(float *__restrict__ dst, const float *__restrict__ src, int m, int n)
{
    static_assert(Tile % Rows == 0, "a pass must not end outside of the tile");
    constexpr int Passes = Tile / Rows;
    __shared__ float buffer[Tile][Tile + 1];

    const int tilesDown = (m + Tile - 1) / Tile;
    const int i0 = int(blockIdx.x) % tilesDown * Tile;
    const int j0 = int(blockIdx.x) / tilesDown * Tile;
    const int tx = threadIdx.x, ty = threadIdx.y;

    src += size_t(i0 + ty) * n + j0 + tx;
#pragma unroll
    for (int p = 0; p < Passes; ++p)
        if (!Edges || (i0 + ty + p * Rows < m && j0 + tx < n))
            buffer[ty + p * Rows][tx] = src[size_t(p * Rows) * n];

    __syncthreads(); // the buffer is written above and read below by other threads

    dst += size_t(j0 + ty) * m + i0 + tx;
#pragma unroll
    for (int p = 0; p < Passes; ++p)
        if (!Edges || (j0 + ty + p * Rows < n && i0 + tx < m))
            dst[size_t(p * Rows) * m] = buffer[tx][ty + p * Rows];
}

template <int Tile, int Rows> static void launch(float *dst, const float *src, int m, int n)
{
    const int blocks = ceil_div(m, Tile) * ceil_div(n, Tile);
    const dim3 threads(Tile, Rows);

    if (m % Tile || n % Tile)
        transposeTiled<Tile, Rows, true><<<blocks, threads>>>(dst, src, m, n);
    else
        transposeTiled<Tile, Rows, false><<<blocks, threads>>>(dst, src, m, n);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    launch<32, 8>(out, in, rows, cols);
}
