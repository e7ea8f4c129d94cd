// expect: slow - the starter's idea, written differently: one feature per block, one row per thread
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

__global__ void feature(float *out, const float *in, const float *mean, const float *scale,
                        int rows, int cols)
{
    __shared__ float mu, sigma;
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;

    if (threadIdx.x == 0) {
        mu = mean[c];
        sigma = scale[c];
    }
    // Separates one thread's loads of mean and scale from their use by all threads.
    __syncthreads();
    if (r < rows)
        out[r * cols + c] = (in[r * cols + c] - mu) * sigma;
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 grid((rows + 511) / 512, cols);

    feature<<<grid, 512>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
