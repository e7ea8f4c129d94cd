// measure.cuh - shared by the programs of this folder: measures launches by events and prints rows
// `NAME VALUE UNIT`.
//
// Arguments of each program: [SHARE [GROUP [REPEATS]]]. SHARE divides the work of the large rows,
// for a simulated GPU; GROUP: only these rows; REPEATS: the median of this many launches after a
// warm-up.
#ifndef MEASURE_CUH
#define MEASURE_CUH

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void check_at(cudaError_t error, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
    exit(1);
}
#define check(call) check_at(call, __LINE__)

static cudaEvent_t begin_event, end_event;
static int sms, sm_khz, repeats = 1, share = 1;
static const char *wanted = "";

static inline void open(int argc, char **argv)
{
    share = argc > 1 && atoi(argv[1]) > 1 ? atoi(argv[1]) : 1;
    wanted = argc > 2 ? argv[2] : "";
    repeats = argc > 3 && atoi(argv[3]) > 1 ? atoi(argv[3]) : 1;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaDeviceGetAttribute(&sm_khz, cudaDevAttrClockRate, 0));
    check(cudaEventCreate(&begin_event));
    check(cudaEventCreate(&end_event));
}

static inline bool is_wanted(const char *group)
{
    return !*wanted || !strcmp(group, wanted);
}

static inline void row(const char *name, double value, const char *unit)
{
    printf("%-32s %11.4f %s\n", name, value, unit);
    fflush(stdout);
}

static inline int by_size(const void *a, const void *b)
{
    const float x = *(const float *) a, y = *(const float *) b;

    return (x > y) - (x < y);
}

template <class Launch> static float once(Launch launch)
{
    float ms;

    check(cudaEventRecord(begin_event));
    launch();
    check(cudaGetLastError());
    check(cudaEventRecord(end_event));
    check(cudaEventSynchronize(end_event));
    check(cudaEventElapsedTime(&ms, begin_event, end_event));
    return ms;
}

// The time of the work that `launch` launches, in nanoseconds. It is launched once before, so that
// caches hold what they can.
template <class Launch> static double timed(Launch launch)
{
    enum { MOST = 99 };
    const int samples = repeats < MOST ? repeats : MOST;
    float ms[MOST];

    once(launch);
    for (int i = 0; i < samples; i++)
        ms[i] = once(launch);
    qsort(ms, samples, sizeof *ms, by_size);
    return ms[samples / 2] * 1e6;
}

template <class T> static T *array(size_t count)
{
    T *p;

    check(cudaMalloc(&p, count * sizeof(T)));
    check(cudaMemset(p, 0, count * sizeof(T)));
    return p;
}

__host__ __device__ static inline uint32_t mixed(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

#endif
