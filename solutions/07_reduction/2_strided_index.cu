// rung: 2, expect: device - the threads that work stand side by side: whole warps leave the tree
// The modulo is gone, too. But thread t now works on words 2 * s * t apart: bank conflicts 2, 4, 8,
// 8, 8 and 4 deep for s = 1 to 32. Slow, unless memory is slow beside the SMs: an RTX 4090's brings
// each 3 bytes a cycle, with which a tree may keep up; an H200's brings 18.
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

    // Between the filling and the first round: a thread adds what another one has loaded.
    __syncthreads();

    for (int s = 1; s < blockDim.x; s *= 2) {
        int left = 2 * s * tid;
        if (left < blockDim.x)
            part[left] += part[left + s];

        // Between two rounds: the sums of this one are what other threads add in the next.
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    // The sums of one pass lie behind those of the pass before, and are the input of the next.
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
