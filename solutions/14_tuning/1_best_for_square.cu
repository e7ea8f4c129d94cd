// rung: 1, expect: slow - the tile that wins on large squares, for every shape
// One tile for every shape: the one that wins on large squares.
#include "kernel.h"

static int choose(int m, int n, int k)
{
    (void) m;
    (void) n;
    (void) k;
    return 0;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n, k), d, a, b, m, n, k);
}
