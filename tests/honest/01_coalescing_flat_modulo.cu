// expect: device - the table as one long vector, size_t throughout, a division for each element
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

__global__ void standardize(float *out, const float *in, const float *mean, const float *scale,
                            size_t rows, size_t cols)
{
    const size_t tid = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < rows * cols) {
        const size_t feature = tid % cols;
        out[tid] = (in[tid] - mean[feature]) * scale[feature];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    const size_t n = (size_t) rows * (size_t) cols;
    const unsigned int threads = 256;
    const unsigned int blocks = (unsigned int) ((n + threads - 1) / threads);

    standardize<<<blocks, threads>>>(out, in, mean, scale, (size_t) rows, (size_t) cols);
    CUDA_CHECK(cudaGetLastError());
}
