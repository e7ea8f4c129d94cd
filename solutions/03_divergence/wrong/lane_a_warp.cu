// expect: slow - correct, one item per warp: no divergence, since 31 lanes have nothing to do
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) / 32;

    if (i < n && threadIdx.x % 32 == 0)
        out[i] = kind_advance(kind[i], state[i], rounds);
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK / 32), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
