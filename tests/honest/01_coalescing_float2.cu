// expect: pass - float2 along the rows, two rows per thread; odd widths by a scalar kernel
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

__global__ void by_twos(float2 *out, const float2 *in, const float2 *mean, const float2 *scale,
                        int rows, int pairs)
{
    int p = threadIdx.x;
    int r0 = blockIdx.x * blockDim.y * 2 + threadIdx.y;
    int r1 = r0 + blockDim.y;
    float2 m = mean[p], s = scale[p];
    float2 a = make_float2(0, 0), b = a;

    if (r0 < rows)
        a = in[r0 * pairs + p];
    if (r1 < rows)
        b = in[r1 * pairs + p];
    a.x = (a.x - m.x) * s.x;
    a.y = (a.y - m.y) * s.y;
    b.x = (b.x - m.x) * s.x;
    b.y = (b.y - m.y) * s.y;
    if (r0 < rows)
        out[r0 * pairs + p] = a;
    if (r1 < rows)
        out[r1 * pairs + p] = b;
}

__global__ void by_ones(float *out, const float *in, const float *mean, const float *scale,
                        int rows, int cols)
{
    for (int r = blockIdx.x * 4; r < rows && r < blockIdx.x * 4 + 4; r++)
        for (int c = threadIdx.x; c < cols; c += blockDim.x)
            out[r * cols + c] = (in[r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    if (cols % 2 == 0) {
        int pairs = cols / 2;
        dim3 block(pairs, pairs < 256 ? 256 / pairs : 1);
        by_twos<<<ceil_div(rows, block.y * 2), block>>>((float2 *) out, (const float2 *) in,
                                                        (const float2 *) mean,
                                                        (const float2 *) scale, rows, pairs);
    } else {
        by_ones<<<ceil_div(rows, 4), 128>>>(out, in, mean, scale, rows, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
