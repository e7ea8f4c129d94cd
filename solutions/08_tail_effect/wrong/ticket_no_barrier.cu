// expect: unsafe - one ticket per block, through shared memory, without barriers
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static __device__ int next_ticket;

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// Each call resets the tickets, because a __device__ variable keeps its value after the launch.
__global__ void reset_tickets(void)
{
    next_ticket = 0;
}

// in and out hold count pixels. count is at most 2^27: an int can hold every index.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int count, int rounds)
{
    __shared__ int ticket;

    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(&next_ticket, 1);
        int i = ticket * BLOCK + threadIdx.x;
        if (i - (int) threadIdx.x >= count)
            return;
        if (i < count) {
            unsigned seed = in[i], x = seed;
            for (int round = 0; round < rounds; round++)
                x = next_number(x, seed);
            out[i] = x;
        }
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

    reset_tickets<<<1, 1>>>();
    CUDA_CHECK(cudaGetLastError());
    advance_kernel<<<blocks, BLOCK>>>(out, in, count, rounds);
    CUDA_CHECK(cudaGetLastError());
}
