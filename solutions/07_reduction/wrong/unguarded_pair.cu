// expect: unsafe - as published: the second load of each pair has no bounds check
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, EACH = 2 };

// out[b] becomes the sum of the elements of block b; in has n elements.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    long i = blockIdx.x * (long) (EACH * BLOCK) + tid;

    part[tid] = 0;
    if (i < n)
        part[tid] = in[i] + in[i + BLOCK];

    // Separates filling from the first round: a thread adds values that others have loaded.
    __syncthreads();

    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            part[tid] += part[tid + s];

        // Separates two rounds: in the next, other threads add up the sums written in this one.
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    for (;;) {
        int blocks = (int) ((n + EACH * BLOCK - 1) / (EACH * BLOCK));

        sum_kernel<<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
        CUDA_CHECK(cudaGetLastError());
        if (blocks == 1)
            return;
        in = scratch;
        n = blocks;
        scratch += blocks;
    }
}
