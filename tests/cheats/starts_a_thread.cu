// expect: build - starts a std::thread that would write to the grader's memory
// lab: coalescing
// Known (exploit 3). Defence: only allowed symbols may be linked to.
#include "cudalab.cuh"
#include "kernel.h"
#include <thread>

enum { BLOCK = 256 };

static float *result;

static void rewrite(void)
{
    for (;;)
        if (result)
            *result = 0;
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
    std::thread(rewrite).detach();
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
