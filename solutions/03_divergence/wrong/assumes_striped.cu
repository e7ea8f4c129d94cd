// expect: wrong - assumes that kind[i] is i % 8, as in the example
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        out[i] = kind_advance(i % KINDS, state[i], rounds);
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
