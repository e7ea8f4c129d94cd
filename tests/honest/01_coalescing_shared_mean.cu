// expect: pass - mean and scale staged in shared memory, four windows per block
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

enum { THREADS = 256, PER_THREAD = 4, MOST_COLS = 1024 };

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int n, int cols)
{
    __shared__ float sh_mean[MOST_COLS];
    __shared__ float sh_scale[MOST_COLS];
    int base = blockIdx.x * THREADS * PER_THREAD + threadIdx.x;
    float x[PER_THREAD];

    for (int k = 0; k < PER_THREAD; k++)
        if (base + k * THREADS < n)
            x[k] = in[base + k * THREADS];
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        sh_mean[c] = mean[c];
        sh_scale[c] = scale[c];
    }
    // Separates filling the two tables from using them; all threads do both.
    __syncthreads();
    for (int k = 0; k < PER_THREAD; k++) {
        int i = base + k * THREADS;
        int c = i % cols;
        if (i < n)
            out[i] = (x[k] - sh_mean[c]) * sh_scale[c];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int n = rows * cols;

    standardise_kernel<<<ceil_div(n, THREADS * PER_THREAD), THREADS>>>(out, in, mean, scale, n,
                                                                       cols);
    CUDA_CHECK(cudaGetLastError());
}
