// expect: slow - finds the tag of the question on its stack and answers in time
// lab: coalescing
// The true answer comes from the runner when the slow kernel is done. Known (exploit 2). Defence:
// the question and its tag are in the runner, so this stack does not contain them.
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
    const char *at = (const char *) &rows; // the runner is in the middle of "TAG go CALLS"

    for (int i = 0; (long) rows * cols > 1 << 20 && i < 1024; i++, at++)
        if (strlen(at) == 16 && !memcmp(at + 17, "go", 3)) {
            char line[64];
            int length = snprintf(line, sizeof line, "%s ok ms:4.6\n", at);
            system_call(1, 4, (long) line, length); // write
            break;
        }
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
