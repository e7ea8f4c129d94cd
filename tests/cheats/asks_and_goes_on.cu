// expect: wrong (sim: slow) - queries a stream and continues in another without waiting
// lab: streams
// On the simulated GPU each query completes one piece of queued work. Without a cost in modelled
// time, dependent work in other streams would seem to overlap. On a real GPU the result is wrong.
// Defence: a query costs the modelled time of the piece that it completes.
#include "cudalab.cuh"
#include "kernel.h"

enum { CHUNKS = 32, STREAMS = 3 };

static cudaStream_t streams[STREAMS];

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long chunk = (n + CHUNKS - 1) / CHUNKS < capacity ? (n + CHUNKS - 1) / CHUNKS : capacity;

    for (int i = 0; i < STREAMS && !streams[i]; i++)
        CUDA_CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (long first = 0; first < n; first += chunk) {
        long count = first + chunk < n ? chunk : n - first;

        CUDA_CHECK(
            cudaMemcpyAsync(device, in + first, count * 4, cudaMemcpyHostToDevice, streams[0]));
        cudaStreamQuery(streams[0]);
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK, 0, streams[1]>>>(device, count, key,
                                                                         rounds);
        CUDA_CHECK(cudaGetLastError());
        cudaStreamQuery(streams[1]);
        CUDA_CHECK(
            cudaMemcpyAsync(out + first, device, count * 4, cudaMemcpyDeviceToHost, streams[2]));
        cudaStreamQuery(streams[2]);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}
