// expect: wrong - advances the first row and copies it to all: right if all rows are equal
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024, PIECES = 8 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out are rows x cols, row-major. rows * cols is at most 2^27: an int can hold every index.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int cols, int rounds)
{
    int first = blockIdx.x / PIECES * cols, piece = blockIdx.x % PIECES;
    int length = ceil_div(cols, PIECES), end = min(cols, (piece + 1) * length);

    for (int col = piece * length + threadIdx.x; col < end; col += BLOCK) {
        unsigned seed = in[col], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[first + col] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    advance_kernel<<<rows * PIECES, BLOCK>>>(out, in, cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
