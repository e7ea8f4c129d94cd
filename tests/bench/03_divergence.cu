/* 03_divergence - compares our fastest rung and the reference on mixed kinds with the same items
 * already sorted by kind, where nothing diverges and no kernel has to sort. Then it finds the r
 * from which on divergence matters, with two branches of r operations each that alternate between
 * lanes or between warps. `make bench`; KERNEL is the fastest rung's file, REFERENCE the
 * reference's. The first table's rates are 10^9 steps/s. */
#include "bench.h"
#include "fill.h"
#include "kernel.h"

/* Two files that define the same names, in one program. */
#define advance advance_by_kernel
namespace by_kernel
{
#include KERNEL
}
#undef advance
#define advance advance_by_reference
namespace by_reference
{
#include REFERENCE
}
#undef advance

enum { SETS = 3, BLOCK = 256, TIMED_ROUNDS = 512 }; /* as the lab times them on a large GPU */

typedef struct Problem {
    int n, rounds;
    uint32_t *state[SETS], *out[SETS];
    uint8_t *kind[SETS], *sorted[SETS];
} Problem;

static __global__ void plain_kernel(uint32_t *out, const uint32_t *state, const uint8_t *kind,
                                    int n, int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        out[i] = kind_advance(kind[i], state[i], rounds);
}

static void sorted(void *self, int set)
{
    Problem *p = (Problem *) self;

    plain_kernel<<<ceil_div(p->n, BLOCK), BLOCK>>>(p->out[set], p->state[set], p->sorted[set], p->n,
                                                   p->rounds);
    CUDA_CHECK(cudaGetLastError());
}

static void mixed(void *self, int set)
{
    Problem *p = (Problem *) self;

    plain_kernel<<<ceil_div(p->n, BLOCK), BLOCK>>>(p->out[set], p->state[set], p->kind[set], p->n,
                                                   p->rounds);
    CUDA_CHECK(cudaGetLastError());
}

static void kernel(void *self, int set)
{
    Problem *p = (Problem *) self;

    by_kernel::advance_by_kernel(p->out[set], p->state[set], p->kind[set], p->n, p->rounds);
}

static void reference(void *self, int set)
{
    Problem *p = (Problem *) self;

    by_reference::advance_by_reference(p->out[set], p->state[set], p->kind[set], p->n, p->rounds);
}

static __global__ void fill_kernel(uint32_t *state, uint8_t *kind, uint8_t *sorted, int n,
                                   uint64_t seed)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    Fill fill = { FILL_RANGE, 0, KINDS };

    if (i >= n)
        return;
    state[i] = fill_bits(fill_key(seed, 0), i);
    kind[i] = fill_i32(fill, fill_key(seed, 1), i);
    sorted[i] = (long) i * KINDS / n;
}

static __global__ void differences(const uint32_t *out, const uint32_t *state, const uint8_t *kind,
                                   int n, int rounds, unsigned long long *differ)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n && out[i] != kind_advance(kind[i], state[i], rounds))
        atomicAdd(differ, 1ull);
}

/* Checks the result first: every element, from a poisoned output. */
static void check(Problem *p, const char *name, BenchCall *call)
{
    unsigned long long differ, *on_device;

    CUDA_CHECK(cudaMalloc(&on_device, sizeof differ));
    CUDA_CHECK(cudaMemset(on_device, 0, sizeof differ));
    CUDA_CHECK(cudaMemset(p->out[0], 0xFF, (size_t) p->n * sizeof(uint32_t)));
    call(p, 0);
    differences<<<ceil_div(p->n, BLOCK), BLOCK>>>(p->out[0], p->state[0], p->kind[0], p->n,
                                                  p->rounds, on_device);
    CUDA_CHECK(cudaMemcpy(&differ, on_device, sizeof differ, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(on_device));
    if (!differ)
        return;
    fprintf(stderr, "%s: %llu of %d items are wrong\n", name, differ, p->n);
    exit(1);
}

/* Adds sorted kinds to the lesson's table as a row, compared with its reference. */
static void keep_sorted(BenchResult reference_beside_sorted)
{
    BenchResult r = reference_beside_sorted;

    bench_figure(r.library_ms, "kinds sorted/mixed/ms");
    bench_figure(1 / r.ratio.median, "kinds sorted/mixed/ratio");
}

static void measure(int n, int rounds)
{
    Problem p = { n, rounds };
    Bench bench = { &p };
    BenchResult race;
    char name[64];

    bench.sets = SETS;
    bench.bytes = (double) n * rounds;
    bench.unit = "10^9 steps/s";
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaMalloc(&p.state[i], (size_t) n * sizeof(uint32_t)));
        CUDA_CHECK(cudaMalloc(&p.out[i], (size_t) n * sizeof(uint32_t)));
        CUDA_CHECK(cudaMalloc(&p.kind[i], (size_t) n));
        CUDA_CHECK(cudaMalloc(&p.sorted[i], (size_t) n));
        fill_kernel<<<ceil_div(n, BLOCK), BLOCK>>>(p.state[i], p.kind[i], p.sorted[i], n, i + 1);
    }
    check(&p, KERNEL, kernel);
    check(&p, REFERENCE, reference);
    PUT(name, "%d rounds", rounds);
    bench_row(name, "kinds sorted", "fastest", &bench, bench_race(&bench, sorted, kernel));
    race = bench_race(&bench, sorted, reference);
    bench_row(name, "kinds sorted", "reference", &bench, race);
    if (rounds == TIMED_ROUNDS)
        keep_sorted(race);
    bench_row(name, "kinds sorted", "rung 1", &bench, bench_race(&bench, sorted, mixed));
    bench_row(name, "kinds sorted", "kinds sorted", &bench, bench_race(&bench, sorted, sorted));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaFree(p.state[i]));
        CUDA_CHECK(cudaFree(p.out[i]));
        CUDA_CHECK(cudaFree(p.kind[i]));
        CUDA_CHECK(cudaFree(p.sorted[i]));
    }
}

