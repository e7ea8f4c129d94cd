// expect: slow - redirects its stdout to the descriptor for answers, and prints one
// lab: coalescing
// No system call is needed: FILE is a struct that any code may write to. Known (exploit 2).
// Defence: this process has no descriptor for answers to the grader.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

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
    int kept = stdout->_fileno;

    fflush(stdout);
    stdout->_fileno = 4;
    printf("0000000000000000 ok ms:0.000001\n");
    fflush(stdout);
    stdout->_fileno = kept;
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
