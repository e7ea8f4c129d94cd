// expect: device - breadth-first: all uploads of a round, then its kernels, then its downloads
// lab: streams
#include "cudalab.cuh"
#include "kernel.h"

enum { STREAMS = 8 };

static struct Pipes {
    cudaStream_t s[STREAMS];
} pipes;

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long size = capacity / STREAMS;

    if (size > (n + 63) / 64)
        size = (n + 63) / 64;
    for (cudaStream_t &s : pipes.s)
        if (!s)
            CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (long base = 0; base < n; base += STREAMS * size) {
        long begin[STREAMS + 1];
        for (int k = 0; k <= STREAMS; k++)
            begin[k] = base + k * size < n ? base + k * size : n;
        for (int k = 0; k < STREAMS; k++)
            if (begin[k] < begin[k + 1])
                CUDA_CHECK(cudaMemcpyAsync(device + k * size, in + begin[k],
                                           (begin[k + 1] - begin[k]) * sizeof(uint32_t),
                                           cudaMemcpyHostToDevice, pipes.s[k]));
        for (int k = 0; k < STREAMS; k++)
            if (begin[k] < begin[k + 1]) {
                int count = begin[k + 1] - begin[k];
                encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK, 0, pipes.s[k]>>>(
                    device + k * size, count, key, rounds);
                CUDA_CHECK(cudaGetLastError());
            }
        for (int k = 0; k < STREAMS; k++)
            if (begin[k] < begin[k + 1])
                CUDA_CHECK(cudaMemcpyAsync(out + begin[k], device + k * size,
                                           (begin[k + 1] - begin[k]) * sizeof(uint32_t),
                                           cudaMemcpyDeviceToHost, pipes.s[k]));
    }
    for (cudaStream_t s : pipes.s)
        CUDA_CHECK(cudaStreamSynchronize(s));
}
