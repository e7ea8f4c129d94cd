// expect: slow - the tile with the most threads in flight per SM
#include "kernel.h"

static int choose(int m, int n)
{
    int best = 0, most = 0;

    (void) m;
    (void) n;
    for (int i = 0; i < TILES; i++) {
        int blocks;
        CUDA_CHECK(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(i), TILE_THREADS, 0));
        if (blocks > most) {
            most = blocks;
            best = i;
        }
    }
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
