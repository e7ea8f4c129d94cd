// expect: device - a table for 132 SMs, which are not counted: right on an H100 SXM or an H200
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

static int choose(int m, int n)
{
    int best = 0, sms = 132;

    for (int i = 1; i < TILES; i++)
        if (cost(tiles[i], m, n, sms) < cost(tiles[best], m, n, sms))
            best = i;
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
