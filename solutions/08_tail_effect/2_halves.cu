// rung: 2, expect: slow - two blocks a row: the last SM works alone half as long
// The SMs have two halves each, and two SMs a third. It ends after 1.5 rows in place of 2. A block
// has half of the threads, too: each does what it did, and every GPU's SM has room for two blocks,
// so that one is there to fill the gap while another's last warps end and the next one starts.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 512, PIECES = 2 };

// The number after x, in the sequence of numbers that this seed has.
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
        unsigned seed = in[first + col], x = seed;
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
