// expect: pass - a stream per engine, and events from one to the next and back to the buffer
// lab: streams
#include "cudalab.cuh"
#include "kernel.h"

enum { SLOTS = 6 };

static cudaStream_t up, work, down;
static cudaEvent_t arrived[SLOTS], encrypted[SLOTS], gone[SLOTS];

static void set_up()
{
    if (up)
        return;
    for (cudaStream_t *s : { &up, &work, &down })
        CUDA_CHECK(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
    for (int i = 0; i < SLOTS; i++)
        for (cudaEvent_t *e : { &arrived[i], &encrypted[i], &gone[i] })
            CUDA_CHECK(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
}

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    long slot = capacity / SLOTS, piece = (n + 31) / 32;
    if (piece > slot)
        piece = slot;
    set_up();

    int i = 0;
    for (long at = 0; at < n; at += piece, i++) {
        long count = n - at < piece ? n - at : piece;
        int k = i % SLOTS;
        uint32_t *place = device + k * slot;

        if (i >= SLOTS)
            CUDA_CHECK(cudaStreamWaitEvent(up, gone[k], 0));
        CUDA_CHECK(cudaMemcpyAsync(place, in + at, count * 4, cudaMemcpyHostToDevice, up));
        CUDA_CHECK(cudaEventRecord(arrived[k], up));
        CUDA_CHECK(cudaStreamWaitEvent(work, arrived[k], 0));
        encrypt_kernel<<<ceil_div(count, BLOCK), BLOCK, 0, work>>>(place, count, key, rounds);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventRecord(encrypted[k], work));
        CUDA_CHECK(cudaStreamWaitEvent(down, encrypted[k], 0));
        CUDA_CHECK(cudaMemcpyAsync(out + at, place, count * 4, cudaMemcpyDeviceToHost, down));
        CUDA_CHECK(cudaEventRecord(gone[k], down));
    }
    CUDA_CHECK(cudaStreamSynchronize(down));
}
