// expect: slow - lets the next call's blocks begin while this one's last row is still running
// lab: tail_effect
// It is a dependent launch whose blocks never wait for the previous launch. Defence: each call of
// this lab is timed alone, so no next call is there to fill its tail.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
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
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};

    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(rows);
    config.blockDim = dim3(BLOCK);
    config.attrs = &early;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, advance_kernel, out, in, cols, rounds));
}
