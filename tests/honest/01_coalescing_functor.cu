// expect: pass - C++: a functor, a template over the elements per thread
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

namespace
{

struct Standardiser {
    const float *mean;
    const float *scale;

    __device__ float operator()(float x, int column) const
    {
        return (x - mean[column]) * scale[column];
    }
};

template <int PerThread, typename Operation>
__global__ void transform_columns(float *out, const float *in, int rows, int cols, Operation op)
{
    const int column = threadIdx.x;
    const int tile = blockIdx.x * blockDim.y * PerThread;
    float values[PerThread];

#pragma unroll
    for (int k = 0; k < PerThread; ++k) {
        const int row = tile + k * blockDim.y + threadIdx.y;
        if (row < rows)
            values[k] = in[row * cols + column];
    }
#pragma unroll
    for (int k = 0; k < PerThread; ++k) {
        const int row = tile + k * blockDim.y + threadIdx.y;
        if (row < rows)
            out[row * cols + column] = op(values[k], column);
    }
}

} // namespace

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    constexpr int per_thread = 4;
    const dim3 block(cols, cols < 128 ? 512 / cols : 1);
    const int blocks = ceil_div(rows, block.y * per_thread);

    transform_columns<per_thread>
        <<<blocks, block>>>(out, in, rows, cols, Standardiser{ mean, scale });
    CUDA_CHECK(cudaGetLastError());
}
