// lab: streams
// mistake: the function returns before its copies are complete
#include "cudalab.cuh"
#include "kernel.h"

enum { CHUNKS = 32 };

// Words per chunk: n / CHUNKS, rounded up, but no more than the device holds.
static long chunk_words(long n, long capacity)
{
    long chunk = (n + CHUNKS - 1) / CHUNKS;

    return chunk < capacity ? chunk : capacity;
}

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long chunk = chunk_words(n, capacity);

    for (long first = 0; first < n; first += chunk) {
        long count = first + chunk < n ? chunk : n - first;
        size_t bytes = count * sizeof(uint32_t);

        CUDA_CHECK(cudaMemcpyAsync(device, in + first, bytes, cudaMemcpyHostToDevice));
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK>>>(device, count, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(out + first, device, bytes, cudaMemcpyDeviceToHost));
    }

    // The copies are only queued. They must be complete before this function returns.
}
