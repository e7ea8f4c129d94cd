// expect: wrong - float4, and columns counted as if every row were whole vectors
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WIDE = 4 };

// A thread takes WIDE consecutive elements.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int count, int cols)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) * WIDE;
    int quad = i / WIDE % ceil_div(cols, WIDE) * WIDE, last = cols - 1;
    int a = min(quad, last), b = min(quad + 1, last), c = min(quad + 2, last),
        d = min(quad + 3, last);

    if (i <= count - WIDE) {
        float4 x = *(const float4 *) &in[i];
        *(float4 *) &out[i] = make_float4((x.x - mean[a]) * scale[a], (x.y - mean[b]) * scale[b],
                                          (x.z - mean[c]) * scale[c], (x.w - mean[d]) * scale[d]);
    } else {
        for (int k = i; k < count; k++)
            out[k] = (in[k] - mean[k % cols]) * scale[k % cols];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int count = rows * cols;

    standardise_kernel<<<ceil_div(count, BLOCK * WIDE), BLOCK>>>(out, in, mean, scale, count, cols);
    CUDA_CHECK(cudaGetLastError());
}
