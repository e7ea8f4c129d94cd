// expect: stray - spare threads of the last block advance items that do not exist
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32 };

__global__ void advance_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n,
                               int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < ceil_div(n, WARP) * WARP)
        out[i] = kind_advance(kind[min(i, n - 1)], state[min(i, n - 1)], rounds);
}

LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds)
{
    advance_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(out, state, kind, n, rounds);
    CUDA_CHECK(cudaGetLastError());
}
