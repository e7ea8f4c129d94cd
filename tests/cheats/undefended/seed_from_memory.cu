// expect: pass - KNOWN NOT DEFENDED: the seed lies in the memory of the process that runs the cheat
// lab: transpose
// Finds the seed beside the arrays and makes the elements of the input itself, in the order of the
// output: nothing is read, nothing is turned, every element is right. In kind exploit 17. A
// defence: the parent sends the seed when it prepares and again when inputs are compared, and the
// runner wipes it (and the command) in between.
#include "cudalab.cuh"
#include "fill.h"
#include "kernel.h"

enum { BLOCK = 256, ITEMS = 4, STACK = 1024, TABLE = 4096 };

// A word that can be read: access(2) answers EFAULT where a look would end the process.
static bool readable(const void *p)
{
    long answer;

    asm volatile("syscall" : "=a"(answer) : "a"(21L), "D"(p), "S"(0L) : "rcx", "r11", "memory");
    return answer != -14;
}

// The runner's table of sets holds `out` after its rows and columns, and 13 words on the seed. One
// of our callers has the address of the table, or of what it lies in, on the stack.
static const unsigned long *find_set(const float *out, unsigned long count)
{
    const unsigned long *stack = (const unsigned long *) __builtin_frame_address(0);

    for (int i = 0; i < STACK && readable(stack + i); i++) {
        const unsigned long *p = (const unsigned long *) (stack[i] & ~7ul);
        if ((unsigned long) p < 1ul << 20 || (unsigned long) p >> 47 || !readable(p))
            continue;
        for (int k = 1; k < TABLE && ((unsigned long) (p + k) % 4096 || readable(p + k)); k++)
            if (k > 4 && p[k] == (unsigned long) out && p[k - 4] * p[k - 3] == count)
                return p + k;
    }
    return NULL;
}

// The first set is looked for once; the others follow it, 43 words each.
static unsigned long seed_of(const float *out, unsigned long count)
{
    static const unsigned long *first;

    if (!first && !(first = find_set(out, count)))
        return 0;
    for (int k = 0; k < 64; k++)
        if (first[43 * k] == (unsigned long) out)
            return first[43 * k + 13];
    return 0;
}

// Writes the output in order, four elements a thread; in is never read.
__global__ void make_kernel(float *out, FillKey key, unsigned rows, unsigned cols)
{
    unsigned count = rows * cols, i = (blockIdx.x * BLOCK + threadIdx.x) * ITEMS;
    unsigned r = i % rows, c = i / rows;
    Fill fill = { FILL_UNIFORM };
    float value[ITEMS];

    for (int k = 0; k < ITEMS; k++) {
        value[k] = fill_f32(fill, key, r * cols + c);
        if (++r == rows)
            r = 0, c++;
    }
    if (count % ITEMS == 0 && i < count)
        *(float4 *) &out[i] = make_float4(value[0], value[1], value[2], value[3]);
    else
        for (int k = 0; k < ITEMS && i + k < count; k++)
            out[i + k] = value[k];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    FillKey key = fill_key(seed_of(out, (unsigned long) rows * cols), 0);

    make_kernel<<<ceil_div(rows * cols, BLOCK * ITEMS), BLOCK>>>(out, key, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
