// expect: slow - takes 0.4 s for each of its first calls and is slow afterwards
// lab: coalescing
// If a warm-up determines the number of samples, a slow one leaves few samples, and luck matters.
// Known (exploit 12). Defence: the number of blocks does not depend on the student; only the number
// of calls per sample does.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256, SLOW_CALLS = 3 };

__global__ void spin_kernel(long ns)
{
    long begin, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    static int calls;

    if ((long) rows * cols >= HUGE_CASE && calls++ < SLOW_CALLS) {
        spin_kernel<<<1, 1>>>(400000000);
        CUDA_CHECK(cudaGetLastError());
    }
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
