// expect: pass - four rules of thumb instead of a cost, as a person would write them
// lab: tuning
#include "kernel.h"

enum { SQUARE = 0, TALL = 1, WIDE = 2, MEDIUM = 3, NARROW = 4, FLAT = 5, SMALL = 6 };

static bool fills(int tile, int m, int n)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    return ceil_div(m, tiles[tile].rows) * ceil_div(n, tiles[tile].cols) >= 2 * sms;
}

static int choose(int m, int n)
{
    if (m <= 32)
        return n <= 32 ? SMALL : FLAT;
    if (n <= 32)
        return NARROW;
    if (m <= 64 && fills(WIDE, m, n))
        return WIDE;
    if (n <= 64 && fills(TALL, m, n))
        return TALL;
    return m > 64 && n > 64 && fills(SQUARE, m, n) ? SQUARE : MEDIUM;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
