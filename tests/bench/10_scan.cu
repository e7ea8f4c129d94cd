/* 10_scan - compares our fastest rung and the lab's reference with cub::DeviceScan::InclusiveSum
 * and cub::DeviceSelect::If, and times compactions that do not keep the order. `make bench`; KERNEL
 * is the fastest rung's file, REFERENCE the reference's. */
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "bench.h"
#include "fill.h"
#include "kernel.h"

/* Two files that define the same names, in one program. */
#define scan scan_by_kernel
namespace by_kernel
{
#include KERNEL
}
#undef scan
#define scan scan_by_reference
namespace by_reference
{
#include REFERENCE
}
#undef scan

enum { MOST_SETS = 16, THREADS = 256, ITEMS = 16 };

typedef void Scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count);

typedef struct Problem {
    long n, scratch_count;
    int task, sets;
    int *in[MOST_SETS], *out[MOST_SETS], *kept[MOST_SETS], *scratch;
    void *temporary;
    size_t temporary_bytes;
} Problem;

struct IsKept {
    __host__ __device__ bool operator()(int x) const
    {
        return x > 0;
    }
};

static void ours(Problem *p, Scan *scan, int set)
{
    scan(p->out[set], p->task == COMPACT ? p->kept[set] : NULL, p->in[set], p->n, p->task,
         p->scratch, p->scratch_count);
}

static void kernel(void *self, int set)
{
    ours((Problem *) self, by_kernel::scan_by_kernel, set);
}

static void reference(void *self, int set)
{
    ours((Problem *) self, by_reference::scan_by_reference, set);
}

static void library(void *self, int set)
{
    Problem *p = (Problem *) self;

    if (p->task == SCAN)
        CUDA_CHECK(cub::DeviceScan::InclusiveSum(p->temporary, p->temporary_bytes, p->in[set],
                                                 p->out[set], (int) p->n));
    else
        CUDA_CHECK(cub::DeviceSelect::If(p->temporary, p->temporary_bytes, p->in[set], p->out[set],
                                         p->kept[set], (int) p->n, IsKept()));
}

/* ---- Compaction in any order ---- */

static __global__ void clear_kernel(int *kept)
{
    *kept = 0;
}

static __global__ void atomic_each(int *out, int *kept, const int *in, long n)
{
    long i = blockIdx.x * (long) THREADS + threadIdx.x;

    if (i < n && in[i] > 0)
        out[atomicAdd(kept, 1)] = in[i];
}

/* One atomic per warp; the lanes store next to each other. */
static __global__ void atomic_warp(int *out, int *kept, const int *in, long n)
{
    long i = blockIdx.x * (long) THREADS + threadIdx.x;
    int x = i < n ? in[i] : 0, lane = threadIdx.x % 32, place = 0;
    unsigned votes = __ballot_sync(0xffffffff, x > 0);

    if (lane == 0 && votes)
        place = atomicAdd(kept, __popc(votes));
    place = __shfl_sync(0xffffffff, place, 0);
    if (x > 0)
        out[place + __popc(votes & ((1u << lane) - 1))] = x;
}

/* One atomic per block, which has 16 elements per thread. */
static __global__ void atomic_block(int *out, int *kept, const int *in, long n)
{
    __shared__ int counts[THREADS / 32], first_place;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x[ITEMS], count = 0;
    long first = blockIdx.x * (long) (THREADS * ITEMS) + warp * 32 * ITEMS + lane;
    unsigned votes[ITEMS];

#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        x[k] = first + k * 32 < n ? in[first + k * 32] : 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        votes[k] = __ballot_sync(0xffffffff, x[k] > 0);
        count += __popc(votes[k]);
    }
    if (lane == 0)
        counts[warp] = count;
    __syncthreads(); // separates the warps' counts from thread 0's loads of them
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < THREADS / 32; w++) {
            int before = sum;
            sum += counts[w];
            counts[w] = before;
        }
        first_place = atomicAdd(kept, sum);
    }
    __syncthreads(); // separates thread 0's stores from all threads' loads
    int place = first_place + counts[warp];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (x[k] > 0)
            out[place + __popc(votes[k] & ((1u << lane) - 1))] = x[k];
        place += __popc(votes[k]);
    }
}

