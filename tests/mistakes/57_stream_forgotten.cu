// lab: streams
// mistake: the launch lacks its stream, so the kernel waits for no copy of a non-blocking stream
#include "cudalab.cuh"
#include "kernel.h"

enum { BUFFERS = 2 };

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    static cudaStream_t stream[BUFFERS];
    long chunk = capacity / BUFFERS;

    for (int b = 0; b < BUFFERS && !stream[b]; b++)
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream[b], cudaStreamNonBlocking));
    for (long first = 0, k = 0; first < n; first += chunk, k++) {
        long count = first + chunk < n ? chunk : n - first;
        uint32_t *buffer = device + k % BUFFERS * chunk;
        cudaStream_t s = stream[k % BUFFERS];
        CUDA_CHECK(
            cudaMemcpyAsync(buffer, in + first, count * sizeof *in, cudaMemcpyHostToDevice, s));
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK>>>(buffer, count, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(
            cudaMemcpyAsync(out + first, buffer, count * sizeof *out, cudaMemcpyDeviceToHost, s));
    }
    for (int b = 0; b < BUFFERS; b++)
        CUDA_CHECK(cudaStreamSynchronize(stream[b]));
}
