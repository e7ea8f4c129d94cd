// rung: 2, expect: pass - four floats per thread: four loads in flight before the first wait
// A block copies EACH x BLOCK neighbours. A thread's own elements are BLOCK apart, so that the 32
// threads of a warp touch 32 neighbours each time.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, EACH = 4 };

__global__ void copy_kernel(float *out, const float *in, long n)
{
    long first = (long) blockIdx.x * (BLOCK * EACH) + threadIdx.x;
    float value[EACH];

    // All loads come before all stores. In a single loop each load would have to wait for the
    // previous store, because the compiler must assume that out and in may overlap.
    for (int k = 0; k < EACH; k++)
        if (first + k * BLOCK < n)
            value[k] = in[first + k * BLOCK];
    for (int k = 0; k < EACH; k++)
        if (first + k * BLOCK < n)
            out[first + k * BLOCK] = value[k];
}

LAB_API void copy(float *out, const float *in, long n)
{
    long blocks = (n + BLOCK * EACH - 1) / (BLOCK * EACH);

    copy_kernel<<<(unsigned) blocks, BLOCK>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
