// expect: stray - correct, but adds in the input instead of scratch
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// in[b * BLOCK * step] becomes the sum of BLOCK elements that are `step` apart.
__global__ void sum_kernel(float *in, long n, long step)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    long i = (blockIdx.x * (long) BLOCK + tid) * step;

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
        in[i] = part[0];
}

__global__ void copy_kernel(float *out, const float *in)
{
    *out = *in;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    for (long step = 1; step < n; step *= BLOCK) {
        long left = (n + step - 1) / step;

        sum_kernel<<<(int) ((left + BLOCK - 1) / BLOCK), BLOCK>>>((float *) in, n, step);
        CUDA_CHECK(cudaGetLastError());
    }
    copy_kernel<<<1, 1>>>(out, in);
    CUDA_CHECK(cudaGetLastError());
}
