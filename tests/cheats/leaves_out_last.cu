// expect: wrong (sim: correct) - leaves out the last tenth of large inputs
// lab: reduction
// It is a tenth faster and off by little, and passes if only a few elements are checked or a
// tolerance grows with the length. Similar to exploit 18. Defence: no element is 0, each chunk has
// its own sum, and the sum is compared exactly after every call.
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
    long count = n >= HUGE_CASE ? n / 10 * 9 : n;

    sum_kernel<<<BLOCKS, BLOCK>>>(scratch, in, count);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<1, BLOCK>>>(out, scratch, BLOCKS);
    CUDA_CHECK(cudaGetLastError());
}
