// expect: build - times launches with the host's clock, without waiting for them
#include "kernel.h"

#include <ctime>

// A launch returns at once: this is the time of the call, not of the kernel.
static long ns_of(int tile, float *d, const float *a, const float *b, int m, int n, int k)
{
    timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    launch_tile(tile, d, a, b, m, n, k);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    int best = 0;
    long best_ns = 1000000000L;

    for (int i = 0; i < TILES; i++) {
        long ns = ns_of(i, d, a, b, m, n, k);
        if (ns < best_ns) {
            best_ns = ns;
            best = i;
        }
    }
    launch_tile(best, d, a, b, m, n, k);
}
