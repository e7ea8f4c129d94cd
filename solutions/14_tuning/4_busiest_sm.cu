// rung: 4, expect: pass - the time of the SM that gets the most tiles
#include "kernel.h"

// Clocks of an SM per warp of a tile and step of k. An SM does four FMAs of a warp per clock, and
// each float for them takes half a clock if several are loaded at once. All tiles have the same
// number of threads, so this is what a tile costs.
static double clocks(int side)
{
    const double fmas = side * side, floats = 2 * side;

    return fmas / 4 + floats / 2;
}

static double cost(Tile tile, int m, int n, int sms)
{
    int blocks = ceil_div(m, tile.rows) * ceil_div(n, tile.cols);

    // The launch ends when the SM with the most blocks has finished. SMs share blocks evenly, and
    // blocks on the same SM share its clocks, so it does not matter how many of them fit at once.
    return ceil_div(blocks, sms) * clocks(tile.side);
}

static int count_sms()
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    return sms;
}

// Of two tiles with the same cost the first in the table is taken, which has more results.
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
