// expect: slow - prints the lines that it expects a grader to read; the kernel is slow
// lab: coalescing
// It prints eight megabytes of them per call. Known from CS149's checker (exploit 1), and as a
// flood (26). Defence: results are never read from what is printed; answers come on a descriptor of
// their own, with the tag of the question.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, LINES = 200000 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
    for (int i = 0; i < LINES; i++)
        printf("0000000000000000 ok ms:0.000001\nverdict:pass\n");
}
