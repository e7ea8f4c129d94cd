// expect: wrong - the partial sums stay in scratch, and out gets the sum of the first block only
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// out[b] becomes the sum of the elements of block b; in has n elements.
__global__ void sum_kernel(float *out, float *sums, const float *in, long n)
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
        sums[blockIdx.x] = part[0];
    if (tid == 0 && blockIdx.x == 0)
        *out = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<(int) ((n + BLOCK - 1) / BLOCK), BLOCK>>>(out, scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
}
