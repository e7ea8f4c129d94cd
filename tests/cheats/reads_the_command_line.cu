// expect: slow - looks for the seed in the command line of the grader; the kernel is slow
// lab: coalescing
// Any process may read the command line of any other. Known (exploit 17). Defence: seeds are drawn
// in the grader and sent through a pipe; only a replay (--seed) has one in its command line.
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
    char path[40], text[1024] = "";

    snprintf(path, sizeof path, "/proc/%ld/cmdline", system_call(110, 0, 0, 0)); // getppid
    long fd = system_call(2, (long) path, 0, 0), size = system_call(0, fd, (long) text, 1000);
    for (long i = 0; i + 7 < size; i++)
        if (!memcmp(text + i, "--seed", 6))
            abort(); // the seed would be here
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
