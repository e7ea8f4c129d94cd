// expect: pass - no shared memory: a warp transposes 32 x 32 elements in registers, by shuffles
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
using Warp = cg::thread_block_tile<32>;

constexpr int warps_a_block = 4;

// v[i] of lane l and v[l] of lane i are exchanged, for all i and l: halves of the square first,
// then halves of its quarters, and so on. Everything is unrolled, so that v stays in registers.
static __device__ void turn(const Warp &warp, float (&v)[32])
{
#pragma unroll
    for (int half = 16; half; half /= 2) {
        const bool upper = warp.thread_rank() & half;
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            if (i & half)
                continue;
            const float give = upper ? v[i] : v[i + half];
            const float got = warp.shfl_xor(give, half);
            if (upper)
                v[i] = got;
            else
                v[i + half] = got;
        }
    }
}

__global__ void __launch_bounds__(32 * warps_a_block)
    turn_squares(float *out, const float *in, int rows, int cols)
{
    const Warp warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = warp.thread_rank();
    const int across = ceil_div(cols, 32), down = ceil_div(rows, 32);
    const int square = blockIdx.x * warps_a_block + warp.meta_group_rank();
    if (square >= across * down)
        return; // a whole warp leaves; no other warp waits for it

    const int row = square / across * 32, col = square % across * 32;
    float v[32];

#pragma unroll
    for (int i = 0; i < 32; ++i)
        v[i] = row + i < rows && col + lane < cols ? in[(row + i) * cols + col + lane] : 0.0f;
    turn(warp, v);
#pragma unroll
    for (int i = 0; i < 32; ++i)
        if (row + lane < rows && col + i < cols)
            out[(col + i) * rows + row + lane] = v[i];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    const int squares = ceil_div(rows, 32) * ceil_div(cols, 32);

    turn_squares<<<ceil_div(squares, warps_a_block), 32 * warps_a_block>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
