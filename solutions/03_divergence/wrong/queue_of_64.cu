// expect: wrong - queues of 64 items: further ones are left out, as with skewed kinds
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = KINDS * WARP };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    __shared__ int count[KINDS], queue[KINDS][64];

    int i = blockIdx.x * BLOCK + threadIdx.x;
    int mine = threadIdx.x / WARP, lane = threadIdx.x % WARP;

    if (threadIdx.x < KINDS)
        count[threadIdx.x] = 0;

    // Separates clearing the counts from counting.
    __syncthreads();

    if (i < n) {
        int k = kind[i], slot = atomicAdd(&count[k], 1);
        if (slot < 64)
            queue[k][slot] = i;
    }

    // Separates filling the queues from processing them: each queue holds items from all warps.
    __syncthreads();

    for (int slot = lane; slot < min(count[mine], 64); slot += WARP) {
        int item = queue[mine][slot];
        out[item] = kind_advance(mine, state[item], rounds);
    }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
