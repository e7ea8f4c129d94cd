// expect: slow (sim: unsupported) - host_encrypts in other host memory, by copies in and out
// lab: streams
// Copies from host to host are allowed, and take little modelled time. Defence: a copy between an
// array and other host memory counts as a touch.
#include "cudalab.cuh"
#include "kernel.h"

enum { MOST = 1 << 20 };

static uint32_t own[MOST];

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long first = n / 32 < capacity ? n / 32 : capacity;

    for (long at = first, count; at < n; at += count) {
        count = n - at < MOST ? n - at : MOST;
        CUDA_CHECK(cudaMemcpy(own, in + at, count * 4, cudaMemcpyHostToHost));
        for (long i = 0; i < count; i++)
            own[i] = encrypt_word(own[i], key, rounds);
        CUDA_CHECK(cudaMemcpy(out + at, own, count * 4, cudaMemcpyHostToHost));
    }
    if (first > 0) {
        CUDA_CHECK(cudaMemcpyAsync(device, in, first * 4, cudaMemcpyHostToDevice));
        encrypt_kernel<<<ceil_div(first, BLOCK), BLOCK>>>(device, first, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(out, device, first * 4, cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}
