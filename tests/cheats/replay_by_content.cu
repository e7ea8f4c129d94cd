// expect: slow - fast only where the same contents come again, otherwise slow
// lab: coalescing
// It remembers, for each output, a hash of 32 elements of the input and one result; if both are
// still there the work has been done. Known (exploit 8: CONTENT replay). Defence: contents are new
// in each sample, so every comparison fails, and only a slow kernel is left.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, SLOTS = 1024 };

static __device__ unsigned hashes[SLOTS], results[SLOTS];
static __device__ bool done;

// One thread checks whether out holds the result for the contents of in.
__global__ void look_kernel(const float *out, const float *in, int count)
{
    unsigned hash = count, slot = (size_t) out >> 16 & (SLOTS - 1);

    for (int i = 0; i < 32; i++)
        hash = hash * 31 + __float_as_uint(in[(long) count * i / 32]);
    done = hash == hashes[slot] && __float_as_uint(out[0]) == results[slot];
    hashes[slot] = hash;
}

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    if (done || r >= rows)
        return;
    out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
    if (r == 0 && c == 0)
        results[(size_t) out >> 16 & (SLOTS - 1)] = __float_as_uint(out[0]);
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    look_kernel<<<1, 1>>>(out, in, rows * cols);
    CUDA_CHECK(cudaGetLastError());
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
