// expect: pass (sim: device) - a pointer advances to the end, in shared memory, too
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

static __global__ void walk(float *sums, const float *begin, const float *end)
{
    extern __shared__ float board[];
    const float *at = begin + blockDim.x * (size_t) blockIdx.x + threadIdx.x;
    const size_t stride = (size_t) blockDim.x * gridDim.x;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;

    while (end - at > (ptrdiff_t) (3 * stride)) {
        s0 += *at;
        at += stride;
        s1 += *at;
        at += stride;
        s2 += *at;
        at += stride;
        s3 += *at;
        at += stride;
    }
    for (; at < end; at += stride)
        s0 += *at;

    float *mine = board + threadIdx.x;
    *mine = s0 + s1 + s2 + s3;
    for (float *middle = board + blockDim.x / 2; middle > board;
         middle = board + (middle - board) / 2) {
        __syncthreads(); // the previous round's sums must be written
        if (mine < middle)
            *mine += *(mine + (middle - board));
    }
    if (mine == board)
        sums[blockIdx.x] = *board;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    const int threads = 1024, blocks = 512;

    walk<<<blocks, threads, threads * sizeof(float)>>>(scratch, in, in + n);
    CUDA_CHECK(cudaGetLastError());
    walk<<<1, blocks, blocks * sizeof(float)>>>(out, scratch, scratch + blocks);
    CUDA_CHECK(cudaGetLastError());
}
