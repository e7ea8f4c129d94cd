// expect: device - cooperative groups: block and tiles of 32 instead of threadIdx, block.sync()
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kLanes = 32;
constexpr int kWarps = 16;
constexpr int kRows = 64; // of a piece of the input; it is kLanes wide

__global__ void transposePieces(float *out, const float *in, int rows, int cols)
{
    __shared__ float piece[kRows][kLanes + 1];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<kLanes> warp = cg::tiled_partition<kLanes>(block);
    const int lane = warp.thread_rank(), number = warp.meta_group_rank();
    const int piecesDown = ceil_div(rows, kRows);
    const int firstRow = block.group_index().x % piecesDown * kRows;
    const int firstCol = block.group_index().x / piecesDown * kLanes;

    for (int r = 0; r < kRows; r += kWarps) {
        const int i = firstRow + r + number, j = firstCol + lane;
        if (i < rows && j < cols)
            piece[r + number][lane] = in[i * cols + j];
    }

    block.sync(); // separates rows from columns: each warp reads what all warps have written

    for (int c = 0; c < kLanes; c += kWarps) {
        for (int r = 0; r < kRows; r += kLanes) {
            const int i = firstRow + r + lane, j = firstCol + c + number;
            if (i < rows && j < cols)
                out[j * rows + i] = piece[r + lane][c + number];
        }
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    const int pieces = ceil_div(rows, kRows) * ceil_div(cols, kLanes);

    transposePieces<<<pieces, kLanes * kWarps>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
