// expect: device - one row per thread in float4: the next instruction uses the rest of a sector
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

__global__ void row_kernel(float *out, const float *in, const float *mean, const float *scale,
                           int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;

    const float *src = in + (size_t) row * cols;
    float *dst = out + (size_t) row * cols;
    int c = 0;

    if (cols % 4 == 0)
        for (; c < cols; c += 4) {
            float4 v = *(const float4 *) (src + c);
            v.x = (v.x - mean[c]) * scale[c];
            v.y = (v.y - mean[c + 1]) * scale[c + 1];
            v.z = (v.z - mean[c + 2]) * scale[c + 2];
            v.w = (v.w - mean[c + 3]) * scale[c + 3];
            *(float4 *) (dst + c) = v;
        }
    for (; c < cols; c++)
        dst[c] = (src[c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    row_kernel<<<(rows + 127) / 128, 128>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
