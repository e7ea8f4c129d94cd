// expect: crash - has the kernel send signals to the grader whenever a pipe can be read
// lab: coalescing
// fcntl names the process and the signal (here one that is ignored; SIGKILL would work as well),
// and kill is never called. Defence: seccomp kills the process at F_SETOWN, F_SETOWN_EX and
// F_SETSIG.
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
    system_call(72, 3, 10, 28);                       // fcntl(3, F_SETSIG, SIGWINCH)
    system_call(72, 3, 8, system_call(110, 0, 0, 0)); // fcntl(3, F_SETOWN, getppid())
    system_call(72, 3, 4, 020000 | 04000);            // fcntl(3, F_SETFL, O_ASYNC | O_NONBLOCK)
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
