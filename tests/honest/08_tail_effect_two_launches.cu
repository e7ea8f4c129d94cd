// expect: pass - full rounds of rows by whole blocks, the remaining rows pixel by pixel
// lab: tail_effect
#include "cudalab.cuh"
#include "kernel.h"

static __device__ unsigned steps(unsigned seed, int rounds)
{
    unsigned x = seed;

    while (rounds-- > 0)
        x = (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
    return x;
}

__global__ void whole_rows(unsigned *out, const unsigned *in, int cols, int rounds)
{
    size_t first = (size_t) blockIdx.x * cols;

    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[first + c] = steps(in[first + c], rounds);
}

__global__ void pixels(unsigned *out, const unsigned *in, int count, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = steps(in[i], rounds);
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int sms, whole, rest;

    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    whole = rows / sms * sms;
    rest = (rows - whole) * cols;
    if (whole)
        whole_rows<<<whole, 1024>>>(out, in, cols, rounds);
    CUDA_CHECK(cudaGetLastError());
    if (rest)
        pixels<<<ceil_div(rest, 64), 64>>>(out + (size_t) whole * cols, in + (size_t) whole * cols,
                                           rest, rounds);
    CUDA_CHECK(cudaGetLastError());
}
