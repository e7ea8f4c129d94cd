// rung: 3, expect: slow - what one result costs: FMAs and loads from shared memory
#include "kernel.h"

// Clocks of an SM per warp of a tile and step of k: an SM does four FMAs of a warp per clock, and
// each float for them takes half a clock if several are loaded at once.
static double clocks(int side)
{
    const double fmas = side * side, floats = 2 * side;

    return fmas / 4 + floats / 2;
}

static double cost(Tile tile, int m, int n)
{
    // The number of threads is the same for all tiles, so a tile costs what its thread costs.
    return (double) ceil_div(m, tile.rows) * ceil_div(n, tile.cols) * clocks(tile.side);
}

static int choose(int m, int n)
{
    int best = 0;

    for (int i = 1; i < TILES; i++)
        if (cost(tiles[i], m, n) < cost(tiles[best], m, n))
            best = i;
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
