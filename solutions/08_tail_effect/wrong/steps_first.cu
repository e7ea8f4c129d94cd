// expect: wrong - each thread skips its first pixel
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out hold count pixels. count is at most 2^27: an int can hold every index.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int count, int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    while ((i += gridDim.x * BLOCK) < count) {
        unsigned seed = in[i], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[i] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int device, sms, blocks_a_sm, count = rows * cols;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_a_sm, advance_kernel, BLOCK, 0));

    // No more blocks than the work needs.
    int blocks = min(sms * blocks_a_sm, ceil_div(count, BLOCK));

    advance_kernel<<<blocks, BLOCK>>>(out, in, count, rounds);
    CUDA_CHECK(cudaGetLastError());
}
