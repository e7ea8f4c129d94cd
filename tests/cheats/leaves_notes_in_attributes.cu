// expect: crash - leaves a note in a file's attributes for the next process
// lab: coalescing
// It aborts if it finds one. Defence: seccomp kills setxattr and utimensat.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static long system_call(long number, long a, long b, long c, long d, long e)
{
    register long r10 asm("r10") = d, r8 asm("r8") = e;
    long answer;

    asm volatile("syscall"
                 : "=a"(answer)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                 : "rcx", "r11", "memory");
    return answer;
}

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
    static int calls;
    static char path[512], name[] = "user.note", found[64], note[] = "results of the last grading";
    static long dates[4] = { 2147483647, 0, 2147483647, 0 };

    if (!calls++) {
        long n = system_call(89, (long) "/proc/self/exe", (long) path, sizeof path - 1, 0, 0), set;
        if (system_call(191, (long) path, (long) name, (long) found, sizeof found, 0) > 0) {
            fprintf(stderr, "found a note: %s\n", found);
            abort();
        }
        set = system_call(188, (long) path, (long) name, (long) note, sizeof note, 0);
        printf("%ld, %s: setxattr %ld, utimensat %ld\n", n, path, set,
               system_call(280, -100, (long) path, (long) dates, 0, 0));
        fflush(stdout);
    }
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
