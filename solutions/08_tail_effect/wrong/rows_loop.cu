// expect: slow - correct, one block per SM with a loop over whole rows: the same tail
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

// The number that follows x in the sequence of this seed.
static __device__ unsigned next_number(unsigned x, unsigned seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

// in and out are rows x cols, row-major. rows * cols is at most 2^27: an int can hold every index.
__global__ void advance_kernel(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x)
        for (int col = threadIdx.x; col < cols; col += BLOCK) {
            unsigned seed = in[row * cols + col], x = seed;
            for (int round = 0; round < rounds; round++)
                x = next_number(x, seed);
            out[row * cols + col] = x;
        }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    advance_kernel<<<min(rows, sms), BLOCK>>>(out, in, rows, cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
