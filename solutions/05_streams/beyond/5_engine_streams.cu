// rung: beyond, expect: pass - a stream for each engine, and events where the next one takes over
// With a stream for each buffer, every chunk hands each engine from one stream to another. Here an
// engine keeps to its own stream and finds its next chunk in it; what a stream's order said before,
// events have to say now: a chunk is there, is encrypted, has left its buffer. And chunks twice as
// large: each costs some microseconds besides its bytes, and the first and last of 16 are no loss
// against the hand-overs of 32.
#include "cudalab.cuh"
#include "kernel.h"

enum { CHUNKS = 16, BUFFERS = 4 };

static cudaStream_t up, work, down;
static cudaEvent_t there[BUFFERS], encrypted[BUFFERS], left[BUFFERS];

// Words a chunk: a CHUNKS-th of all, rounded up, as long as the device holds BUFFERS of them.
static long chunk_words(long n, long capacity)
{
    long chunk = (n + CHUNKS - 1) / CHUNKS;

    return chunk < capacity / BUFFERS ? chunk : capacity / BUFFERS;
}

static void make_stream(cudaStream_t *stream)
{
    CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

// An event that tells no time is cheaper.
static void make_event(cudaEvent_t *event)
{
    CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

// Made in the first call, and kept.
static void make_all(void)
{
    if (up)
        return;
    make_stream(&up);
    make_stream(&work);
    make_stream(&down);
    for (int b = 0; b < BUFFERS; b++) {
        make_event(&there[b]);
        make_event(&encrypted[b]);
        make_event(&left[b]);
    }
}

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long chunk = chunk_words(n, capacity);
    int b = 0;

    make_all();
    for (long first = 0; first < n; first += chunk) {
        long count = first + chunk < n ? chunk : n - first;
        size_t bytes = count * sizeof(uint32_t);
        uint32_t *buffer = device + b * chunk;

        // An event that was never recorded, or belongs to the call before, is no wait.
        CUDA_CHECK(cudaStreamWaitEvent(up, left[b]));
        CUDA_CHECK(cudaMemcpyAsync(buffer, in + first, bytes, cudaMemcpyHostToDevice, up));
        CUDA_CHECK(cudaEventRecord(there[b], up));

        CUDA_CHECK(cudaStreamWaitEvent(work, there[b]));
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK, 0, work>>>(buffer, count, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventRecord(encrypted[b], work));

        CUDA_CHECK(cudaStreamWaitEvent(down, encrypted[b]));
        CUDA_CHECK(cudaMemcpyAsync(out + first, buffer, bytes, cudaMemcpyDeviceToHost, down));
        CUDA_CHECK(cudaEventRecord(left[b], down));
        b = (b + 1) % BUFFERS;
    }

    // The last download is the last of all.
    CUDA_CHECK(cudaStreamSynchronize(down));
}
