// expect: pass - a counting sort by ballots, no atomics: items keep their order within a kind
// lab: divergence
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = 256, WARPS = BLOCK / WARP, EACH = 8, ITEMS = BLOCK * EACH };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    __shared__ int part[KINDS * WARPS * EACH], total[KINDS + 1];
    __shared__ unsigned short order[ITEMS + KINDS * WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, first = blockIdx.x * ITEMS;
    int rank[EACH], mine[EACH];

    for (int i = threadIdx.x; i < ITEMS + KINDS * WARP; i += BLOCK)
        order[i] = 0xffff;
    for (int e = 0; e < EACH; e++) {
        int i = first + e * BLOCK + threadIdx.x;
        mine[e] = i < n ? kind[i] : KINDS;
        for (int k = 0; k < KINDS; k++) {
            unsigned same = __ballot_sync(0xffffffff, mine[e] == k);
            if (mine[e] == k)
                rank[e] = __popc(same & ((1u << lane) - 1));
            if (lane == 0)
                part[(k * EACH + e) * WARPS + warp] = __popc(same);
        }
    }
    __syncthreads(); // all warps have counted before eight threads add up

    if (threadIdx.x < KINDS) {
        int sum = 0;
        for (int i = 0; i < WARPS * EACH; i++) {
            int count = part[threadIdx.x * WARPS * EACH + i];
            part[threadIdx.x * WARPS * EACH + i] = sum;
            sum += count;
        }
        total[threadIdx.x + 1] = (sum + WARP - 1) / WARP * WARP;
    }
    __syncthreads(); // sums per kind are complete before the sums over kinds

    if (threadIdx.x == 0) {
        total[0] = 0;
        for (int k = 0; k < KINDS; k++)
            total[k + 1] += total[k];
    }
    __syncthreads(); // the beginning of each kind is known before threads use it

    for (int e = 0; e < EACH; e++)
        if (mine[e] < KINDS)
            order[total[mine[e]] + part[(mine[e] * EACH + e) * WARPS + warp] + rank[e]] =
                e * BLOCK + threadIdx.x;
    __syncthreads(); // the order is complete before any thread reads it

    for (int slot = threadIdx.x; slot < total[KINDS]; slot += BLOCK) {
        int k = 0, i = order[slot];
        while (slot >= total[k + 1])
            k++;
        if (i != 0xffff)
            out[first + i] = kind_advance(k, state[first + i], rounds);
    }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, ITEMS), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
