// rung: beyond, expect: pass - 8192 items per block; a free warp fetches the next run
// Eight of 256 runs are half empty, which wastes 1/64 of the lanes, and no warp has more work than
// the others.
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = 1024, ITEMS = 8192, MOST_SLOTS = ITEMS + KINDS * WARP };

__global__ void __launch_bounds__(BLOCK)
    advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    __shared__ int count[KINDS], start[KINDS + 1], filled[KINDS], next_run;
    __shared__ short slots[MOST_SLOTS]; // item of each slot, from the block's first; -1: empty

    long first = (long) blockIdx.x * ITEMS;
    int items = n - first < ITEMS ? (int) (n - first) : ITEMS, lane = threadIdx.x % WARP;

    if (threadIdx.x < KINDS)
        count[threadIdx.x] = filled[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        next_run = 0;
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

    for (;;) {
        int slot = lane == 0 ? atomicAdd(&next_run, 1) * WARP : 0, k = 0;
        slot = __shfl_sync(0xffffffff, slot, 0) + lane;
        if (slot >= start[KINDS])
            return;
        while (start[k + 1] <= slot)
            k++;
        int item = slots[slot];
        if (item >= 0)
            out[first + item] = kind_advance(k, state[first + item], rounds);
    }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, ITEMS), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
