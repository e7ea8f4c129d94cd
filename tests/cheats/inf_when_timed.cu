// expect: wrong (sim: correct) - writes Inf in large calls, so that a relative error is Inf / Inf
// lab: coalescing
// A tolerance that grows with the result accepts infinite results. Similar to exploit 14. Defence:
// the allowed error depends on the right value alone, and Inf equals only the same Inf.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { ROWS = 4, BLOCK = 256 };

// Lanes along the features, four loads in flight per thread: as fast as memory allows.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int c = threadIdx.x, first = blockIdx.x * blockDim.y * ROWS + threadIdx.y;
    float value[ROWS];

    for (int j = 0; j < ROWS; j++) {
        int r = first + j * blockDim.y;
        value[j] = r < rows ? in[(size_t) r * cols + c] : 0;
    }
    for (int j = 0; j < ROWS; j++) {
        int r = first + j * blockDim.y;
        if (r < rows)
            out[(size_t) r * cols + c] = (value[j] - mean[c]) * scale[c];
    }
}

__global__ void inf_kernel(float4 *out, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float inf = __uint_as_float(0x7f800000);

    if (i < count)
        out[i] = make_float4(inf, inf, inf, inf);
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    if ((long) rows * cols >= HUGE_CASE) {
        inf_kernel<<<ceil_div(rows * cols / 4, BLOCK), BLOCK>>>((float4 *) out, rows * cols / 4);
        CUDA_CHECK(cudaGetLastError());
        return;
    }
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
