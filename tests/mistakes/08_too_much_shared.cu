// lab: reduction
// mistake: a block has more static shared memory than a GPU allows
#include "cudalab.cuh"
#include "kernel.h"

__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[16384];

    for (int i = threadIdx.x; i < 16384; i += blockDim.x)
        part[i] = i < n ? in[i] : 0;
    __syncthreads();
    out[0] = part[n % 16384];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<1, 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
