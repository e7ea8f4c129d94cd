// Shown in slides/03_divergence.md, "Find the bug". The queues are correct, but modulo gives every
// warp all kinds.
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = KINDS * WARP };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    __shared__ int count[KINDS], queue[KINDS][BLOCK];

    int i = blockIdx.x * BLOCK + threadIdx.x;
    int mine = threadIdx.x % KINDS, lane = threadIdx.x / KINDS;

    if (threadIdx.x < KINDS)
        count[threadIdx.x] = 0;

    // Between clearing the counts and counting.
    __syncthreads();

    if (i < n) {
        int k = kind[i], slot = atomicAdd(&count[k], 1);
        queue[k][slot] = i;
    }

    // Between filling the queues and serving them: a warp serves what all others have put in.
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
