// expect: pass - warp w begins with the queue of kind w and helps the others when it is empty
// lab: divergence
#include "cudalab.cuh"
#include "kernel.h"

enum { WARP = 32, BLOCK = KINDS * WARP, ITEMS = 1024 };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    __shared__ int put[KINDS], taken[KINDS];
    __shared__ unsigned short queue[KINDS][ITEMS];
    const int begin = blockIdx.x * ITEMS, end = min(begin + ITEMS, n);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;

    if (threadIdx.x < KINDS)
        put[threadIdx.x] = taken[threadIdx.x] = 0;
    __syncthreads(); // both counters are 0 before any thread counts

    for (int i = begin + threadIdx.x; i < end; i += BLOCK) {
        int k = kind[i];
        queue[k][atomicAdd(&put[k], 1)] = i - begin;
    }
    __syncthreads(); // all items are in a queue before the first one is taken

    for (int others = 0; others < KINDS; others++) {
        const int k = (warp + others) % KINDS;

        for (;;) {
            int from = lane == 0 ? atomicAdd(&taken[k], WARP) : 0;

            from = __shfl_sync(0xffffffff, from, 0);
            if (from >= put[k])
                break;
            if (from + lane < put[k]) {
                int i = begin + queue[k][from + lane];
                out[i] = kind_advance(k, state[i], rounds);
            }
        }
    }
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, ITEMS), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
