// expect: pass - each warp sorts its own 1024 items, without any barrier of the block
// lab: divergence
#include "cudalab.cuh"
#include "kernel.h"

#define LANES 32
#define EACH  32
#define WARPS 4

__global__ void go(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    __shared__ int next[WARPS][KINDS + 1]; // where a kind's next item goes; one entry is unused
    __shared__ short sorted[WARPS][EACH * LANES];
    const int lane = threadIdx.x, w = threadIdx.y;
    const int first = (blockIdx.x * WARPS + w) * EACH * LANES;
    int mine[EACH], before = 0;

    if (lane <= KINDS)
        next[w][lane] = 0;
    __syncwarp(); // cleared by some lanes before all lanes count
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int i = first + e * LANES + lane;
        mine[e] = i < n ? kind[i] : KINDS;
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        atomicAdd(&next[w][mine[e]], 1);
    __syncwarp(); // counted by all lanes before the counts are added up
    for (int k = 0; k < lane && k < KINDS; k++)
        before += next[w][k];
    __syncwarp(); // added up before the sums replace the counts
    if (lane <= KINDS)
        next[w][lane] = before;
    __syncwarp(); // sums are written before all lanes use them
#pragma unroll
    for (int e = 0; e < EACH; e++)
        sorted[w][atomicAdd(&next[w][mine[e]], 1)] = e * LANES + lane;
    __syncwarp(); // sorted before any lane reads; next is now where a kind ends
    for (int k = 0; k < KINDS; k++)
        for (int j = (k ? next[w][k - 1] : 0) + lane; j < next[w][k]; j += LANES) {
            int i = first + sorted[w][j];
            out[i] = kind_advance(k, state[i], rounds);
        }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    go<<<ceil_div(n, EACH * LANES * WARPS), dim3(LANES, WARPS)>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
