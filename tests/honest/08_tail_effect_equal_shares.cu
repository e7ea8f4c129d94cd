// expect: pass - as many blocks as fit, each with an equal, contiguous share of the pixels
// lab: tail_effect
#include "cudalab.cuh"
#include "kernel.h"

__global__ void share_kernel(unsigned *out, const unsigned *in, int count, int rounds)
{
    long long from = (long long) count * blockIdx.x / gridDim.x;
    long long to = (long long) count * (blockIdx.x + 1) / gridDim.x;

    for (long long i = from + threadIdx.x; i < to; i += blockDim.x) {
        unsigned seed = in[i], x = seed;
        for (int r = 0; r < rounds; r++)
            x = (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
        out[i] = x;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    const int threads = 128;
    int sms = 0, fit = 0;

    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, share_kernel, threads, 0));
    share_kernel<<<sms * fit, threads>>>(out, in, rows * cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
