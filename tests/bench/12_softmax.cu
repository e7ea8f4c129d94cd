/* 12_softmax - compares our fastest rung and the lab's reference with cudaMemcpy, which moves the
 * same bytes, and with a plain softmax of three kernels (maxima, sums, results), at rows of 128 to
 * 65,536 columns. `make bench`; KERNEL is the fastest rung's file, REFERENCE the reference's. */
#include "bench.h"
#include "fill.h"
#include "kernel.h"

#include <math.h>

/* Files that define the same names: each is in its own namespace, and its function is renamed. */
#define softmax softmax_fastest
namespace fastest
{
#include KERNEL
}
#undef softmax
#define softmax softmax_reference
namespace reference
{
#include REFERENCE
}
#undef softmax
#define softmax softmax_by_three
namespace by_three
{
#include "../honest/12_softmax_three_kernels.cu"
}
#undef softmax

typedef void Softmax(float *out, const float *in, int rows, int cols, float *scratch);

/* In and out of 512 MiB each exceed any L2. */
static const size_t elements = 1 << 27;

typedef struct Problem {
    int rows, cols;
    float *in, *out, *scratch;
} Problem;

static void call(void *self, Softmax *softmax)
{
    Problem *p = (Problem *) self;

    softmax(p->out, p->in, p->rows, p->cols, p->scratch);
}

static void by_fastest(void *self, int)
{
    call(self, fastest::softmax_fastest);
}

static void by_reference(void *self, int)
{
    call(self, reference::softmax_reference);
}

static void by_three_kernels(void *self, int)
{
    call(self, by_three::softmax_by_three);
}

static void by_memcpy(void *self, int)
{
    Problem *p = (Problem *) self;

    CUDA_CHECK(cudaMemcpyAsync(p->out, p->in, sizeof(float) * p->rows * p->cols,
                               cudaMemcpyDeviceToDevice));
}

static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_UNIT, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

/* Exits if a row of the output is not the softmax of that row. */
static void check_row(const Problem *p, const char *name, int row)
{
    size_t bytes = sizeof(float) * p->cols, first = (size_t) row * p->cols;
    float *in = (float *) xmalloc(bytes), *out = (float *) xmalloc(bytes);
    double sum = 0;

    CUDA_CHECK(cudaMemcpy(in, p->in + first, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(out, p->out + first, bytes, cudaMemcpyDeviceToHost));
    for (int j = 0; j < p->cols; j++)
        sum += exp((double) in[j]); /* in [-1, 1) */
    for (int j = 0; j < p->cols; j++) {
        double want = exp((double) in[j]) / sum;
        if (fabs(out[j] - want) <= 1e-4 * want)
            continue;
        fprintf(stderr, "%s: row %d, column %d of %d is %g, expected %g\n", name, row, j, p->cols,
                out[j], want);
        exit(1);
    }
    free(in);
    free(out);
}

static void check(Problem *p, const char *name, BenchCall *softmax)
{
    CUDA_CHECK(cudaMemset(p->out, 0xFF, sizeof(float) * p->rows * p->cols));
    softmax(p, 0);
    CUDA_CHECK(cudaDeviceSynchronize());
    check_row(p, name, 0);
    check_row(p, name, p->rows / 2);
    check_row(p, name, p->rows - 1);
}

static void measure(Problem *p, int cols)
{
    Bench bench = { p, 1 };
    char name[64];

    p->cols = cols;
    p->rows = (int) (elements / (size_t) cols);
    bench.bytes = 2 * sizeof(float) * (double) p->rows * p->cols;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    check(p, "three kernels", by_three_kernels);
    check(p, KERNEL, by_fastest);
    check(p, REFERENCE, by_reference);
    PUT(name, "%d columns", cols);
    bench_row(name, "cudaMemcpy", "fastest", &bench, bench_race(&bench, by_memcpy, by_fastest));
    bench_row(name, "cudaMemcpy", "reference", &bench, bench_race(&bench, by_memcpy, by_reference));
    bench_row(name, "three kernels", "reference", &bench,
              bench_race(&bench, by_three_kernels, by_reference));
}

int main(void)
{
    static const int widths[] = { 128, 512, 1024, 4096, 16384, 32768, 65536 };
    size_t bytes = sizeof(float) * elements, free_bytes, total_bytes;
    Problem p = {};

    bench_head(KERNEL);
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (bytes * 2.2 > (double) free_bytes) {
        printf("skipped, the GPU has too little free memory\n");
        return 0;
    }
    CUDA_CHECK(cudaMalloc(&p.in, bytes));
    CUDA_CHECK(cudaMalloc(&p.out, bytes));
    CUDA_CHECK(cudaMalloc(&p.scratch, 2 * sizeof(float) * elements / 128));
    fill_kernel<<<1024, 256>>>(p.in, elements, fill_key(1, 0));
    CUDA_CHECK(cudaGetLastError());
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        measure(&p, widths[i]);
    return 0;
}
