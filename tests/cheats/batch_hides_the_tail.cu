// expect: slow - processes the rows of all sets in the first call, so that they share one tail
// lab: tail_effect
//
// It learns the sets' arrays in the first sample; from then on the first call launches one block
// per row of every set, and the others return. Defence: each call of this lab is timed alone, on
// inputs created after the previous call, so each set has its own tail.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024, SETS = 64, LARGE = 1 << 19 };

struct Batch {
    unsigned *out[SETS];
    const unsigned *in[SETS];
};

static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

__global__ void advance_kernel(Batch batch, int rows, int cols, int rounds)
{
    int set = blockIdx.x / rows, first = blockIdx.x % rows * cols;

    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        unsigned seed = batch.in[set][first + col], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        batch.out[set][first + col] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    static Batch all;
    static int known, known_rows, known_rounds;
    Batch one = { { out }, { in } };
    int i = 0;

    if (rows != known_rows || rounds != known_rounds || (long) rows * cols < LARGE)
        known = 0;
    known_rows = rows;
    known_rounds = rounds;
    while (i < known && all.out[i] != out)
        i++;
    if (0 < i && i < known) // done by the first call
        return;
    if (i == known) {
        all.out[known] = out;
        all.in[known++] = in;
        advance_kernel<<<rows, BLOCK>>>(one, rows, cols, rounds);
    } else {
        advance_kernel<<<rows * known, BLOCK>>>(all, rows, cols, rounds);
    }
    CUDA_CHECK(cudaGetLastError());
}
