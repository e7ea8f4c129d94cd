// expect: slow - no divergence: each thread computes all eight kinds and keeps one
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= n)
        return;
    uint32_t x = state[i], result = x;
    for (int k = 0; k < KINDS; k++) {
        uint32_t candidate = kind_advance(k, x, rounds);
        result = kind[i] == k ? candidate : result;
    }
    out[i] = result;
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
