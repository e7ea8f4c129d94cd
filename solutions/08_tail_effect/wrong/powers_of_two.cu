// expect: wrong - the row by a shift, the column by a mask: right if cols is a power of two
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out are rows x cols, row-major, with 1 << log_cols columns.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int rows, int cols, int log_cols,
                               int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int row = i >> log_cols, col = i & ((1 << log_cols) - 1);

    if (row < rows) {
        unsigned seed = in[row * cols + col], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[row * cols + col] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int count = rows * cols, log_cols = 0;

    while (1 << (log_cols + 1) <= cols)
        log_cols++;

    advance_kernel<<<ceil_div(count, BLOCK), BLOCK>>>(out, in, rows, cols, log_cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
