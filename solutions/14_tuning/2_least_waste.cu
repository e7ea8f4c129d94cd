// rung: 2, expect: slow - the tile that covers d with the fewest results outside it
#include "kernel.h"

// The results that the blocks compute, also those that d does not have.
static double cost(Tile tile, int m, int n)
{
    return (double) ceil_div(m, tile.rows) * tile.rows * ceil_div(n, tile.cols) * tile.cols;
}

// Of two tiles that cover d equally well, the first in the table is taken.
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
