// Shown in slides/05_streams.md, "Find the bug". The upload counts words, not bytes; the download
// is in the other stream, and no event orders it after the kernel.
#include "cudalab.cuh"
#include "kernel.h"

static cudaStream_t stream[2];

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long chunk = capacity / 2;
    int b = 0;

    for (int s = 0; s < 2 && !stream[s]; s++)
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    for (long first = 0; first < n; first += chunk) {
        long count = first + chunk < n ? chunk : n - first;
        size_t bytes = count * sizeof(uint32_t);
        uint32_t *tile = device + b * chunk;
        cudaStream_t mine = stream[b], other = stream[1 - b];

        CUDA_CHECK(cudaMemcpyAsync(tile, in + first, count, cudaMemcpyHostToDevice, mine));
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK, 0, mine>>>(tile, count, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(out + first, tile, bytes, cudaMemcpyDeviceToHost, other));
        b = 1 - b;
    }
    for (int s = 0; s < 2; s++)
        CUDA_CHECK(cudaStreamSynchronize(stream[s]));
}
