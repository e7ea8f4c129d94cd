// expect: slow (sim: device) - a tile of medium size for every shape: never far off, hardly ever
// right
#include "kernel.h"

static int choose(int m, int n)
{
    (void) m;
    (void) n;
    return 3;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
