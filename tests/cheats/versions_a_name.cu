// expect: build - defines a versioned cudaEventElapsedTime, by .symver
// lab: coalescing
// The library itself does the same. Known (exploit 4). Defence: an object may not define a name
// that begins like CUDA's, whatever follows.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" __attribute__((visibility("default"))) int claim_time(float *ms)
{
    *ms = 1e-6f;
    return 0;
}
asm(".symver claim_time, cudaEventElapsedTime@@libcudart.so.13");

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
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
