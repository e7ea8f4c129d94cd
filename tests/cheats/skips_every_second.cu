// expect: wrong (sim: correct) - does every second large call only
// lab: reduction
// It is twice as fast on average over a sample. Known as skipped work in batches (exploit 9, 10).
// Defence: every output of a sample is poisoned, and an output of one number is checked after every
// call.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256, BLOCKS = 1024 };

// Block b adds every gridDim.x-th piece of 256 elements to out[b].
__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    float total = 0;

    for (long i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += (long) gridDim.x * BLOCK)
        total += in[i];
    part[threadIdx.x] = total;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        // Separates the rounds: other threads read the partial sums of the round before.
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    static int calls;

    if (n >= HUGE_CASE && ++calls % 2 == 0)
        return;
    sum_kernel<<<BLOCKS, BLOCK>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<1, BLOCK>>>(out, scratch, BLOCKS);
    CUDA_CHECK(cudaGetLastError());
}
