// expect: crash - installs a filter for the system calls of its process, by prctl
// lab: coalescing
// Like filters_system_calls, but by the older of the two ways. Known (exploit 3). Defence: seccomp
// refuses both.
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
    static const struct {
        unsigned short code;
        unsigned char yes, no;
        unsigned k;
    } allow = { 6, 0, 0, 0x7fff0000 }; // BPF_RET, SECCOMP_RET_ALLOW
    static const struct {
        unsigned short count;
        const void *steps;
    } filter = { 1, &allow };

    system_call(157, 22, 2, (long) &filter); // prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER)
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
