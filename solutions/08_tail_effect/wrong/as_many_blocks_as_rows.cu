// expect: slow - correct, in steps of the grid, but with as many blocks as rows
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out hold count pixels. count is at most 2^27: an int can hold every index.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int count, int rounds)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        unsigned seed = in[i], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[i] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int count = rows * cols;

    advance_kernel<<<rows, BLOCK>>>(out, in, count, rounds);
    CUDA_CHECK(cudaGetLastError());
}
