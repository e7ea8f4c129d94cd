// expect: slow (sim: pass) - keeps the choice for the first shape, and uses it for all others
// A simulated GPU plays each timed case in a new process, so it cannot see this.
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
    int best = 0, sms = count_sms();

    for (int i = 1; i < TILES; i++)
        if (cost(tiles[i], m, n, sms) < cost(tiles[best], m, n, sms))
            best = i;
    return best;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    static int kept = -1;

    if (kept < 0)
        kept = choose(m, n);
    launch_tile(kept, d, a, b, m, n, k);
}
