// expect: device - correct, but always 132 blocks: made for one GPU, slow on others
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024, SMS = 132 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out hold count pixels; each block has one SM's share of them.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int count, int rounds)
{
    int share = ceil_div(count, SMS), end = min(count, ((int) blockIdx.x + 1) * share);

    for (int i = blockIdx.x * share + threadIdx.x; i < end; i += BLOCK) {
        unsigned seed = in[i], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[i] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    advance_kernel<<<SMS, BLOCK>>>(out, in, rows * cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
