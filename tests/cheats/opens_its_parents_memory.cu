// expect: slow - opens the memory of the grader, which knows all seeds; the kernel is slow
// lab: coalescing
// It would abort (`crash`) if it succeeded. Defence: the grader may not be dumped, which excludes
// all but root, and with Landlock a restricted process cannot inspect an unrestricted one.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static long system_call(long number, long a, long b, long c)
{
    long answer;

    asm volatile("syscall"
                 : "=a"(answer)
                 : "a"(number), "D"(a), "S"(b), "d"(c)
                 : "rcx", "r11", "memory");
    return answer;
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
    char path[40];

    snprintf(path, sizeof path, "/proc/%ld/mem", system_call(110, 0, 0, 0)); // getppid
    if (system_call(2, (long) path, 2, 0) >= 0) // open, to read and write
        abort();
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
