/* 01_coalescing - compares the reference and our fastest rung with cudaMemcpy, which moves the
 * same bytes and computes nothing. `make bench`; KERNEL is the file of the fastest rung,
 * REFERENCE that of the last numbered one. */
#include "bench.h"
#include "fill.h"
#include "lab.h"

/* Two files that define the same names: each is in its own namespace, and its function is renamed,
 * since an `extern "C"` function has one name in all namespaces. */
#define standardise standardise_reference
namespace reference
{
#include REFERENCE
}
#undef standardise

#define standardise standardise_fastest
namespace fastest
{
#include KERNEL
}
#undef standardise

enum { MOST_SETS = 8 };
enum { TABLE, MEAN, SCALE };

typedef struct Problem {
    int rows, cols, sets;
    float *in[MOST_SETS], *out[MOST_SETS], *mean, *scale;
} Problem;

static void by_reference(void *self, int set)
{
    Problem *p = (Problem *) self;

    reference::standardise_reference(p->out[set], p->in[set], p->mean, p->scale, p->rows, p->cols);
}

static void by_fastest(void *self, int set)
{
    Problem *p = (Problem *) self;

    fastest::standardise_fastest(p->out[set], p->in[set], p->mean, p->scale, p->rows, p->cols);
}

static void by_memcpy(void *self, int set)
{
    Problem *p = (Problem *) self;
    size_t bytes = sizeof(float) * (size_t) p->rows * (size_t) p->cols;

    CUDA_CHECK(cudaMemcpyAsync(p->out[set], p->in[set], bytes, cudaMemcpyDeviceToDevice));
}

static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_UNIFORM, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

/* Like truth in lab.c: double precision, and an error of four roundings of the inputs. */
static __global__ void differences(Problem p, unsigned long long *differ)
{
    size_t step = (size_t) gridDim.x * blockDim.x, count = (size_t) p.rows * p.cols;

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step) {
        double x = p.in[0][i], m = p.mean[i % p.cols], s = p.scale[i % p.cols];
        double error = 4 / 16777216.0 * (fabs(x) + fabs(m)) * fabs(s);
        if (!(fabs(p.out[0][i] - (x - m) * s) <= error))
            atomicAdd(differ, 1ull);
    }
}

/* Checks the result first: every element, from a poisoned output. */
static void check(Problem *p, const char *who, BenchCall *call)
{
    size_t count = (size_t) p->rows * (size_t) p->cols;
    unsigned long long differ = 0, *on_device;

    CUDA_CHECK(cudaMalloc(&on_device, sizeof differ));
    CUDA_CHECK(cudaMemset(on_device, 0, sizeof differ));
    CUDA_CHECK(cudaMemset(p->out[0], 0xFF, count * sizeof(float)));
    call(p, 0);
    differences<<<1024, 256>>>(*p, on_device);
    CUDA_CHECK(cudaMemcpy(&differ, on_device, sizeof differ, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(on_device));
    if (!differ)
        return;
    fprintf(stderr, "%d x %d: %llu elements of the %s are wrong\n", p->rows, p->cols, differ, who);
    exit(1);
}

static void allocate(float **data, size_t count, FillKey key)
{
    CUDA_CHECK(cudaMalloc(data, count * sizeof(float)));
    fill_kernel<<<1024, 256>>>(*data, count, key);
    CUDA_CHECK(cudaGetLastError());
}

static void measure(int rows, int cols)
{
    Problem p = { rows, cols };
    Bench bench = { &p };
    size_t count = (size_t) rows * (size_t) cols;
    char name[64];

    p.sets = count > ((size_t) 1 << 27) ? 3 : 8; /* the ring exceeds 3 x L2 */
    bench.sets = p.sets;
    bench.bytes = 8.0 * (double) count;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    allocate(&p.mean, cols, fill_key(1, MEAN));
    allocate(&p.scale, cols, fill_key(1, SCALE));
    for (int i = 0; i < p.sets; i++) {
        allocate(&p.in[i], count, fill_key(i + 1, TABLE));
        CUDA_CHECK(cudaMalloc(&p.out[i], count * sizeof(float)));
    }
    check(&p, "reference", by_reference);
    check(&p, "fastest", by_fastest);
    PUT(name, "%d x %d", rows, cols);
    bench_row(name, "cudaMemcpy", "reference", &bench, bench_race(&bench, by_memcpy, by_reference));
    bench_row(name, "cudaMemcpy", "fastest", &bench, bench_race(&bench, by_memcpy, by_fastest));
    bench_row(name, "cudaMemcpy", "cudaMemcpy", &bench, bench_race(&bench, by_memcpy, by_memcpy));
    CUDA_CHECK(cudaFree(p.mean));
    CUDA_CHECK(cudaFree(p.scale));
    for (int i = 0; i < p.sets; i++) {
        CUDA_CHECK(cudaFree(p.in[i]));
        CUDA_CHECK(cudaFree(p.out[i]));
    }
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
}

/* ---- Copies of an odd number of floats: one per thread, or two, from an even or odd address ----
 */

enum { BLOCK = 256 };

typedef struct Copy {
    float *in, *out;
    int count;
} Copy;

static __global__ void copy_ones(float *out, const float *in, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        out[i] = in[i];
}

/* The thread after the last pair copies what is left of an odd number. */
static __global__ void copy_pairs(float *out, const float *in, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count / 2)
        ((float2 *) out)[i] = ((const float2 *) in)[i];
    else if (i == count / 2 && count % 2)
        out[count - 1] = in[count - 1];
}

static void by_ones(void *self, int)
{
    const Copy *c = (const Copy *) self;

    copy_ones<<<ceil_div(c->count, BLOCK), BLOCK>>>(c->out, c->in, c->count);
}

static void by_ones_from_odd(void *self, int)
{
    const Copy *c = (const Copy *) self;

    copy_ones<<<ceil_div(c->count, BLOCK), BLOCK>>>(c->out, c->in + 1, c->count);
}

static void by_pairs(void *self, int)
{
    const Copy *c = (const Copy *) self;

    copy_pairs<<<ceil_div(c->count / 2 + 1, BLOCK), BLOCK>>>(c->out, c->in, c->count);
}

static void measure_copies(int count)
{
    Copy copy = { NULL, NULL, count };
    Bench bench = { &copy, 1, 8.0 * count };

    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    allocate(&copy.in, count + 1, fill_key(1, TABLE));
    CUDA_CHECK(cudaMalloc(&copy.out, count * sizeof(float)));
    bench_row("an odd number", "ones", "pairs", &bench, bench_race(&bench, by_ones, by_pairs));
    bench_row("an odd number", "ones", "ones from an odd address", &bench,
              bench_race(&bench, by_ones, by_ones_from_odd));
    CUDA_CHECK(cudaFree(copy.in));
    CUDA_CHECK(cudaFree(copy.out));
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
}

int main(void)
{
    /* 16 columns in 252 MB, as the lab times them, and in 1 GiB; and the same amount in rows
     * that are aligned to neither vectors nor sectors. */
    static const int sizes[][2] = { { 3938304, 16 }, { 16777216, 16 }, { 3706880, 17 } };
    size_t free_bytes, total_bytes;

    bench_head(KERNEL);
    printf("reference: %s\n", REFERENCE);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double bytes = 8.0 * sizes[i][0] * sizes[i][1];
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (bytes * 9 > (double) free_bytes)
            printf("%d x %d: skipped, the GPU has too little free memory\n", sizes[i][0],
                   sizes[i][1]);
        else
            measure(sizes[i][0], sizes[i][1]);
    }
    measure_copies((1 << 28) + 1);
    return 0;
}
