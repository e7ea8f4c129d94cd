// expect: build - has a thread_local object whose constructor runs at its first use
// lab: coalescing
// It runs again in every thread. Defence: thread-local variables need __tls_get_addr, which is not
// on the list of symbols.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

struct Loud {
    int calls;
    Loud()
    {
        calls = puts("first use");
    }
};
thread_local Loud loud;

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
    loud.calls++;
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
