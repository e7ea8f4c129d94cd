// expect: crash (sim: skipped) - takes all memory of the GPU that is left, and keeps it
// lab: coalescing
// Defence: if the arrays fit only after the guest is killed, the submission is at fault.
#include "cudalab.cuh"
#include "kernel.h"

enum { ROWS = 4, BLOCK = 256 };

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

static char *find(void *inside, const char *name)
{
    char *base = (char *) ((long) inside & -4096), *dynamic = NULL, *symbol = NULL, *text = NULL;

    while (memcmp(base, "\177ELF", 4))
        base -= 4096;
    for (int i = 0; i < *(short *) (base + 56); i++) {
        char *header = base + *(long *) (base + 32) + 56 * i;
        if (*(int *) header == 2) // PT_DYNAMIC
            dynamic = base + *(long *) (header + 16);
    }
    for (long *d = (long *) dynamic; d[0]; d += 2) {
        text = d[0] == 5 ? (char *) d[1] : text;     // DT_STRTAB
        symbol = d[0] == 6 ? (char *) d[1] : symbol; // DT_SYMTAB
    }
    while (memcmp(text + *(int *) symbol, name, strlen(name) + 1))
        symbol += 24;
    return base + *(long *) (symbol + 8);
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    typedef int Take(void **, size_t);
    static int calls;
    void *none;
    long taken = 0;

    if (!calls++) {
        for (size_t bytes = (size_t) 16 << 30; bytes >= 2 << 20; bytes /= 2)
            for (int i = 0;
                 i < 16 && !((Take *) find((void *) cudaGetLastError, "cudaMalloc"))(&none, bytes);
                 i++)
                taken += bytes >> 20;
        cudaGetLastError(); // clears the error of the last allocation
        printf("%ld MiB taken\n", taken);
        fflush(stdout);
    }
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
