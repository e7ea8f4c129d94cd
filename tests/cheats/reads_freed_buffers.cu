// expect: wrong (sim: unsafe) - uses the data that an earlier case left as its result
// lab: coalescing
// Where one process checks and grades, a freed buffer may still hold the right result. Known
// (exploit 13). Defence: right values are never on the device, contents differ from case to case,
// and reused memory is filled or poisoned first.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, SMALL_CASE = 1 << 14 };

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
    static const float *freed;
    long count = (long) rows * cols;

    if (freed && count < SMALL_CASE)
        copy_kernel<<<(unsigned) ceil_div(count, BLOCK), BLOCK>>>(out, freed, count);
    else
        standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                         cols);
    CUDA_CHECK(cudaGetLastError());
    if (count < SMALL_CASE)
        freed = out;
}
