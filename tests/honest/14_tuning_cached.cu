// expect: pass - keeps the choices of the last shapes, with the shape and the device as key
// lab: tuning
#include "kernel.h"

enum { KEPT = 64 };

typedef struct Choice {
    int m, n, device, tile; // m is 0 in an empty entry
} Choice;

static double clocks(int side)
{
    return side * side / 4 + side;
}

static double cost(Tile tile, int m, int n, int sms)
{
    return ceil_div(ceil_div(m, tile.rows) * ceil_div(n, tile.cols), sms) * clocks(tile.side);
}

static int search(int m, int n, int device)
{
    int best = 0, sms;

    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    for (int i = 1; i < TILES; i++)
        if (cost(tiles[i], m, n, sms) < cost(tiles[best], m, n, sms))
            best = i;
    return best;
}

static int choose(int m, int n)
{
    static Choice kept[KEPT];
    int device;

    CUDA_CHECK(cudaGetDevice(&device));
    Choice *entry = &kept[(m * 31u + n) % KEPT];
    if (entry->m != m || entry->n != n || entry->device != device)
        *entry = { m, n, device, search(m, n, device) };
    return entry->tile;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    launch_tile(choose(m, n), d, a, b, m, n, k);
}
