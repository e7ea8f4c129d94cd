// rung: 4, expect: pass - as many blocks as fit on the GPU, each taking pixels in steps of the grid
// The host code queries how many blocks fit, since that depends on the GPU and on this kernel's
// registers. All blocks run from the beginning to the end, and rows no longer matter.
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
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
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
