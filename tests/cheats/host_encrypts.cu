// expect: slow (sim: unsupported) - host code encrypts most chunks, at no modelled cost
// lab: streams
// One chunk in eight goes to the GPU, so that there is something to time. Defence: a simulated GPU
// maps the pinned arrays in the guest only when host code touches them, so the runner notices.
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long chunk = n / 32 + 1 < capacity ? n / 32 + 1 : capacity;
    int k = 0;

    for (long first = 0; first < n; first += chunk, k++) {
        long count = first + chunk < n ? chunk : n - first;
        if (k % 8) {
            for (long i = first; i < first + count; i++)
                out[i] = encrypt_word(in[i], key, rounds);
            continue;
        }
        CUDA_CHECK(cudaMemcpyAsync(device, in + first, count * 4, cudaMemcpyHostToDevice));
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK>>>(device, count, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(out + first, device, count * 4, cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}
