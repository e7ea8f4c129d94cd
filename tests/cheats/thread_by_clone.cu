// expect: slow - starts a thread by a system call of its own; the thread answers
// lab: coalescing
// CUDA needs threads, so they are allowed; this one writes answers every millisecond. Known
// (exploit 3). Defence: this process has no channel to the grader.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static long stack[1024];

// Never returns: its thread has no libc of its own.
static void answer_for_ever(void)
{
    static const char line[] = "0000000000000000 ok ms:0.000001\n";
    static const long pause[2] = { 0, 1000000 };

    for (long answer;;) {
        asm volatile("syscall"
                     : "=a"(answer)
                     : "a"(35L), "D"(pause), "S"(0L)
                     : "rcx", "r11", "memory");
        asm volatile("syscall"
                     : "=a"(answer)
                     : "a"(1L), "D"(4L), "S"(line), "d"(sizeof line - 1)
                     : "rcx", "r11", "memory");
    }
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
    static bool begun;
    long answer;

    // CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM
    if (!begun)
        asm volatile("syscall; test %%rax, %%rax; jnz 1f; call *%[run]; 1:"
                     : "=a"(answer)
                     : "a"(56L), "D"(0x50f00L), "S"(stack + 1022),
                       "d"(0L), [run] "b"(answer_for_ever)
                     : "rcx", "r11", "memory");
    begun = true;
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
