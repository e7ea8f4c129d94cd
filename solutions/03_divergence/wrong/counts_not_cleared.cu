// expect: unsafe_or_stray - the counters start with garbage values
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = KINDS * WARP };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    // Each queue has room for all items, since a whole block may be of one kind.
    __shared__ int count[KINDS], queue[KINDS][BLOCK];

    int i = blockIdx.x * BLOCK + threadIdx.x;
    int mine = threadIdx.x / WARP, lane = threadIdx.x % WARP;

    if (i < n) {
        int k = kind[i], slot = atomicAdd(&count[k], 1);
        queue[k][slot] = i;
    }

    // Separates filling the queues from processing them: each queue holds items from all warps.
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
