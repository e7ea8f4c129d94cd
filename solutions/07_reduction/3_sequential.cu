// rung: 3, expect: device - add the upper half to the lower: neighbours use neighbouring words
// No conflicts are left. The rounds, the barriers and the idle threads remain: half of the block
// never adds anything. Where memory is slow compared with the SMs (rung 2), memory accesses hide
// that.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// out[b] becomes the sum of the elements of block b; in has n elements.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    long i = blockIdx.x * (long) BLOCK + tid;

    part[tid] = i < n ? in[i] : 0;

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
