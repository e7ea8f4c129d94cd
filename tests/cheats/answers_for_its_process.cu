// expect: suspect (sim: crash) - answers the runner instead of the program that called the kernel
// lab: coalescing
// The kernel is slow. A system call writes the frame "done, 0.01 ms" to the socket between the two
// processes. Defence: an answer decides nothing; outputs are checked and the time is the parent's.
// The real answer follows without a question, which is reported.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, SOCKET = 3, OK = 64 };

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
    const struct {
        unsigned kind, bytes;
        double ms;
    } done = { OK, sizeof(double), 0.01 };

    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
    if ((long) rows * cols > 1 << 16)
        system_call(1, SOCKET, (long) &done, sizeof done); // write
}
