// Shown in slides/08_tail_effect.md, "Find the bug". A share is rounded down, so the last pixels
// belong to no block; and the number of SMs is in the source, and wrong.
#include "cudalab.cuh"
#include "kernel.h"

enum { SMS = 84, BLOCK = 1024 }; // RTX 3090

static __device__ unsigned steps(unsigned seed, int rounds)
{
    unsigned x = seed;

    for (int round = 0; round < rounds; round++)
        x = (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
    return x;
}

__global__ void advance_kernel(unsigned *out, const unsigned *in, int count, int rounds)
{
    int share = count / gridDim.x; // pixels of this block
    int first = blockIdx.x * share;

    for (int i = threadIdx.x; i < share; i += BLOCK)
        out[first + i] = steps(in[first + i], rounds);
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    advance_kernel<<<SMS, BLOCK>>>(out, in, rows * cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
