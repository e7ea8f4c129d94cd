/* 08_tail_effect - compares the reference and our fastest rung with the ideal, in which all SMs
 * work until the end: the time of one row per SM, scaled by the number of rows. `make bench`;
 * KERNEL is the file of the fastest rung, REFERENCE that of the last numbered one. */
#include "bench.h"
#include "fill.h"
#include "lab.h"

/* Two files that define the same names: each is in its own namespace, and its function is renamed,
 * since an `extern "C"` function has one name in all namespaces. */
#define advance advance_reference
namespace reference
{
#include REFERENCE
}
#undef advance

#define advance advance_fastest
namespace fastest
{
#include KERNEL
}
#undef advance

enum { SETS = 3, COLS = 8192, ROUNDS = 2048 };

typedef struct Problem {
    int sms, rows;
    unsigned *in[SETS], *out[SETS];
} Problem;

static void by_reference(void *self, int set)
{
    Problem *p = (Problem *) self;

    reference::advance_reference(p->out[set], p->in[set], p->rows, COLS, ROUNDS);
}

static void by_fastest(void *self, int set)
{
    Problem *p = (Problem *) self;

    fastest::advance_fastest(p->out[set], p->in[set], p->rows, COLS, ROUNDS);
}

/* Times one row per SM with the reference: all SMs have the same work, however it is cut. */
static void even(void *self, int set)
{
    Problem *p = (Problem *) self;

    reference::advance_reference(p->out[set], p->in[set], p->sms, COLS, ROUNDS);
}

static __global__ void fill_kernel(unsigned *data, int count, FillKey key)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] = fill_bits(key, i);
}

static __global__ void differences(Problem p, unsigned long long *differ)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.rows * COLS;
         i += gridDim.x * blockDim.x) {
        unsigned seed = p.in[0][i], x = seed;
        for (int round = 0; round < ROUNDS; round++)
            x = (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
        if (p.out[0][i] != x)
            atomicAdd(differ, 1ull);
    }
}

/* Checks the result first: every number, from a poisoned output. */
static void check(Problem *p, const char *who, BenchCall *call)
{
    unsigned long long differ = 0, *on_device;

    CUDA_CHECK(cudaMalloc(&on_device, sizeof differ));
    CUDA_CHECK(cudaMemset(on_device, 0, sizeof differ));
    CUDA_CHECK(cudaMemset(p->out[0], 0xFF, sizeof(unsigned) * p->rows * COLS));
    call(p, 0);
    differences<<<1024, 256>>>(*p, on_device);
    CUDA_CHECK(cudaMemcpy(&differ, on_device, sizeof differ, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(on_device));
    if (!differ)
        return;
    fprintf(stderr, "%d rows: %llu numbers of the %s are wrong\n", p->rows, differ, who);
    exit(1);
}

static void print_share(const Problem *p, const char *who, BenchResult r)
{
    double ideal = (double) p->rows / p->sms;

    printf("    %s: %.4f [%.4f, %.4f] of the ideal\n", who, r.ratio.median * ideal,
           r.ratio.lo * ideal, r.ratio.hi * ideal);
    bench_figure(r.ratio.median * ideal, "%s/%d rows/of the ideal", who, p->rows);
    bench_figure(r.ratio.lo * ideal, "%s/%d rows/of the ideal from", who, p->rows);
    bench_figure(r.ratio.hi * ideal, "%s/%d rows/of the ideal to", who, p->rows);
}

static void measure(int sms, int rows)
{
    Problem p = { sms, rows };
    Bench bench = { &p };
    BenchResult race;
    char name[64];

    bench.sets = SETS;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaMalloc(&p.in[i], sizeof(unsigned) * rows * COLS));
        CUDA_CHECK(cudaMalloc(&p.out[i], sizeof(unsigned) * rows * COLS));
        fill_kernel<<<256, 256>>>(p.in[i], rows * COLS, fill_key(i + 1, 0));
        CUDA_CHECK(cudaGetLastError());
    }
    check(&p, "reference", by_reference);
    check(&p, "fastest", by_fastest);
    PUT(name, "%d rows", rows);
    race = bench_race(&bench, even, by_reference);
    bench_row(name, "SMs rows", "reference", &bench, race);
    print_share(&p, "reference", race);
    race = bench_race(&bench, even, by_fastest);
    bench_row(name, "SMs rows", "fastest", &bench, race);
    print_share(&p, "fastest", race);
    bench_row(name, "SMs rows", "SMs rows", &bench, bench_race(&bench, even, even));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaFree(p.in[i]));
        CUDA_CHECK(cudaFree(p.out[i]));
    }
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
}

int main(void)
{
    int sms;

    bench_head(KERNEL);
    printf("reference: %s\n", REFERENCE);
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    measure(sms, sms + 1);
    measure(sms, 2 * sms + 1);
    return 0;
}
