// expect: slow - leaves a file in memory for the next process to find; the kernel is slow
// lab: coalescing
// It would abort (`crash`) if it succeeded. Runs that know about each other could distinguish the
// first from the second. Defence: Landlock prevents creating files, even in /dev.
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
    if (system_call(2, (long) "/dev/shm/warpbook-cheat", 0102, 0600) >= 0) // open, to create
        abort();
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
