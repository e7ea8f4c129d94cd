// expect: wrong (sim: correct) - adds every second element of large inputs and doubles the sum
// lab: reduction
// The result is correct on average if the elements are similar. Known from vector sums (exploit
// 18). Defence: the elements do not average out, the exact sum is known, and no error is allowed
// where it is exact.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256, BLOCKS = 1024 };

// Block b adds every gridDim.x-th piece of 256 elements to out[b].
__global__ void sum_kernel(float *out, const float *in, long n, int every)
{
    __shared__ float part[BLOCK];
    float total = 0;

    for (long i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += (long) gridDim.x * BLOCK)
        total += in[i * every];
    part[threadIdx.x] = total;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        // Separates the rounds: other threads read the partial sums of the round before.
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0] * every;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int every = n >= HUGE_CASE ? 2 : 1;

    sum_kernel<<<BLOCKS, BLOCK>>>(scratch, in, n / every, every);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<1, BLOCK>>>(out, scratch, BLOCKS, 1);
    CUDA_CHECK(cudaGetLastError());
}
