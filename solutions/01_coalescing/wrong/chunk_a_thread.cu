// expect: slow - right, each thread its own run of elements, as OpenMP shares out a loop
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, BLOCKS = 1024, THREADS = BLOCKS * BLOCK };

// The elements are cut into one chunk a thread, so neighbouring threads are a whole chunk apart.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int count, int cols)
{
    int chunk = ceil_div(count, THREADS);
    int first = (blockIdx.x * BLOCK + threadIdx.x) * chunk;
    int last = first + chunk < count ? first + chunk : count;

    for (int i = first; i < last; i++)
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<BLOCKS, BLOCK>>>(out, in, mean, scale, rows * cols, cols);
    CUDA_CHECK(cudaGetLastError());
}
