// rung: 1, expect: slow - thread i takes item i: a warp executes every kind that its items have
// Thread i advances item i, whatever its kind.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        out[i] = kind_advance(kind[i], state[i], rounds);
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
