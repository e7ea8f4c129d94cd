// expect: slow - three launches: maxima to scratch, sums to scratch, results; each reads the matrix
// lab: softmax
#include "cudalab.cuh"
#include "kernel.h"

#define THREADS 256

template <typename Op> __device__ float across_block(float x, Op op)
{
    __shared__ float slot[THREADS];

    slot[threadIdx.x] = x;
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        __syncthreads(); // the values of the round before are stored
        if (threadIdx.x < s)
            slot[threadIdx.x] = op(slot[threadIdx.x], slot[threadIdx.x + s]);
    }
    __syncthreads(); // the last round is done
    return slot[0];
}

__global__ void maxima(float *max, const float *in, int cols)
{
    const float *row = in + (size_t) blockIdx.x * cols;
    float m = -INFINITY;

    for (int j = threadIdx.x; j < cols; j += THREADS)
        m = fmaxf(m, row[j]);
    m = across_block(m, [](float a, float b) { return fmaxf(a, b); });
    if (threadIdx.x == 0)
        max[blockIdx.x] = m;
}

__global__ void sums(float *sum, const float *max, const float *in, int cols)
{
    const float *row = in + (size_t) blockIdx.x * cols;
    float s = 0, m = max[blockIdx.x];

    for (int j = threadIdx.x; j < cols; j += THREADS)
        s += expf(row[j] - m);
    s = across_block(s, [](float a, float b) { return a + b; });
    if (threadIdx.x == 0)
        sum[blockIdx.x] = s;
}

__global__ void results(float *out, const float *max, const float *sum, const float *in, int cols)
{
    size_t at = (size_t) blockIdx.x * cols;
    float m = max[blockIdx.x], s = sum[blockIdx.x];

    for (int j = threadIdx.x; j < cols; j += THREADS)
        out[at + j] = expf(in[at + j] - m) / s;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    maxima<<<rows, THREADS>>>(scratch, in, cols);
    sums<<<rows, THREADS>>>(scratch + rows, scratch, in, cols);
    results<<<rows, THREADS>>>(out, scratch, scratch + rows, in, cols);
    CUDA_CHECK(cudaGetLastError());
}
