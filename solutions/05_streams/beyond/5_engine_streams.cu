// rung: beyond, expect: pass - one stream per engine, with events between the engines
// With one stream per buffer, each engine changes to another stream with every chunk. Here each
// engine has its own stream. So events must give the order that one stream gave before: a chunk is
// uploaded, then encrypted, then leaves its buffer. Chunks are twice as large, because each costs
// some microseconds in addition to its bytes. That saves more than the longer first and last chunks
// cost.
#include "cudalab.cuh"
#include "kernel.h"

enum { CHUNKS = 16, BUFFERS = 4 };

static cudaStream_t up, work, down;
static cudaEvent_t there[BUFFERS], encrypted[BUFFERS], left[BUFFERS];

// Words per chunk: n / CHUNKS, rounded up, but BUFFERS chunks must fit on the device.
static long chunk_words(long n, long capacity)
{
    long chunk = (n + CHUNKS - 1) / CHUNKS;

    return chunk < capacity / BUFFERS ? chunk : capacity / BUFFERS;
}

static void make_stream(cudaStream_t *stream)
{
    CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

// An event without timing is cheaper.
static void make_event(cudaEvent_t *event)
{
    CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

// The first call creates them; later calls reuse them.
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

        // Waiting for an event that was never recorded, or that has been complete since the last
        // call, returns immediately.
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

    // The last download is the very last operation.
    CUDA_CHECK(cudaStreamSynchronize(down));
}
