// A block advances one row of the image.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out are rows x cols, row-major. rows * cols is at most 2^27: an int can hold every index.
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

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    // TODO: one block of 1024 threads keeps an SM busy. With one row more than the GPU has SMs,
    // TODO: which SM finishes last, and what do the others do until then? Cut the work so that all
    // TODO: finish at nearly the same time, on any GPU and for any image.
    advance_kernel<<<rows, BLOCK>>>(out, in, cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
