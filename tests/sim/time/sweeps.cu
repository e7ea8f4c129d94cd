// sweeps.cu - measures the rates of simple kernels on a real or simulated GPU, with events, and
// prints them as lines `NAME RATE`. Rates are GB/s, and for chains TFLOP/s of the whole device.
//
//     sweeps [SHARE [GROUP [REPEATS]]]
//
// SHARE divides the sizes; 1: as measured on an H200. GROUP: chain, registers, copy, occupancy,
// transpose or grid; all if omitted or "". REPEATS: the median of this many launches, after one
// warm-up launch; the default is a single launch without warm-up, which is enough on a simulated
// GPU.
#include "kernels.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "sweeps: %s\n", cudaGetErrorString(error));
    exit(1);
}

static cudaEvent_t begin, end;
static float *in, *out;
static int sms, repeats = 1;
static const char *wanted = "";

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *) a, y = *(const float *) b;

    return (x > y) - (x < y);
}

template <class Launch> static float once(Launch launch)
{
    float ms;

    check(cudaEventRecord(begin));
    launch();
    check(cudaGetLastError());
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

// The duration of the work that `launch` launches, in seconds.
template <class Launch> static double timed(Launch launch)
{
    enum { MOST = 99 };
    const int samples = repeats < MOST ? repeats : MOST;
    float ms[MOST];

    if (repeats > 1)
        once(launch);
    for (int i = 0; i < samples; i++)
        ms[i] = once(launch);
    qsort(ms, samples, sizeof *ms, by_size);
    return ms[samples / 2] / 1e3;
}

static bool is_wanted(const char *group)
{
    return !*wanted || !strcmp(group, wanted);
}

static void row(const char *name, double rate)
{
    printf("%-28s %9.2f\n", name, rate);
    fflush(stdout);
}

template <int ILP> static double chain(int threads)
{
    const int a_block = threads < 1024 ? threads : 1024, blocks = sms * (threads / a_block);
    const int loops = 60 * 1024 / threads;
    const double flop = 2.0 * (256 / ILP * ILP) * loops * blocks * a_block;

    return flop / timed([=] { fma_chain<ILP><<<blocks, a_block>>>(out, 0.999f, loops); }) / 1e12;
}

template <int ILP> static double chain_of_registers()
{
    const int threads = 1024, loops = 60;
    const double flop = 2.0 * (256 / ILP * ILP) * loops * sms * threads;

    return flop / timed([=] { fma_chain_registers<ILP><<<sms, threads>>>(out, in, loops); }) / 1e12;
}

static void chains()
{
    static const int threads[] = { 32, 64, 128, 256, 512, 1024 };
    char name[40];

    for (int i = 0; i < 6; i++) {
        const double rates[] = { chain<1>(threads[i]), chain<2>(threads[i]), chain<3>(threads[i]),
                                 chain<4>(threads[i]), chain<8>(threads[i]) };
        static const int ilp[] = { 1, 2, 3, 4, 8 };
        for (int k = 0; k < 5; k++) {
            snprintf(name, sizeof name, "chain.%d.%d", threads[i], ilp[k]);
            row(name, rates[k]);
        }
    }
}

// With both factors in registers, many warps.
static void registers()
{
    row("registers.1", chain_of_registers<1>());
    row("registers.2", chain_of_registers<2>());
    row("registers.3", chain_of_registers<3>());
}

static void copies(int n)
{
    static const int strides[] = { 2, 4, 8, 32 };
    float4 *in4 = (float4 *) in, *out4 = (float4 *) out;
    char name[40];
    double s;

    s = timed([=] { copy_float<<<(n + 255) / 256, 256>>>(out, in, n); });
    row("copy.float", 8.0 * n / s / 1e9);
    s = timed([=] { copy_float4<<<(n / 4 + 127) / 128, 128>>>(out4, in4, n / 4); });
    row("copy.float4", 8.0 * n / s / 1e9);
    for (int i = 0; i < 4; i++) {
        const int stride = strides[i], count = n / stride;
        s = timed([=] { copy_strided<<<(count + 255) / 256, 256>>>(out, in, count, stride); });
        snprintf(name, sizeof name, "copy.stride.%d", stride);
        row(name, 8.0 * count / s / 1e9);
    }
}

// Offsets in words; a sector has 8, a line 32.
static void offsets(int n)
{
    static const int offset[] = { 1, 8, 16, 31 };
    char name[40];

    for (int i = 0; i < 4; i++) {
        const int o = offset[i];
        const double s = timed([=] { copy_from<<<(n + 255) / 256, 256>>>(out, in, n, o); });
        snprintf(name, sizeof name, "copy.offset.%d", o);
        row(name, 8.0 * (n - o) / s / 1e9);
    }
}

// Copies one float per thread, with fewer and fewer blocks of 256 threads per SM, limited by their
// shared memory.
static void occupancies(int n)
{
    int an_sm, a_block, most_blocks;
    char name[40];

    check(cudaDeviceGetAttribute(&an_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
    check(cudaDeviceGetAttribute(&a_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    check(cudaFuncSetAttribute(copy_float, cudaFuncAttributeMaxDynamicSharedMemorySize, a_block));
    for (int blocks = 1; blocks <= 8; blocks *= 2) {
        int bytes = an_sm / blocks - 2048;
        bytes = bytes < a_block ? bytes : a_block;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most_blocks, copy_float, 256, bytes));
        const double s = timed([=] { copy_float<<<(n + 255) / 256, 256, bytes>>>(out, in, n); });
        snprintf(name, sizeof name, "occupancy.%d", most_blocks * 8);
        row(name, 8.0 * n / s / 1e9);
    }
}

// Blocks that fill one, two or three waves, and one more block, which needs another wave.
static void grids()
{
    enum { THREADS = 256, LOOPS = 40 };
    int an_sm;
    char name[40];

    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, fma_chain<1>, THREADS, 0));
    for (int waves = 1; waves <= 3; waves++)
        for (int more = 0; more <= 1; more++) {
            const int blocks = waves * an_sm * sms + more;
            const double s = timed([=] { fma_chain<1><<<blocks, THREADS>>>(out, 0.999f, LOOPS); });
            snprintf(name, sizeof name, "grid.%d%s", waves, more ? ".and_one" : "");
            row(name, 2.0 * 256 * LOOPS * blocks * THREADS / s / 1e12);
        }
}

static void transposes(int n)
{
    const dim3 grid(n / TILE, n / TILE), block(TILE, BLOCK_ROWS);
    const double bytes = 8.0 * n * n;
    double s;

    s = timed([=] { transpose_naive<<<grid, block>>>(out, in, n); });
    row("transpose.naive", bytes / s / 1e9);
    s = timed([=] { transpose_tile<TILE><<<grid, block>>>(out, in, n); });
    row("transpose.conflicts", bytes / s / 1e9);
    s = timed([=] { transpose_tile<TILE + 1><<<grid, block>>>(out, in, n); });
    row("transpose.padded", bytes / s / 1e9);
}

int main(int argc, char **argv)
{
    int n = 16384;

    wanted = argc > 2 ? argv[2] : "";
    repeats = argc > 3 && atoi(argv[3]) > 1 ? atoi(argv[3]) : 1;
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 1; i /= 4)
        n /= 2;
    const size_t floats = (size_t) n * n;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaMalloc(&in, floats * 4));
    check(cudaMalloc(&out, floats * 4));
    check(cudaMemset(in, 0, floats * 4));
    check(cudaMemset(out, 0, floats * 4));
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    if (is_wanted("chain"))
        chains();
    if (is_wanted("registers"))
        registers();
    if (is_wanted("copy")) {
        copies((int) floats);
        offsets((int) floats);
    }
    if (is_wanted("occupancy"))
        occupancies((int) floats);
    if (is_wanted("grid"))
        grids();
    if (is_wanted("transpose"))
        transposes(n);
    return 0;
}
