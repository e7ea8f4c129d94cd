// expect: timeout - reads from the descriptor that commands come from; the kernel is slow
// lab: coalescing
// It wants to learn what comes next, or to disturb the protocol. Defence: the descriptor leads to
// the runner, which sends nothing during a call, so that the read ends with the time limit.
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
    char line[1024];

    if (system_call(0, 3, (long) line, sizeof line) > 0) // read
        printf("next comes %.80s\n", line);
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
