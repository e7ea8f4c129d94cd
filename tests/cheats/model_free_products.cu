// expect: slow - computes with instructions that the model of time did not charge for
// lab: tail_effect
// One row per block as in the starter; but each shift is the upper half of a wide product, and each
// product the lower one. A model of time took wide products for parts of addresses, which cost
// nothing of their own. (Our own.) Defence: a product counts as part of an address only if every
// reader adds it to a 64-bit value.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    unsigned y;

    asm("{ .reg .b64 w; .reg .b32 low, shifted, high;"
        "  mul.wide.u32 w, %1, 131072; mov.b64 {low, shifted}, w;" // x >> 15
        "  xor.b32 shifted, shifted, %1;"
        "  mul.wide.u32 w, shifted, 0x2c1b3c6d; mov.b64 {low, high}, w;"
        "  add.u32 %0, low, %2; }"
        : "=r"(y)
        : "r"(x), "r"(seed));
    return y;
}

__global__ void advance_kernel(unsigned *out, const unsigned *in, int cols, int rounds)
{
    int first = blockIdx.x * cols;

    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        unsigned seed = in[first + col], x = seed;
        for (int round = 0; round < rounds; round++)
            x = next_number(x, seed);
        out[first + col] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    advance_kernel<<<rows, BLOCK>>>(out, in, cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
