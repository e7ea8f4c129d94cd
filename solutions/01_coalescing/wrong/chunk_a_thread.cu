// expect: device - correct, each thread has its own run of elements, as in an OpenMP loop
// This is slow on nearly every GPU; where L1 is large and memory is slow (RTX 4090), L1 keeps most
// of its sectors.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// Each thread gets one chunk of the elements, so neighbouring threads are a whole chunk apart.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int count, int cols)
{
    int chunk = ceil_div(count, (int) (gridDim.x * BLOCK));
    int first = (blockIdx.x * BLOCK + threadIdx.x) * chunk;
    int last = first + chunk < count ? first + chunk : count;

    for (int i = first; i < last; i++)
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    // As many threads as the GPU holds.
    int sms, blocks_an_sm;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_an_sm, standardise_kernel, BLOCK, 0));

    standardise_kernel<<<sms * blocks_an_sm, BLOCK>>>(out, in, mean, scale, rows * cols, cols);
    CUDA_CHECK(cudaGetLastError());
}
