// expect: crash - fills files in memory that no process maps
// lab: coalescing
// Defence: seccomp kills memfd_create in the guest.
#include "cudalab.cuh"
#include "kernel.h"

enum { ROWS = 4, BLOCK = 256, FILES = 112, PIECE = 1 << 20 };

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

static long system_call(long number, long a, long b, long c)
{
    long answer;

    asm volatile("syscall"
                 : "=a"(answer)
                 : "a"(number), "D"(a), "S"(b), "d"(c)
                 : "rcx", "r11", "memory");
    return answer;
}

static char piece[PIECE];

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    static int files;

    for (int now = 0; files < FILES && now < 16; files++, now++) {
        long file = system_call(319, (long) "hog", 0, 0), written = 0; // memfd_create
        for (int i = 0; i < 64 && file >= 0; i++)
            written += system_call(1, file, (long) piece, PIECE) == PIECE;
        if (written < 63) {
            printf("file %d: %ld, %ld MiB written\n", files, file, written);
            break;
        }
    }
    if (files == FILES) {
        printf("%d files of 64 MiB are held\n", files++);
        fflush(stdout);
    }
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
