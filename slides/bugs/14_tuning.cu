// Shown in slides/14_tuning.md, "Find the bug". Waves of resident blocks: each wave is taken for as
// long as one block, however many blocks share an SM. And no tile is chosen if none fits.
#include "kernel.h"

static int blocks_per_sm(int tile)
{
    int blocks;

    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(tile), TILE_THREADS, 0));
    return blocks;
}

static double cost(int tile, int m, int n, int sms)
{
    int blocks = ceil_div(m, tiles[tile].rows) * ceil_div(n, tiles[tile].cols);
    int wave = sms * blocks_per_sm(tile), side = tiles[tile].side;

    return ceil_div(blocks, wave) * (side * side / 4 + side);
}

static int choose(int m, int n, int sms)
{
    int best = -1;

    for (int i = 0; i < TILES; i++)
        if (tiles[i].rows <= m && tiles[i].cols <= n)
            if (best < 0 || cost(i, m, n, sms) < cost(best, m, n, sms))
                best = i;
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    launch_tile(choose(m, n, sms), d, a, b, m, n, k);
}
