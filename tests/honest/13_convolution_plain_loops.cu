// expect: slow - two passes with loops whose length is known at run time only, four rows per thread
// lab: convolution
#include "cudalab.cuh"
#include "kernel.h"

static const int threads = 256, per_thread = 4;

__global__ void rows_pass(float *tmp, const float *__restrict__ in, long rows, long cols,
                          __grid_constant__ const Filter f)
{
    for (long p = blockIdx.x * (long) blockDim.x + threadIdx.x; p < rows * cols;
         p += (long) gridDim.x * blockDim.x) {
        const long x = p % cols;
        const float *row = in + (p - x);
        float sum = 0;
        if (x >= f.radius && x + f.radius < cols)
            for (int j = -f.radius; j <= f.radius; j++)
                sum = fmaf(f.across[REACH + j], __ldg(row + x + j), sum);
        else
            for (int j = -f.radius; j <= f.radius; j++)
                sum = fmaf(f.across[REACH + j], __ldg(row + max(0L, min(cols - 1, x + j))), sum);
        tmp[p] = sum;
    }
}

__global__ void columns_pass(float *out, const float *__restrict__ tmp, int rows, int cols,
                             __grid_constant__ const Filter f)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * per_thread;
    float sum[per_thread] = { 0, 0, 0, 0 };

    if (x >= cols)
        return;
    for (int i = -f.radius; i < per_thread + f.radius; i++) {
        const float value = __ldg(tmp + max(0, min(rows - 1, y + i)) * (long) cols + x);
        for (int k = 0; k < per_thread; k++)
            if (abs(i - k) <= f.radius)
                sum[k] = fmaf(f.down[REACH + i - k], value, sum[k]);
    }
    for (int k = 0; k < per_thread && y + k < rows; k++)
        out[(y + k) * (long) cols + x] = sum[k];
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    rows_pass<<<4096, threads>>>(scratch, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
    columns_pass<<<dim3(ceil_div(cols, threads), ceil_div(rows, per_thread)), threads>>>(
        out, scratch, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}
