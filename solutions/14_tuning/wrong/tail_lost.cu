// expect: wrong - a launch of its own, which rounds the number of tiles down
#include "kernel.h"

static double clocks(int side)
{
    const double fmas = side * side, floats = 2 * side;

    return fmas / 4 + floats / 2;
}

static double cost(Tile tile, int m, int n, int sms)
{
    int blocks = ceil_div(m, tile.rows) * ceil_div(n, tile.cols);

    return ceil_div(blocks, sms) * clocks(tile.side);
}

static int count_sms()
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    return sms;
}

static int choose(int m, int n)
{
    int best = 0, sms = count_sms();

    for (int i = 1; i < TILES; i++)
        if (cost(tiles[i], m, n, sms) < cost(tiles[best], m, n, sms))
            best = i;
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    int tile = choose(m, n);
    int blocks = m / tiles[tile].rows * (n / tiles[tile].cols);

    if (blocks == 0)
        blocks = 1;
    kernel_of(tile)<<<blocks, TILE_THREADS>>>(d, a, b, m, n, k);
    CUDA_CHECK(cudaGetLastError());
}