/* Times each kind alone: the costs must agree within a tenth. */
static void measure_kinds(int n, int rounds)
{
    Problem p = { n, rounds };
    Bench bench = { &p };

    bench.sets = 1;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    CUDA_CHECK(cudaMalloc(&p.state[0], (size_t) n * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&p.out[0], (size_t) n * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&p.sorted[0], (size_t) n));
    CUDA_CHECK(cudaMemset(p.state[0], 0x5A, (size_t) n * sizeof(uint32_t)));
    printf("ms for %d rounds of one kind:", rounds);
    for (int k = 0; k < KINDS; k++) {
        double ms[5];
        CUDA_CHECK(cudaMemset(p.sorted[0], k, (size_t) n));
        bench_sample(&bench, sorted, 5);
        for (int i = 0; i < 5; i++)
            ms[i] = bench_sample(&bench, sorted, 10);
        printf(" %d: %.4f", k, median(ms, 5));
        bench_figure(median(ms, 5), "kind %d alone/ms", k);
    }
    printf("\n");
    CUDA_CHECK(cudaFree(p.state[0]));
    CUDA_CHECK(cudaFree(p.out[0]));
    CUDA_CHECK(cudaFree(p.sorted[0]));
}

/* ---- When not to care: two branches of r operations each ---- */

typedef struct Branches {
    int n, by_lane;
    uint32_t *data;
} Branches;

template <int R> __global__ void branch_kernel(uint32_t *data, int n, int by_lane)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= n)
        return;
    uint32_t x = data[i];
    if ((by_lane ? i : i / 32) % 2)
        for (int r = 0; r < R; r++)
            x = x * 5 + 1;
    else
        for (int r = 0; r < R; r++)
            x = (x ^ 7) * 3;
    data[i] = x;
}

template <int R> static void branches(void *self, int set)
{
    Branches *b = (Branches *) self;

    (void) set;
    branch_kernel<R><<<ceil_div(b->n, BLOCK), BLOCK>>>(b->data, b->n, b->by_lane);
    CUDA_CHECK(cudaGetLastError());
}

template <int R> static void measure_branches(int n)
{
    Branches b = { n, 0, NULL };
    Bench bench = { &b };
    double ms[2];

    bench.sets = 1;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    CUDA_CHECK(cudaMalloc(&b.data, (size_t) n * sizeof(uint32_t)));
    CUDA_CHECK(cudaMemset(b.data, 1, (size_t) n * sizeof(uint32_t)));
    for (int by_lane = 0; by_lane < 2; by_lane++) {
        double sample[9];
        b.by_lane = by_lane;
        bench_sample(&bench, branches<R>, 5);
        for (int i = 0; i < 9; i++)
            sample[i] = bench_sample(&bench, branches<R>, 10);
        ms[by_lane] = median(sample, 9);
    }
    printf("%8d  %8.4f  %8.4f  %.3f\n", R, ms[0], ms[1], ms[1] / ms[0]);
    bench_figure(ms[0], "branches/%d/by warps ms", R);
    bench_figure(ms[1], "branches/%d/by lanes ms", R);
    bench_figure(ms[1] / ms[0], "branches/%d/by lanes over by warps", R);
    CUDA_CHECK(cudaFree(b.data));
}

int main(void)
{
    int sms;

    bench_head(KERNEL);
    printf("Rates are 10^9 steps/s here.\n");
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    measure_kinds(sms * 16384, TIMED_ROUNDS);
    measure(sms * 16384, TIMED_ROUNDS);
    measure(sms * 16384, 128);
    printf("%8s  %8s  %8s  by lanes / by warps, %d elements\n", "r", "warps ms", "lanes ms",
           1 << 26);
    measure_branches<1>(1 << 26);
    measure_branches<4>(1 << 26);
    measure_branches<16>(1 << 26);
    measure_branches<64>(1 << 26);
    measure_branches<256>(1 << 26);
    measure_branches<1024>(1 << 26);
    return 0;
}
