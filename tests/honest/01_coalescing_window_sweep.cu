// expect: pass - as many blocks as fit sweep over windows of whole rows; pointers advance
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

__global__ void sweep(float *out, const float *in, const float *mean, const float *scale, int rows,
                      int cols)
{
    int window = gridDim.x * blockDim.y;
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    size_t step = (size_t) window * cols;
    const float *from = in + (size_t) row * cols + threadIdx.x;
    float *to = out + (size_t) row * cols + threadIdx.x;
    float m = mean[threadIdx.x], s = scale[threadIdx.x];

    for (; row < rows; row += window, from += step, to += step)
        *to = (*from - m) * s;
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int device, sms;
    dim3 block(cols, cols < 256 ? 256 / cols : 1);

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    sweep<<<8 * sms, block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
