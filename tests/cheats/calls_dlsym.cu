// expect: build - asks dlsym for a function that it may not link to
// lab: coalescing
// Known (exploit 27). Defence: dlsym is not an allowed symbol.
#include "cudalab.cuh"
#include "kernel.h"
#include <dlfcn.h>

enum { BLOCK = 256 };

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
    typedef cudaError_t Wait(void);

    ((Wait *) dlsym(RTLD_DEFAULT, "cudaDeviceSynchronize"))();
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
