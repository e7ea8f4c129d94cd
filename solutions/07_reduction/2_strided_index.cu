// rung: 2, expect: device - neighbouring threads work, so whole warps can leave the tree
// The modulo is gone, too. But neighbouring threads now work on words 2 * s apart: bank conflicts
// of degree 2, 4, 8, 8, 8 and 4 for s = 1 to 32. This is slow unless memory is slow compared with
// the SMs. On an RTX 4090 memory delivers 3 bytes per cycle and SM, and a tree may keep up with
// that; on an H200 it delivers 18.
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

    for (int s = 1; s < blockDim.x; s *= 2) {
        int left = 2 * s * tid;
        if (left < blockDim.x)
            part[left] += part[left + s];

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
