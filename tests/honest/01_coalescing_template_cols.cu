// expect: pass - the width as a template argument where it is a power of two up to 256
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

template <int COLS>
__global__ void fixed_width(float *out, const float *in, const float *mean, const float *scale,
                            int count)
{
    int first = blockIdx.x * 1024 + threadIdx.x;
    int col = threadIdx.x % COLS;
    float m = mean[col], s = scale[col];
    float a = 0, b = 0, c = 0, d = 0;

    if (first < count)
        a = in[first];
    if (first + 256 < count)
        b = in[first + 256];
    if (first + 512 < count)
        c = in[first + 512];
    if (first + 768 < count)
        d = in[first + 768];
    if (first < count)
        out[first] = (a - m) * s;
    if (first + 256 < count)
        out[first + 256] = (b - m) * s;
    if (first + 512 < count)
        out[first + 512] = (c - m) * s;
    if (first + 768 < count)
        out[first + 768] = (d - m) * s;
}

__global__ void any_width(float *out, const float *in, const float *mean, const float *scale,
                          int count, int cols)
{
    int i = blockIdx.x * 1024 + threadIdx.x;

    for (int k = 0; k < 4; k++, i += 256)
        if (i < count)
            out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int count = rows * cols;
    int blocks = ceil_div(count, 1024);

    switch (cols) {
    case 1:
        fixed_width<1><<<blocks, 256>>>(out, in, mean, scale, count);
        break;
    case 2:
        fixed_width<2><<<blocks, 256>>>(out, in, mean, scale, count);
        break;
    case 4:
        fixed_width<4><<<blocks, 256>>>(out, in, mean, scale, count);
        break;
    case 16:
        fixed_width<16><<<blocks, 256>>>(out, in, mean, scale, count);
        break;
    case 256:
        fixed_width<256><<<blocks, 256>>>(out, in, mean, scale, count);
        break;
    default:
        any_width<<<blocks, 256>>>(out, in, mean, scale, count, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