template <void (*KERNEL_)(int *, int *, const int *, long), int PER_BLOCK>
static void unordered(void *self, int set)
{
    Problem *p = (Problem *) self;
    int blocks = (int) ((p->n + PER_BLOCK - 1) / PER_BLOCK);

    clear_kernel<<<1, 1>>>(p->kept[set]);
    KERNEL_<<<blocks, THREADS>>>(p->out[set], p->kept[set], p->in[set], p->n);
    CUDA_CHECK(cudaGetLastError());
}

/* ---- Correctness ---- */

static __global__ void fill_kernel(int *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_RANGE, -1000, 1001 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_i32(fill, key, i);
}

static __global__ void compare_kernel(const int *a, const int *b, size_t count,
                                      unsigned long long *differ)
{
    size_t step = (size_t) gridDim.x * blockDim.x;

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        if (a[i] != b[i])
            atomicAdd(differ, 1ull);
}

/* Compares a call on each set with the library's result: one call immediately after another, from
 * poisoned memory. Sums may wrap around, in the same way in both. */
static void check(Problem *p, const char *name, BenchCall *call)
{
    size_t bytes = (size_t) p->n * sizeof(int);
    unsigned long long differ = 0, *there;
    int *want, kept = 0, want_kept = 0;

    CUDA_CHECK(cudaMalloc(&want, bytes));
    CUDA_CHECK(cudaMalloc(&there, sizeof *there));
    CUDA_CHECK(cudaMemset(p->scratch, 0xFF, (size_t) p->scratch_count * sizeof(int)));
    for (int i = 0; i < p->sets; i++)
        CUDA_CHECK(cudaMemset(p->out[i], 0xFF, bytes));
    for (int i = 0; i < p->sets; i++)
        call(p, i);
    for (int i = 0; i < p->sets; i++) {
        size_t count = (size_t) p->n;
        CUDA_CHECK(cudaMemcpy(want, p->out[i], bytes, cudaMemcpyDeviceToDevice));
        CUDA_CHECK(cudaMemcpy(&kept, p->kept[i], sizeof kept, cudaMemcpyDeviceToHost));
        library(p, i);
        CUDA_CHECK(cudaMemcpy(&want_kept, p->kept[i], sizeof kept, cudaMemcpyDeviceToHost));
        if (p->task == COMPACT)
            count = (size_t) want_kept;
        CUDA_CHECK(cudaMemset(there, 0, sizeof *there));
        compare_kernel<<<1024, 256>>>(want, p->out[i], count, there);
        CUDA_CHECK(cudaMemcpy(&differ, there, sizeof differ, cudaMemcpyDeviceToHost));
        if (!differ && kept == want_kept)
            continue;
        fprintf(stderr, "%s: %llu of %zu results differ from CUB's\n", name, differ, count);
        exit(1);
    }
    CUDA_CHECK(cudaFree(want));
    CUDA_CHECK(cudaFree(there));
}

/* ---- Measuring ---- */

static void prepare(Problem *p, long n, int task, int sets)
{
    p->n = n;
    p->task = task;
    p->sets = sets;
    p->scratch_count = n + n / 128 + 1024;
    CUDA_CHECK(cudaMalloc(&p->scratch, (size_t) p->scratch_count * sizeof(int)));
    for (int i = 0; i < sets; i++) {
        CUDA_CHECK(cudaMalloc(&p->in[i], (size_t) n * sizeof(int)));
        CUDA_CHECK(cudaMalloc(&p->out[i], (size_t) n * sizeof(int)));
        CUDA_CHECK(cudaMalloc(&p->kept[i], sizeof(int)));
        CUDA_CHECK(cudaMemset(p->kept[i], 0, sizeof(int)));
        fill_kernel<<<1024, 256>>>(p->in[i], (size_t) n, fill_key((uint64_t) i + 1, 0));
        CUDA_CHECK(cudaGetLastError());
    }
    library(p, 0); /* without memory: it only says how much it needs */
    CUDA_CHECK(cudaMalloc(&p->temporary, p->temporary_bytes));
}

