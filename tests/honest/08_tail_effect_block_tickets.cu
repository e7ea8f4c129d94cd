// expect: pass - one ticket per block for its next 512 pixels; the last block resets them
// lab: tail_effect
#include "cudalab.cuh"
#include "kernel.h"

enum { THREADS = 512 };

static __device__ unsigned tickets, done;

__global__ void persistent(unsigned *out, const unsigned *in, int count, int rounds)
{
    __shared__ unsigned ticket;
    unsigned pieces = ceil_div(count, THREADS);

    while (true) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(&tickets, 1u);
        __syncthreads(); // thread 0 has drawn before any thread reads the ticket
        unsigned mine = ticket;
        __syncthreads(); // all threads have read it before thread 0 draws again
        if (mine >= pieces)
            break;

        int i = mine * THREADS + threadIdx.x;
        if (i < count) {
            unsigned seed = in[i], x = seed;
            for (int r = 0; r < rounds; r++)
                x = (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
            out[i] = x;
        }
    }
    // No block draws again once all blocks have reached this point.
    if (threadIdx.x == 0 && atomicAdd(&done, 1u) == gridDim.x - 1) {
        atomicExch(&tickets, 0u);
        atomicExch(&done, 0u);
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int device, sms, fit;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, persistent, THREADS, 0));
    persistent<<<fit * sms, THREADS>>>(out, in, rows * cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
