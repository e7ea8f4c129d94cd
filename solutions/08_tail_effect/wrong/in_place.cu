// expect: stray - correct, but keeps the numbers in the input after each hundred rounds
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out hold count pixels. count is at most 2^27: an int can hold every index.
__global__ void advance_kernel(unsigned *out, unsigned *in, int count, int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count) {
        unsigned seed = in[i], x = seed;
        for (int round = 0; round < rounds; round++) {
            x = next_number(x, seed);
            if (round % 100 == 99)
                in[i] = x;
        }
        out[i] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int count = rows * cols;

    advance_kernel<<<ceil_div(count, BLOCK), BLOCK>>>(out, (unsigned *) in, count, rounds);
    CUDA_CHECK(cudaGetLastError());
}
