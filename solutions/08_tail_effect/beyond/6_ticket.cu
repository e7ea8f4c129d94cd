// rung: beyond, expect: pass - each warp draws a ticket for its next 32 pixels
// A warp that finishes early draws again sooner, so the work is balanced even if the costs of
// pixels are not known beforehand. Here all pixels cost the same, so tickets gain nothing and you
// see what they cost.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32 };

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

// The number of pieces of work drawn so far, the same in all lanes of the warp.
static __device__ int draw_ticket(int lane)
{
    int ticket = 0;

    if (lane == 0)
        ticket = atomicAdd(&next_ticket, 1);
    return __shfl_sync(0xffffffff, ticket, 0);
}

// in and out hold count pixels. count is at most 2^27: an int can hold every index.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int count, int rounds)
{
    int lane = threadIdx.x % WARP, tickets = ceil_div(count, WARP);

    for (int ticket = draw_ticket(lane); ticket < tickets; ticket = draw_ticket(lane)) {
        int i = ticket * WARP + lane;
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