static void release(Problem *p)
{
    CUDA_CHECK(cudaFree(p->scratch));
    CUDA_CHECK(cudaFree(p->temporary));
    for (int i = 0; i < p->sets; i++) {
        CUDA_CHECK(cudaFree(p->in[i]));
        CUDA_CHECK(cudaFree(p->out[i]));
        CUDA_CHECK(cudaFree(p->kept[i]));
    }
}

/* The order of the results varies, so only their number is compared. */
static void measure_unordered(Bench *bench, const char *name)
{
    static const struct {
        const char *what;
        BenchCall *call;
    } rows[] = { { "element", unordered<atomic_each, THREADS> },
                 { "warp", unordered<atomic_warp, THREADS> },
                 { "block", unordered<atomic_block, THREADS * ITEMS> } };
    Problem *p = (Problem *) bench->self;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int kept, want;
        double ms;
        library(p, 0);
        CUDA_CHECK(cudaMemcpy(&want, p->kept[0], sizeof want, cudaMemcpyDeviceToHost));
        ms = bench_sample(bench, rows[i].call, bench_calls(bench, rows[i].call));
        CUDA_CHECK(cudaMemcpy(&kept, p->kept[0], sizeof kept, cudaMemcpyDeviceToHost));
        if (kept != want) {
            fprintf(stderr, "an atomic per %s: %d are kept, expected %d\n", rows[i].what, kept,
                    want);
            exit(1);
        }
        printf("%-18s unordered, an atomic per %-7s %8.4f ms\n", name, rows[i].what, ms);
        bench_figure(ms, "%s/unordered, an atomic per %s/ms", name, rows[i].what);
    }
}

static void measure(long n, int task, int sets)
{
    Problem p = {};
    Bench bench = { &p };
    char name[64];

    prepare(&p, n, task, sets);
    bench.sets = sets;
    bench.bytes = sizeof(int) * (double) n * (task == SCAN ? 2 : 1.5);
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    check(&p, KERNEL, kernel);
    check(&p, REFERENCE, reference);
    PUT(name, "%s %ld, %d arrays", task == SCAN ? "scan" : "compact", n, sets);
    bench_row(name, "CUB", "fastest", &bench, bench_race(&bench, library, kernel));
    bench_row(name, "CUB", "reference", &bench, bench_race(&bench, library, reference));
    bench_row(name, "CUB", "CUB", &bench, bench_race(&bench, library, library));
    if (task == COMPACT && n > 1L << 27)
        measure_unordered(&bench, name);
    release(&p);
}

int main(void)
{
    /* 2^28 ints exceed any L2. With 2^24, a ring of eight arrays does. */
    static const struct {
        long n;
        int task, sets;
    } problems[] = { { 1L << 28, SCAN, 1 },
                     { 1L << 24, SCAN, 8 },
                     { 1L << 28, COMPACT, 1 },
                     { 1L << 24, COMPACT, 8 } };
    size_t free_bytes, total_bytes;

    bench_head(KERNEL);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        double bytes = sizeof(int) * (double) problems[i].n * (2.0 * problems[i].sets + 2.1);
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (bytes * 1.1 > (double) free_bytes)
            printf("%ld: skipped, the GPU has too little free memory\n", problems[i].n);
        else
            measure(problems[i].n, problems[i].task, problems[i].sets);
    }
    return 0;
}
