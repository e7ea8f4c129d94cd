// expect: slow (sim: suspect) - finds cudaStreamCreateWithFlags in memory and works on that stream
// lab: coalescing
// The list of symbols shows what an object links to, but not what it finds in memory at run time.
// Known (exploits 6, 27). Defence: a sample ends when the whole device is idle, by the parent's
// clock.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// Finds the function `name` in the library that contains the address `inside`, by its ELF symbols.
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
    static cudaStream_t stream;
    typedef int Create(cudaStream_t *, unsigned);

    if (!stream)
        ((Create *) find((void *) cudaGetLastError, "cudaStreamCreateWithFlags"))(&stream, 1);
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK, 0, stream>>>(out, in, mean,
                                                                                scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
