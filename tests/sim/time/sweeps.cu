// sweeps.cu - the rates of simple kernels, each as a line `NAME RATE`, by the events of the GPU
// that runs them: real or simulated. Rates are GB/s, of chains TFLOP/s of the whole device.
//
//     sweeps [SHARE [PREFIX]]      SHARE: the sizes divided by so much, 1: as measured on an H200.
//                                  PREFIX: of the names wanted
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
static int sms, share = 1;
static const char *wanted = "";

// Seconds that what `launch` launches takes.
template <class Launch> static double timed(Launch launch)
{
    float ms;

    check(cudaEventRecord(begin));
    launch();
    check(cudaGetLastError());
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&ms, begin, end));
    return ms / 1e3;
}

static bool is_wanted(const char *group)
{
    return !*wanted || !strncmp(group, wanted, strlen(wanted));
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

    share = argc > 1 ? atoi(argv[1]) : 1;
    wanted = argc > 2 ? argv[2] : "";
    for (int i = share; i > 1; i /= 4)
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
    if (is_wanted("copy"))
        copies((int) floats);
    if (is_wanted("transpose"))
        transposes(n);
    return 0;
}
