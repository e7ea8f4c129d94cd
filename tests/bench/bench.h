/* bench.h - times two implementations of the same work alternately, in one process.
 *
 * Blocks R S S R or S R R S are drawn at random; a sample runs over a ring of buffer sets for at
 * least 5 ms. The ratio of a block is the library's time over the kernel's (above 1: the kernel is
 * faster). It is printed with its 95 % interval, and with the library compared with itself (A/A),
 * which shows the smallest difference that this machine can measure.
 *
 * If WARPBOOK_FIGURES names a file, figures are also appended to it, as `key value` lines, which
 * lessons quote (docs/measured).
 */
#ifndef BENCH_H
#define BENCH_H

#include "cudalab.cuh"

extern "C" {
#include "base/stats.h"
#include "base/util.h"
}

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BENCH_BLOCKS = 31 };

/* Adds one figure for docs/measured; its formatted key ends with the unit. */
__attribute__((format(printf, 2, 3))) static inline void bench_figure(double value, const char *key,
                                                                      ...)
{
    const char *path = getenv("WARPBOOK_FIGURES");
    FILE *file = path ? fopen(path, "a") : NULL;
    va_list arguments;

    if (!path)
        return;
    if (!file)
        die("%s cannot be written", path);
    va_start(arguments, key);
    vfprintf(file, key, arguments);
    va_end(arguments);
    fprintf(file, " %.5f\n", value);
    if (fclose(file))
        die("%s cannot be written", path);
}

/* One call on buffer set `set`. */
typedef void BenchCall(void *self, int set);

typedef struct Bench {
    void *self;
    int sets;
    double bytes;     /* the minimum bytes of one call, or another amount of work; 0: no rates */
    const char *unit; /* a rate's unit, 10^9 per second; NULL: GB/s */
    cudaEvent_t start, stop;
} Bench;

static inline double bench_sample(Bench *bench, BenchCall *call, int calls)
{
    float ms;

    CUDA_CHECK(cudaEventRecord(bench->start));
    for (int i = 0; i < calls; i++)
        call(bench->self, i % bench->sets);
    CUDA_CHECK(cudaEventRecord(bench->stop));
    CUDA_CHECK(cudaEventSynchronize(bench->stop));
    CUDA_CHECK(cudaEventElapsedTime(&ms, bench->start, bench->stop));
    return (double) ms / calls;
}

/* The number of calls that take 5 ms, in whole rounds of the ring. */
static inline int bench_calls(Bench *bench, BenchCall *call)
{
    double ms = bench_sample(bench, call, bench->sets);
    int rounds = (int) (5 / (ms * bench->sets)) + 1;

    return rounds * bench->sets;
}

typedef struct BenchResult {
    double library_ms, ours_ms;
    Interval ratio;
} BenchResult;

static inline BenchResult bench_race(Bench *bench, BenchCall *library, BenchCall *ours)
{
    double ratio[BENCH_BLOCKS], library_ms[BENCH_BLOCKS], ours_ms[BENCH_BLOCKS];
    int calls_library = bench_calls(bench, library), calls_ours = bench_calls(bench, ours);
    uint64_t random = 1;
    BenchResult result;

    for (int block = -2; block < BENCH_BLOCKS; block++) { /* the first two warm up */
        double ms[2] = { 0, 0 };
        int mirrored = (int) (next_random(&random) & 1);
        for (int i = 0; i < 4; i++) {
            int who = mirrored ^ (i == 1 || i == 2);
            ms[who] += who ? bench_sample(bench, ours, calls_ours) / 2
                           : bench_sample(bench, library, calls_library) / 2;
        }
        if (block < 0)
            continue;
        ratio[block] = ms[0] / ms[1];
        library_ms[block] = ms[0];
        ours_ms[block] = ms[1];
    }
    result.library_ms = median(library_ms, BENCH_BLOCKS);
    result.ours_ms = median(ours_ms, BENCH_BLOCKS);
    result.ratio = median_interval(ratio, BENCH_BLOCKS, 0.05);
    return result;
}

/* Prints a row, "cublasSgeam, fastest"; figures begin "PROBLEM/fastest beside cublasSgeam/". */
static inline void bench_row(const char *problem, const char *library, const char *ours,
                             const Bench *bench, BenchResult r)
{
    double its_rate = bench->bytes / r.library_ms * 1e-6,
           our_rate = bench->bytes / r.ours_ms * 1e-6;
    const char *unit = bench->unit ? bench->unit : "GB/s";
    char names[64], key[160];

    PUT(names, "%s, %s", library, ours);
    printf("%-18s %-28s %8.4f %6.0f  %8.4f %6.0f  %.4f [%.4f, %.4f]\n", problem, names,
           r.library_ms, its_rate, r.ours_ms, our_rate, r.ratio.median, r.ratio.lo, r.ratio.hi);
    fflush(stdout);
    PUT(key, "%s/%s beside %s", problem, ours, library);
    bench_figure(r.library_ms, "%s/its ms", key);
    bench_figure(r.ours_ms, "%s/ms", key);
    if (bench->bytes > 0) {
        bench_figure(its_rate, "%s/its %s", key, unit);
        bench_figure(our_rate, "%s/%s", key, unit);
    }
    bench_figure(r.ratio.median, "%s/ratio", key);
    bench_figure(r.ratio.lo, "%s/ratio from", key);
    bench_figure(r.ratio.hi, "%s/ratio to", key);
}

static inline void bench_head(const char *kernel)
{
    cudaDeviceProp device;
    int driver, devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        fprintf(stderr, "make bench needs an NVIDIA GPU and its driver: none is usable here.\n");
        exit(3);
    }
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    printf("%s, driver for CUDA %d.%d, built with CUDA %d.%d: %s\n", device.name, driver / 1000,
           driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, kernel);
    printf("%-18s %-28s %8s %6s  %8s %6s  %s\n", "problem", "library, kernel", "its ms", "GB/s",
           "our ms", "GB/s", "ratio [95 %]; above 1: the kernel is faster");
}

#endif
