// rung: 2, expect: slow - two blocks per row: the other SMs wait half as long for the last one
// Each SM processes two halves, and two SMs process a third. The launch ends after the time of 1.5
// rows instead of 2. A block also has half of the threads, so each thread does as much as before.
// Every GPU's SM has room for two such blocks, so one block can fill the gap while another one ends
// and the next one starts.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 512, PIECES = 2 };

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
