// rung: 3, expect: pass - 2048 items per block, in runs of 32 of one kind; any warp takes any run
// The last pass of a queue is half empty on average, however long the queue is, so long queues
// waste less. And all warps share the items of a frequent kind.
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = 256, ITEMS = 2048 };

// Every queue is rounded up to whole runs.
enum { MOST_SLOTS = ITEMS + KINDS * WARP };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    __shared__ int count[KINDS], start[KINDS + 1], filled[KINDS];
    __shared__ short slots[MOST_SLOTS]; // item of each slot, from the block's first; -1: empty

    int first = blockIdx.x * ITEMS, items = min(ITEMS, n - first);

    if (threadIdx.x < KINDS)
        count[threadIdx.x] = filled[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < MOST_SLOTS; i += BLOCK)
        slots[i] = -1;

    // Separates clearing the counts from counting.
    __syncthreads();

    for (int i = threadIdx.x; i < items; i += BLOCK)
        atomicAdd(&count[kind[first + i]], 1);

    // Separates counting from adding up the counts.
    __syncthreads();

    if (threadIdx.x == 0) {
        start[0] = 0;
        for (int k = 0; k < KINDS; k++)
            start[k + 1] = start[k] + ceil_div(count[k], WARP) * WARP;
    }

    // Separates computing where each kind begins from placing the items.
    __syncthreads();

    for (int i = threadIdx.x; i < items; i += BLOCK) {
        int k = kind[first + i];
        slots[start[k] + atomicAdd(&filled[k], 1)] = i;
    }

    // Separates placing the items from processing them: a run holds items from all warps.
    __syncthreads();

    // A warp's 32 slots are in one run, so they are all of one kind.
    for (int slot = threadIdx.x; slot < start[KINDS]; slot += BLOCK) {
        int k = 0, item = slots[slot];
        while (start[k + 1] <= slot)
            k++;
        if (item >= 0)
            out[first + item] = kind_advance(k, state[first + item], rounds);
    }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, ITEMS), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
