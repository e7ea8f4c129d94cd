// expect: device - cooperative groups: a tile of 32 per row; long rows read twice by a block
// lab: softmax
#include "cudalab.cuh"
#include "kernel.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 512, kTiles = kThreads / 32, kHeld = 4;
constexpr float kLowest = -3.402823466e38f;

using Tile = cg::thread_block_tile<32>;

__device__ float tileMax(const Tile &tile, float v)
{
    for (int i = tile.size() / 2; i > 0; i >>= 1)
        v = fmaxf(v, tile.shfl_xor(v, i));
    return v;
}

__device__ float tileSum(const Tile &tile, float v)
{
    for (int i = tile.size() / 2; i > 0; i >>= 1)
        v += tile.shfl_xor(v, i);
    return v;
}

// Rows of at most 128 columns, one per tile.
__global__ void narrowRows(float *result, const float *data, int rows, int cols)
{
    Tile tile = cg::tiled_partition<32>(cg::this_thread_block());
    const int row = blockIdx.x * kTiles + tile.meta_group_rank();
    float x[kHeld], most = kLowest, total = 0.f;

    if (row >= rows) // all of a tile
        return;
    for (int k = 0; k < kHeld; k++) {
        const int j = tile.thread_rank() + 32 * k;
        x[k] = j < cols ? data[(size_t) row * cols + j] : -INFINITY;
        most = fmaxf(most, x[k]);
    }
    most = tileMax(tile, most);
    for (int k = 0; k < kHeld; k++) {
        x[k] = expf(x[k] - most);
        total += x[k];
    }
    total = tileSum(tile, total);
    for (int k = 0; k < kHeld; k++) {
        const int j = tile.thread_rank() + 32 * k;
        if (j < cols)
            result[(size_t) row * cols + j] = x[k] / total;
    }
}

// Other rows, one per block.
__global__ void wideRows(float *result, const float *data, int cols)
{
    __shared__ float most[kTiles], total[kTiles];
    cg::thread_block block = cg::this_thread_block();
    Tile tile = cg::tiled_partition<32>(block);
    const float *row = data + (size_t) blockIdx.x * cols;
    float m = kLowest, s = 0.f;

    for (int j = block.thread_rank(); j < cols; j += kThreads) {
        const float x = row[j], before = m;
        m = fmaxf(m, x);
        s = s * expf(before - m) + expf(x - m);
    }
    const float tile_m = tileMax(tile, m);
    s = tileSum(tile, s * expf(m - tile_m));
    if (tile.thread_rank() == 0) {
        most[tile.meta_group_rank()] = tile_m;
        total[tile.meta_group_rank()] = s;
    }
    // Separates storing the tiles' values from the loads of all of them.
    block.sync();

    const float other = tile.thread_rank() < kTiles ? most[tile.thread_rank()] : kLowest;
    m = tileMax(tile, other);
    s = tile.thread_rank() < kTiles ? total[tile.thread_rank()] * expf(other - m) : 0.f;
    s = tileSum(tile, s);
    for (int j = block.thread_rank(); j < cols; j += kThreads)
        result[(size_t) blockIdx.x * cols + j] = expf(row[j] - m) / s;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *)
{
    if (cols <= 32 * kHeld)
        narrowRows<<<ceil_div(rows, kTiles), kThreads>>>(out, in, rows, cols);
    else
        wideRows<<<rows, kThreads>>>(out, in, cols);
    CUDA_CHECK(cudaGetLastError());
}
