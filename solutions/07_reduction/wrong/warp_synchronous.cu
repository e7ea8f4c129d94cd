// expect: unsafe - the last warp relies on volatile and on lanes in lockstep: right by luck
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32 };

// out[b] becomes the sum of the elements of block b; in has n elements.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    long i = blockIdx.x * (long) BLOCK + tid;

    part[tid] = i < n ? in[i] : 0;

    // Separates filling from the first round: a thread adds values that others have loaded.
    __syncthreads();

    for (int s = blockDim.x / 2; s > WARP; s /= 2) {
        if (tid < s)
            part[tid] += part[tid + s];

        // Separates two rounds: in the next, other threads add up the sums written in this one.
        __syncthreads();
    }

    if (tid < WARP) {
        volatile float *lane = part;
        lane[tid] += lane[tid + 32];
        lane[tid] += lane[tid + 16];
        lane[tid] += lane[tid + 8];
        lane[tid] += lane[tid + 4];
        lane[tid] += lane[tid + 2];
        lane[tid] += lane[tid + 1];
    }
    if (tid == 0)
        out[blockIdx.x] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    // Each pass stores its sums in scratch after those of the previous pass; they are the input of
    // the next pass.
    for (;;) {
        int blocks = (int) ((n + BLOCK - 1) / BLOCK);

        sum_kernel<<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
        CUDA_CHECK(cudaGetLastError());
        if (blocks == 1)
            return;
        in = scratch;
        n = blocks;
        scratch += blocks;
    }
}
