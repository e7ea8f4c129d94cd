/* bench.h - shared by the benchmarks of the simulated GPU: measures launches and memory, and prints
 * one line for bench.sh: name, median milliseconds, minimum, repetitions, KiB allocated, peak KiB
 * of the process, milliseconds of the second launch.
 *
 * With time modelled, later launches may repeat earlier ones, and are then not played. The second
 * launch is always played, and unlike the first one does not load the program.
 */
#ifndef SIM_BENCH_H
#define SIM_BENCH_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST_REPETITIONS = 50 };

static size_t bench_allocated; /* bytes on host and device */

static inline void *bench_host(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory)
        exit(1);
    bench_allocated += bytes;
    return memory;
}

static inline void *bench_device(size_t bytes)
{
    void *memory;

    CHECK(cudaMalloc(&memory, bytes));
    bench_allocated += bytes;
    return memory;
}

/* CPU time of all threads of the process, so that other work on the machine does not count; with
 * BENCH_WALL, what a clock on the wall shows. */
static inline double bench_now_ms(void)
{
    struct timespec now;

    clock_gettime(getenv("BENCH_WALL") ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return x < y ? -1 : x > y;
}

typedef struct BenchTimes {
    double median_ms, least_ms, second_ms;
    int repetitions;
} BenchTimes;

/* Measures launch(self), each time until the device is idle. */
static inline BenchTimes bench_run(void (*launch)(void *), void *self, int repetitions)
{
    double times[MOST_REPETITIONS], second;

    for (int i = 0; i < repetitions; i++) {
        double begin = bench_now_ms();
        launch(self);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        times[i] = bench_now_ms() - begin;
    }
    second = times[repetitions > 1];
    qsort(times, (size_t) repetitions, sizeof *times, bench_compare);
    return { times[repetitions / 2], times[0], second, repetitions };
}

/* VmHWM */
static inline long bench_peak_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    long peak = 0;

    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "VmHWM:", 6))
            peak = atol(line + 6);
    if (status)
        fclose(status);
    return peak;
}

static inline void bench_print(const char *name, const BenchTimes *times)
{
    printf("%s %.3f %.3f %d %zu %ld %.3f\n", name, times->median_ms, times->least_ms,
           times->repetitions, bench_allocated / 1024, bench_peak_kib(), times->second_ms);
}

/* A multiple of 1/256 in [0, 1) that depends on nothing but i. */
static inline float bench_value(unsigned i)
{
    return (float) ((i * 2654435761u >> 24) / 256.0);
}

#endif
