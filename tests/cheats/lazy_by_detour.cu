// expect: wrong (sim: slow) - rewrites the runner's functions: waits end immediately, times shrink
// lab: coalescing
// The kernel is slow. Its first call finds libcudart in memory and writes a jump over two of its
// functions: waiting for the device returns immediately, and the time between events is that of a
// good kernel. The work ends when the grader asks for results. Known (exploit 4, 7). Defence: the
// parent's clock runs until it has a piece of an output, and counts if the events disagree.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static const double claim_ms = 4.6; // a sample of the reference takes 5 ms or a little more

static long system_call(long number, long a, long b, long c)
{
    long answer;

    asm volatile("syscall"
                 : "=a"(answer)
                 : "a"(number), "D"(a), "S"(b), "d"(c)
                 : "rcx", "r11", "memory");
    return answer;
}

static int no_wait(void)
{
    return 0;
}

static int claim_time(float *ms, void *begin, void *end)
{
    long t0[2], t[2];

    system_call(228, 1, (long) t0, 0); // clock_gettime
    do
        system_call(228, 1, (long) t, 0);
    while ((t[0] - t0[0]) * 1e3 + (t[1] - t0[1]) * 1e-6 < claim_ms);
    *ms = claim_ms;
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

static void detour(const char *name, void *to)
{
    char jump[12] = { 0x48, (char) 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, (char) 0xff, (char) 0xe0 };
    char *from = find((void *) cudaGetLastError, name);

    memcpy(jump + 2, &to, 8);                      // mov to, %rax; jmp *%rax
    system_call(10, (long) from & -4096, 8192, 7); // mprotect
    memcpy(from, jump, sizeof jump);
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
    static bool done;

    if (!done) {
        detour("cudaDeviceSynchronize", (void *) no_wait);
        detour("cudaEventElapsedTime", (void *) claim_time);
        done = true;
    }
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
