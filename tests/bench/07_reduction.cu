/* 07_reduction - compares our fastest rung and the lab's reference with cub::DeviceReduce::Sum.
 * `make bench`; KERNEL is the fastest rung's file, REFERENCE the reference's. */
#include <cub/device/device_reduce.cuh>

#include "bench.h"
#include "fill.h"
#include "kernel.h"

/* Two files that define the same names, in one program. */
#define sum sum_by_kernel
namespace by_kernel
{
#include KERNEL
}
#undef sum
#define sum sum_by_reference
namespace by_reference
{
#include REFERENCE
}
#undef sum

enum { MOST_SETS = 16 };

typedef void Sum(float *out, const float *in, long n, float *scratch, long scratch_count);

typedef struct Problem {
    long n, scratch_count;
    int sets;
    float *in[MOST_SETS], *out[MOST_SETS], *scratch;
    void *temporary;
    size_t temporary_bytes;
} Problem;

static void ours(Problem *p, Sum *sum, int set)
{
    sum(p->out[set], p->in[set], p->n, p->scratch, p->scratch_count);
}

static void kernel(void *self, int set)
{
    ours((Problem *) self, by_kernel::sum_by_kernel, set);
}

static void reference(void *self, int set)
{
    ours((Problem *) self, by_reference::sum_by_reference, set);
}

static void library(void *self, int set)
{
    Problem *p = (Problem *) self;

    CUDA_CHECK(cub::DeviceReduce::Sum(p->temporary, p->temporary_bytes, p->in[set], p->out[set],
                                      (int) p->n));
}

static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_SUMMED, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

static FillKey key_of(int set)
{
    return fill_key((uint64_t) set + 1, 0);
}

/* Checks the results first, on each set: one call immediately after another, from poisoned
 * memory. */
static void check(Problem *p, const char *name, BenchCall *call)
{
    for (int i = 0; i < p->sets; i++)
        CUDA_CHECK(cudaMemset(p->out[i], 0xFF, sizeof(float)));
    CUDA_CHECK(cudaMemset(p->scratch, 0xFF, (size_t) p->scratch_count * sizeof(float)));
    for (int i = 0; i < p->sets; i++)
        call(p, i);
    for (int i = 0; i < p->sets; i++) {
        float got, want = (float) fill_sum(key_of(i), (size_t) p->n);
        CUDA_CHECK(cudaMemcpy(&got, p->out[i], sizeof got, cudaMemcpyDeviceToHost));
        if (got == want)
            continue;
        fprintf(stderr, "%s: the sum of %ld elements is %g, expected %g\n", name, p->n, got, want);
        exit(1);
    }
}

static void prepare(Problem *p, long n, int sets)
{
    p->n = n;
    p->sets = sets;
    p->scratch_count = n / 128 + 1024;
    CUDA_CHECK(cudaMalloc(&p->scratch, (size_t) p->scratch_count * sizeof(float)));
    for (int i = 0; i < sets; i++) {
        CUDA_CHECK(cudaMalloc(&p->in[i], (size_t) n * sizeof(float)));
        CUDA_CHECK(cudaMalloc(&p->out[i], sizeof(float)));
        fill_kernel<<<1024, 256>>>(p->in[i], (size_t) n, key_of(i));
        CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cub::DeviceReduce::Sum(NULL, p->temporary_bytes, p->in[0], p->out[0], (int) p->n));
    CUDA_CHECK(cudaMalloc(&p->temporary, p->temporary_bytes));
}

static void release(Problem *p)
{
    CUDA_CHECK(cudaFree(p->scratch));
    CUDA_CHECK(cudaFree(p->temporary));
    for (int i = 0; i < p->sets; i++) {
        CUDA_CHECK(cudaFree(p->in[i]));
        CUDA_CHECK(cudaFree(p->out[i]));
    }
}

static void measure(long n, int sets)
{
    Problem p = {};
    Bench bench = { &p };
    char name[64];

    prepare(&p, n, sets);
    bench.sets = sets;
    bench.bytes = sizeof(float) * (double) n;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    check(&p, "CUB", library);
    check(&p, KERNEL, kernel);
    check(&p, REFERENCE, reference);
    PUT(name, "%ld, %d arrays", n, sets);
    bench_row(name, "CUB", "fastest", &bench, bench_race(&bench, library, kernel));
    bench_row(name, "CUB", "reference", &bench, bench_race(&bench, library, reference));
    bench_row(name, "CUB", "CUB", &bench, bench_race(&bench, library, library));
    release(&p);
}

int main(void)
{
    /* 2^28 floats exceed any L2. With 2^24, a ring of eight arrays does; of a single array, L2 may
     * keep a part. */
    static const struct {
        long n;
        int sets;
    } problems[] = { { 1L << 28, 1 }, { 1L << 24, 8 }, { 1L << 24, 1 } };
    size_t free_bytes, total_bytes;

    bench_head(KERNEL);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        double bytes = sizeof(float) * (double) problems[i].n * problems[i].sets;
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (bytes * 1.1 > (double) free_bytes)
            printf("%ld: skipped, the GPU has too little free memory\n", problems[i].n);
        else
            measure(problems[i].n, problems[i].sets);
    }
    return 0;
}
