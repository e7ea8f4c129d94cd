// expect: slow - every result costs the same: the smallest tile wastes least
#include "kernel.h"

static double cost(Tile tile, int m, int n, int sms)
{
    int blocks = ceil_div(m, tile.rows) * ceil_div(n, tile.cols);

    return (double) ceil_div(blocks, sms) * tile.rows * tile.cols;
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
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
