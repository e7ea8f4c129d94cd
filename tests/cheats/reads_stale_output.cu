// expect: wrong (sim: slow) - copies the output of the previous call, which had the same sizes
// lab: coalescing
// The result is correct if all calls have the same contents, and takes half the work if they come
// from a cache. Known (exploit 8, 13). Defence: each set of a sample has contents of its own.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

__global__ void copy_kernel(float *out, const float *old, long count)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < count)
        out[i] = old[i];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    static const float *last;
    long count = (long) rows * cols;

    if (count >= HUGE_CASE && last && last != out)
        copy_kernel<<<(unsigned) ceil_div(count, BLOCK), BLOCK>>>(out, last, count);
    else
        standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                         cols);
    CUDA_CHECK(cudaGetLastError());
    last = count >= HUGE_CASE ? out : NULL;
}
