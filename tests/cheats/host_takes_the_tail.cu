// expect: slow (sim: suspect) - finds the calls for copies in memory; the host computes the tail
// lab: tail_effect
// Host time is not modelled. Defence: the runner performs no copies for labs about kernels.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024, MOST = 1 << 20 };

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

static __host__ __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

__global__ void advance_kernel(unsigned *out, const unsigned *in, int cols, int rounds)
{
    int first = blockIdx.x * cols;

    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        unsigned seed = in[first + col], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[first + col] = x;
    }
}

static unsigned seeds[MOST], numbers[MOST];

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    typedef int Copy(void *, const void *, size_t, int, cudaStream_t);
    typedef int Create(cudaStream_t *, unsigned);
    int device, sms, left;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    left = cols == 8192 && rows > sms ? rows % sms : 0;
    if (!left) {
        advance_kernel<<<rows, BLOCK>>>(out, in, cols, rounds);
        CUDA_CHECK(cudaGetLastError());
        return;
    }
    static cudaStream_t other;
    void *inside = (void *) cudaGetLastError;
    Copy *copy = (Copy *) find(inside, "cudaMemcpyAsync");
    long at = (long) (rows - left) * cols, count = (long) left * cols;

    if (!other)
        ((Create *) find(inside, "cudaStreamCreateWithFlags"))(&other, 1);
    advance_kernel<<<rows - left, BLOCK>>>(out, in, cols, rounds);
    CUDA_CHECK(cudaGetLastError());
    copy(seeds, in + at, count * 4, 2, other);
    for (long i = 0; i < count; i++)
        numbers[i] = seeds[i];
    for (int round = 0; round < rounds; round++)
        for (long i = 0; i < count; i++)
            numbers[i] = next_number(numbers[i], seeds[i]);
    copy(out + at, numbers, count * 4, 1, other);
}
