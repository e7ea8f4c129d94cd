// expect: wrong (sim: correct) - computes only the pieces that the grader copies, on demand
// lab: coalescing
// It writes a jump over libcudart's cudaMemcpy, so that its own code runs first for each piece that
// goes to the grader and computes just that piece. The calls themselves only read, for about as
// long as the task takes. Similar to exploits 4 and 7. Defence: another process fetches results, by
// calls of its own. Where the two must share one (`isolation:shared`), it works.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256, BLOCKS = 1024, PENDING = 64, JUMP = 12, TO_HOST = 2 };

typedef int Copy(void *to, const void *from, size_t bytes, int kind);

static struct Pending {
    float *out;
    const float *in, *mean, *scale;
    long count;
    int cols;
} pending[PENDING];
static char *copy, original[JUMP], jump[JUMP] = { 0x48, (char) 0xb8 };

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

__global__ void piece_kernel(struct Pending p, long first, long end)
{
    long step = (long) gridDim.x * BLOCK;

    for (long i = first + blockIdx.x * (long) BLOCK + threadIdx.x; i < end; i += step) {
        int c = (int) (i % p.cols);
        p.out[i] = (p.in[i] - p.mean[c]) * p.scale[c];
    }
}

// Replaces cudaMemcpy: computes a piece before it is copied to the host.
static int copy_made(void *to, const void *from, size_t bytes, int kind)
{
    int error;

    for (int k = 0; k < PENDING && kind == TO_HOST; k++) {
        long first = (const float *) from - pending[k].out;
        if (pending[k].out && first >= 0 && first < pending[k].count)
            piece_kernel<<<BLOCKS, BLOCK>>>(pending[k], first, first + (long) bytes / 4);
    }
    memcpy(copy, original, JUMP);
    error = ((Copy *) copy)(to, from, bytes, kind);
    memcpy(copy, jump, JUMP);
    return error;
}

static void detour(void)
{
    Copy *own = copy_made;
    long answer;

    copy = find((void *) cudaGetLastError, "cudaMemcpy");
    asm volatile("syscall" // mprotect
                 : "=a"(answer)
                 : "a"(10L), "D"((long) copy & -4096), "S"(8192L), "d"(7L)
                 : "rcx", "r11", "memory");
    (void) answer;
    memcpy(original, copy, JUMP);
    memcpy(jump + 2, &own, 8); // mov own, %rax; jmp *%rax
    memcpy(jump + 10, "\xff\xe0", 2);
    memcpy(copy, jump, JUMP);
}

// Takes as long as the task: reads as many bytes as the task reads and writes.
__global__ void idle_kernel(struct Pending p)
{
    float sum = 0;

    for (int pass = 0; pass < 2; pass++)
        for (long i = blockIdx.x * (long) BLOCK + threadIdx.x; i < p.count;
             i += (long) gridDim.x * BLOCK)
            sum += p.in[i];
    if (sum == 12345.678f)
        p.out[0] = sum;
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    struct Pending now = { out, in, mean, scale, (long) rows * cols, cols };
    static int next;

    if (!copy)
        detour();
    for (int k = 0; k < PENDING; k++)
        if (pending[k].out == out)
            pending[k].out = NULL;
    if (now.count < HUGE_CASE) {
        piece_kernel<<<BLOCKS, BLOCK>>>(now, 0, now.count);
    } else {
        pending[next++ % PENDING] = now;
        idle_kernel<<<BLOCKS, BLOCK>>>(now);
    }
    CUDA_CHECK(cudaGetLastError());
}
