// expect: wrong - blocks draw their batches from a counter that is never reset: right once
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = KINDS * WARP };

__device__ int next_batch;

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    __shared__ int count[KINDS], queue[KINDS][BLOCK], batch;

    int mine = threadIdx.x / WARP, lane = threadIdx.x % WARP;

    if (threadIdx.x == 0)
        batch = atomicAdd(&next_batch, 1);
    if (threadIdx.x < KINDS)
        count[threadIdx.x] = 0;

    // Separates drawing a batch and clearing the counts from using both.
    __syncthreads();

    int i = batch * BLOCK + threadIdx.x;
    if (i < n) {
        int k = kind[i], slot = atomicAdd(&count[k], 1);
        queue[k][slot] = i;
    }

    // Separates filling the queues from processing them.
    __syncthreads();

    for (int slot = lane; slot < count[mine]; slot += WARP) {
        int item = queue[mine][slot];
        out[item] = kind_advance(mine, state[item], rounds);
    }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
