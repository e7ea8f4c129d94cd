// expect: build - measures with events, which the grader refuses: its first call is timed, too
#include "kernel.h"

static float time_of(int tile, float *d, const float *a, const float *b, int m, int n, int k)
{
    cudaEvent_t begin, end;
    float ms;

    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    CUDA_CHECK(cudaEventRecord(begin));
    launch_tile(tile, d, a, b, m, n, k);
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

// One cold sample per tile, the first with the loading of the kernel: three mistakes in one.
LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    int best = 0;
    float best_ms = 1e9f;

    for (int i = 0; i < TILES; i++) {
        float ms = time_of(i, d, a, b, m, n, k);
        if (ms < best_ms) {
            best_ms = ms;
            best = i;
        }
    }
    launch_tile(best, d, a, b, m, n, k);
}
