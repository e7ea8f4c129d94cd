// expect: slow, clock - writes a jump over cudaEventElapsedTime that claims 1 ms per sample
// lab: coalescing
// The library is found in memory by its ELF header, and made writable by a system call. Known
// (exploit 4). Defence: the parent has a clock of its own, and where the two disagree the longer
// time counts.
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

static int claim_time(float *ms, void *begin, void *end)
{
    *ms = 1;
    return 0;
}

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
    static char jump[12] = { 0x48, (char) 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, (char) 0xff, (char) 0xe0 };
    char *from = find((void *) cudaGetLastError, "cudaEventElapsedTime");
    void *to = (void *) claim_time;

    memcpy(jump + 2, &to, 8);                      // mov to, %rax; jmp *%rax
    system_call(10, (long) from & -4096, 8192, 7); // mprotect
    memcpy(from, jump, sizeof jump);
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
