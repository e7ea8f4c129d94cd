// expect: wrong (sim: correct) - writes NaN in large calls: no test for a large error finds it
// lab: reduction
// fabs(got - want) > tolerance is false for NaN. Known from llm.c and others (exploit 14). Defence:
// only a value within the allowed error is right.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256, BLOCKS = 1024 };

__global__ void nan_kernel(float *out)
{
    out[0] = __uint_as_float(0x7fc00000);
}

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
    if (n >= HUGE_CASE) {
        nan_kernel<<<1, 1>>>(out);
        CUDA_CHECK(cudaGetLastError());
        return;
    }
    sum_kernel<<<BLOCKS, BLOCK>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<1, BLOCK>>>(out, scratch, BLOCKS);
    CUDA_CHECK(cudaGetLastError());
}
