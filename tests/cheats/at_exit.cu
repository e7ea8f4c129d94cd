// expect: slow - registers a function that answers at the end of the process; the kernel is slow
// lab: coalescing
// nvcc's own code calls atexit, so it is allowed. Known (exploit 2). Defence: the runner exits
// without calling such functions, and the last answer does not decide a result.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static void last_words(void)
{
    stdout->_fileno = 4;
    puts("0000000000000000 ok ms:0.000001");
}

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
    static bool known;

    if (!known)
        atexit(last_words);
    known = true;
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
