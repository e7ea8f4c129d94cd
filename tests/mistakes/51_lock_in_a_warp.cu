// lab: reduction
// mistake: lanes of a warp wait for a lock that another lane holds
#include "cudalab.cuh"
#include "kernel.h"

__device__ int lock;

__global__ void clear_kernel(float *out)
{
    *out = 0;
}

__global__ void sum_kernel(float *out, const float *in, long n)
{
    float sum = 0;

    for (long i = threadIdx.x; i < n; i += 32)
        sum += in[i];
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    *(volatile float *) out += sum;
    __threadfence();
    atomicExch(&lock, 0);
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    clear_kernel<<<1, 1>>>(out);
    sum_kernel<<<1, 32>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
