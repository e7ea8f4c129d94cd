// One tile for every shape: the one that wins on large squares.
#include "kernel.h"

static int choose(int m, int n, int k)
{
    // TODO: look at the shape, ask the device for its SMs, and choose one of the TILES variants.
    // TODO: Which results of a tile does d have? What does one result cost with 8 x 8, 4 x 4 and
    // TODO: 2 x 2 results per thread? How many blocks does the busiest SM get?
    (void) m;
    (void) n;
    (void) k;
    return 0;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n, k), d, a, b, m, n, k);
}
