// Shown in slides/07_reduction.md, "Find the bug". The second load of each pair is not guarded, and
// nothing orders the lanes of the last warp.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    long i = blockIdx.x * 2L * BLOCK + tid;

    part[tid] = i < n ? in[i] + in[i + BLOCK] : 0;
    // Between the filling and the first round.
    __syncthreads();
    for (int s = BLOCK / 2; s > 32; s /= 2) {
        if (tid < s)
            part[tid] += part[tid + s];
        // Between two rounds.
        __syncthreads();
    }
    for (int s = 32; s > 0 && tid < 32; s /= 2)
        part[tid] += part[tid + s];
    if (tid == 0)
        out[blockIdx.x] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    for (;;) {
        int blocks = (int) ((n + 2 * BLOCK - 1) / (2 * BLOCK));

        sum_kernel<<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
        CUDA_CHECK(cudaGetLastError());
        if (blocks == 1)
            return;
        in = scratch;
        n = blocks;
        scratch += blocks;
    }
}
