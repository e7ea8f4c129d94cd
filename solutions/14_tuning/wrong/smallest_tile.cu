// expect: slow - the smallest tile: it has the most blocks, and so the most parallel work
#include "kernel.h"

static int choose(int m, int n)
{
    int best = 0;

    (void) m;
    (void) n;
    for (int i = 1; i < TILES; i++)
        if (tiles[i].rows * tiles[i].cols < tiles[best].rows * tiles[best].cols)
            best = i;
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
