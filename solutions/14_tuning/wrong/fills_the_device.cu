// expect: slow - the largest tile of which every SM gets at least one: waste is not counted
#include "kernel.h"

static int count_sms()
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    return sms;
}

// The tiles are sorted by size, the largest first.
static int choose(int m, int n)
{
    int sms = count_sms();

    for (int i = 0; i < TILES; i++)
        if (ceil_div(m, tiles[i].rows) * ceil_div(n, tiles[i].cols) >= sms)
            return i;
    return TILES - 1;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
