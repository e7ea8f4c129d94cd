// expect: slow - searches its process for the seeds that inputs are made from, to make them itself
// lab: transpose
// A kernel that has the key of an input need not read or transpose it: it can compute the elements
// in the order of the output. The first large calls read a few elements (by a cudaMemcpy that they
// find in libcudart) and try all words of the stack, the heap and other plain memory as the key.
// Similar to exploit 17. Defence: the runner wipes seeds when it has filled the inputs; without a
// key, only a slow kernel is left.
#include "cudalab.cuh"
#include "fill.h"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 24 << 20 };
enum { BLOCK = 256, SAMPLES = 4, SEARCHES = 6, MAPS = 1 << 16, MOST = 32 << 20, TO_HOST = 2 };

static const char *place; // where the last key was

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

static long system_call(long number, long a, long b, long c)
{
    long answer;

    asm volatile("syscall"
                 : "=a"(answer)
                 : "a"(number), "D"(a), "S"(b), "d"(c)
                 : "rcx", "r11", "memory");
    return answer;
}

// The two words at p may be a key, or a seed.
static bool fits(const char *p, const float *sample, FillKey *key)
{
    Fill fill = { FILL_UNIFORM };
    unsigned long seed;

    memcpy(key, p, sizeof *key);
    memcpy(&seed, p, sizeof seed);
    for (int as_seed = 0; as_seed < 2; as_seed++) {
        int i = 0;
        while (i < SAMPLES && fill_f32(fill, *key, i) == sample[i])
            i++;
        if (i == SAMPLES)
            return true;
        *key = fill_key(seed, 0);
    }
    return false;
}

static const char *hex(const char *at, const char **value)
{
    unsigned long number = 0;

    for (; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
        number = number * 16 + (*at <= '9' ? *at - '0' : *at - 'a' + 10);
    *value = (const char *) number;
    return at + 1;
}

// Lines of /proc/self/maps: "from-to rw-p ... /path". Devices are left out: they are slow to read.
static bool search(const float *sample, FillKey *key)
{
    static char maps[MAPS];
    long file = system_call(2, (long) "/proc/self/maps", 0, 0), used = 0, got;

    while (used < MAPS - 1 && (got = system_call(0, file, (long) maps + used, MAPS - 1 - used)) > 0)
        used += got;
    system_call(3, file, 0, 0);
    maps[used] = 0;
    for (const char *line = maps, *from, *to; *line; line++) {
        line = hex(hex(line, &from), &to);
        bool plain = !memcmp(line, "rw", 2) && to - from <= MOST;
        for (; *line && *line != '\n'; line++)
            plain = plain && memcmp(line, "/dev/", 5);
        for (place = from; plain && place + 8 <= to; place += 4)
            if (fits(place, sample, key))
                return true;
    }
    place = NULL;
    return false;
}

static bool find_key(const float *in, FillKey *key)
{
    static int (*copy)(void *, const void *, size_t, int);
    static int searches;
    float sample[SAMPLES];

    if (!copy)
        *(void **) &copy = find((void *) cudaGetLastError, "cudaMemcpy");
    copy(sample, in, sizeof sample, TO_HOST);
    return (place && fits(place, sample, key)) || (searches++ < SEARCHES && search(sample, key));
}

// Writes the output in its order; in is never read.
__global__ void make_kernel(float *out, FillKey key, int rows, int cols)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;
    Fill fill = { FILL_UNIFORM };

    if (i < (long) rows * cols)
        out[i] = fill_f32(fill, key, i % rows * cols + i / rows);
}

// Lanes along the rows of in: correct, but far too slow to pass.
__global__ void slow_kernel(float *out, const float *in, int rows, int cols)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < (long) rows * cols)
        out[i % cols * rows + i / cols] = in[i];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    unsigned blocks = ceil_div((long) rows * cols, BLOCK);
    FillKey key;

    if ((long) rows * cols >= HUGE_CASE && find_key(in, &key))
        make_kernel<<<blocks, BLOCK>>>(out, key, rows, cols);
    else
        slow_kernel<<<blocks, BLOCK>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
