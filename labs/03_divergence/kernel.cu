// Thread i advances item i, whatever its kind.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    // TODO: kind_advance() is a switch with a loop in each case. How many of these loops does a
    // TODO: warp execute if its 32 items are of mixed kinds, and how many of its lanes are active?
    // TODO: Thread i need not do item i: let a block first find out which item is of which kind.
    if (i < n)
        out[i] = kind_advance(kind[i], state[i], rounds);
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
