// expect: slow - correct; many streams, but it waits after each chunk
#include "cudalab.cuh"
#include "kernel.h"

enum { CHUNKS = 32, BUFFERS = 3 };

static cudaStream_t stream[BUFFERS];

// Words per chunk: n / CHUNKS, rounded up, but BUFFERS chunks must fit on the device.
static long chunk_words(long n, long capacity)
{
    long chunk = (n + CHUNKS - 1) / CHUNKS;

    return chunk < capacity / BUFFERS ? chunk : capacity / BUFFERS;
}

// The first call creates the streams; later calls reuse them. They do not wait for the default
// stream.
static void make_streams(void)
{
    for (int b = 0; b < BUFFERS && !stream[b]; b++)
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream[b], cudaStreamNonBlocking));
}

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long chunk = chunk_words(n, capacity);
    int b = 0;

    make_streams();
    for (long first = 0; first < n; first += chunk) {
        long count = first + chunk < n ? chunk : n - first;
        size_t bytes = count * sizeof(uint32_t);
        uint32_t *buffer = device + b * chunk;

        CUDA_CHECK(cudaMemcpyAsync(buffer, in + first, bytes, cudaMemcpyHostToDevice, stream[b]));
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK, 0, stream[b]>>>(buffer, count, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(out + first, buffer, bytes, cudaMemcpyDeviceToHost, stream[b]));
        CUDA_CHECK(cudaStreamSynchronize(stream[b]));
        b = (b + 1) % BUFFERS;
    }

    // The copies are only queued. They must be complete before this function returns.
    for (b = 0; b < BUFFERS; b++)
        CUDA_CHECK(cudaStreamSynchronize(stream[b]));
}
