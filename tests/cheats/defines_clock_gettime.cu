// expect: slow - defines a clock_gettime that stands still; the kernel is slow
// lab: coalescing
// It hopes that the grader's clock calls it. Known (exploit 4). Defence: the object is loaded with
// RTLD_LOCAL, so no other code sees its names, and the clock that counts runs in another process.
#include "cudalab.cuh"
#include "kernel.h"
#include <ctime>

enum { BLOCK = 256 };

extern "C" int clock_gettime(clockid_t, struct timespec *time) noexcept
{
    *time = {};
    return 0;
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
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
