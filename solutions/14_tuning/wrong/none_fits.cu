// expect: crash - considers only tiles that fit into d: 1 x 1 has none
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
    int best = -1, sms = count_sms();

    for (int i = 0; i < TILES; i++) {
        if (tiles[i].rows > m || tiles[i].cols > n)
            continue;
        if (best < 0 || cost(tiles[i], m, n, sms) < cost(tiles[best], m, n, sms))
            best = i;
    }
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
