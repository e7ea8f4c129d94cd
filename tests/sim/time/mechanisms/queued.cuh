// queued.cuh - shared by programs that measure how work in streams follows other work.
//
// All work is issued while a kernel runs (the gate), so that the host's calls take no part.
#ifndef QUEUED_CUH
#define QUEUED_CUH

#include "measure.cuh"

enum { MOST_STREAMS = 32, GATE = 60000 };

static float *out;
static cudaStream_t streams[MOST_STREAMS];
static cudaEvent_t joins[MOST_STREAMS];

// Dependent multiply-adds: 64 cycles a loop.
__global__ void arithmetic(float *out, int loops)
{
    float x = threadIdx.x;

#pragma unroll 1
    for (int i = 0; i < loops; i++)
#pragma unroll
        for (int k = 0; k < 16; k++)
            x = x * 0.5f + 1.25f;
    if (x == 12345.f)
        *out = x;
}

static inline void kernel(int loops, cudaStream_t stream, int blocks = 1)
{
    arithmetic<<<blocks, 128, 0, stream>>>(out, loops);
}

// The microseconds of what `work` issues in the first `count` streams.
template <class Work> static double sample(int count, bool gate, Work work)
{
    float ms;

    check(cudaDeviceSynchronize());
    if (gate)
        kernel(GATE, streams[0]);
    check(cudaEventRecord(begin_event, streams[0]));
    for (int i = 1; i < count; i++)
        check(cudaStreamWaitEvent(streams[i], begin_event, 0));
    work();
    check(cudaGetLastError());
    for (int i = 1; i < count; i++) {
        check(cudaEventRecord(joins[i], streams[i]));
        check(cudaStreamWaitEvent(streams[0], joins[i], 0));
    }
    check(cudaEventRecord(end_event, streams[0]));
    check(cudaEventSynchronize(end_event));
    check(cudaEventElapsedTime(&ms, begin_event, end_event));
    return ms * 1e3;
}

template <class Work>
static void report(const char *name, int count, int pieces, Work work, bool gate = true)
{
    enum { MOST = 99 };
    const int samples = repeats < MOST ? repeats : MOST;
    float us[MOST];

    sample(count, gate, work);
    for (int i = 0; i < samples; i++)
        us[i] = (float) sample(count, gate, work);
    qsort(us, samples, sizeof *us, by_size);
    row(name, us[samples / 2] / pieces, "us");
}

static inline void open_streams()
{
    out = array<float>(1);
    for (int i = 0; i < MOST_STREAMS; i++) {
        check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&joins[i], cudaEventDisableTiming));
    }
}

#endif
