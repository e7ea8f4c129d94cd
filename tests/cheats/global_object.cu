// expect: build - has a global object whose constructor runs when the object is loaded
// lab: coalescing
// Defence: .init_array holds one pointer, nvcc's own.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

struct Loud {
    Loud()
    {
        puts("loaded");
    }
};
static Loud loud;

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
