// expect: build - calls cublasSgemm, which it declares itself: no header is read
// lab: coalescing
// Known (exploit 23). Defence: the library's names are not on the list of symbols, and nothing
// links to it.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" int cublasSgemm_v2(void *, int, int, int, int, int, const float *, ...);

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
    cublasSgemm_v2(NULL, 0, 0, rows, cols, 1, in);
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
