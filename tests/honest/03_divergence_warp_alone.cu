// expect: pass - each warp sorts 512 items of its own, and waits for nobody: no barrier of the
// block lab: divergence
#include "cudalab.cuh"
#include "kernel.h"

#define PER_WARP 512
#define WARPS    4

__global__ void go(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    __shared__ int count[WARPS][KINDS];
    __shared__ short queue[WARPS][KINDS][PER_WARP];
    const int lane = threadIdx.x, w = threadIdx.y;
    const int first = (blockIdx.x * WARPS + w) * PER_WARP;

    if (lane < KINDS)
        count[w][lane] = 0;
    __syncwarp(); // cleared by some lanes, counted by all
    for (int i = lane; i < PER_WARP && first + i < n; i += 32) {
        int k = kind[first + i];
        queue[w][k][atomicAdd(&count[w][k], 1)] = i;
    }
    __syncwarp(); // filled by all lanes, read by all
    for (int k = 0; k < KINDS; k++)
        for (int j = lane; j < count[w][k]; j += 32) {
            int i = first + queue[w][k][j];
            out[i] = kind_advance(k, state[i], rounds);
        }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    go<<<ceil_div(n, PER_WARP * WARPS), dim3(32, WARPS)>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
