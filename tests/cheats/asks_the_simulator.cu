// expect: build - makes the simulated GPU forget its findings, by the library's own call
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

extern "C" void simForget(void);

static __global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                          const float *scale, int rows, int cols)
{
    size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;

    if (i < (size_t) rows * cols)
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<ceil_div(rows * cols, 256), 256>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    simForget();
}
