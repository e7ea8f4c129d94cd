/* 13_convolution - compares the lab's reference with cudaMemcpy, which moves the same bytes, at
 * radii from 0 to 16; and two passes whose first stores its sums in place with two that store them
 * transposed. `make bench`; REFERENCE is the reference's file. */
#include "bench.h"
#include "fill.h"
#include "kernel.h"

#include <math.h>

/* Files that define the same names: each is in its own namespace, and its function is renamed. */
#define convolve convolve_reference
namespace reference
{
#include REFERENCE
}
#undef convolve
#define convolve convolve_in_place
namespace in_place
{
#include "../../solutions/13_convolution/5_known_radius.cu"
}
#undef convolve
#define convolve convolve_transposed
namespace transposed
{
#include "../honest/13_convolution_transposed.cu"
}
#undef convolve

typedef void Convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch);

/* In and out of 256 MiB each exceed any L2. */
enum { ROWS = 16384, COLS = 4096 };

typedef struct Problem {
    float *in, *out, *scratch;
    Filter filter;
} Problem;

static void call(void *self, Convolve *convolve)
{
    Problem *p = (Problem *) self;

    convolve(p->out, p->in, ROWS, COLS, p->filter, p->scratch);
}

static void by_reference(void *self, int)
{
    call(self, reference::convolve_reference);
}

static void by_in_place(void *self, int)
{
    call(self, in_place::convolve_in_place);
}

static void by_transposed(void *self, int)
{
    call(self, transposed::convolve_transposed);
}

static void by_memcpy(void *self, int)
{
    Problem *p = (Problem *) self;

    CUDA_CHECK(
        cudaMemcpyAsync(p->out, p->in, sizeof(float) * ROWS * COLS, cudaMemcpyDeviceToDevice));
}

static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_UNIT, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

/* Weights that differ in both directions, none above 1 / (2r + 1). */
static Filter filter_of(int radius)
{
    Filter filter = {};

    filter.radius = radius;
    for (int i = -radius; i <= radius; i++) {
        filter.across[REACH + i] = (float) (radius + 1 + i) / (float) (4 * radius * radius + 2);
        filter.down[REACH + i] = (float) (radius + 2 - i) / (float) (4 * radius * radius + 4);
    }
    return filter;
}

static float pixel_of(int y, int x)
{
    Fill fill = { FILL_UNIT, 0, 0 };

    y = y < 0 ? 0 : y < ROWS ? y : ROWS - 1;
    x = x < 0 ? 0 : x < COLS ? x : COLS - 1;
    return fill_f32(fill, fill_key(1, 0), (size_t) y * COLS + x);
}

static double result_of(const Filter *filter, int y, int x)
{
    double sum = 0;

    for (int i = -filter->radius; i <= filter->radius; i++)
        for (int j = -filter->radius; j <= filter->radius; j++)
            sum += (double) filter->down[REACH + i] * (double) filter->across[REACH + j] *
                   (double) pixel_of(y + i, x + j);
    return sum;
}

/* Exits if one of some pixels of the row, at both ends and in between, is wrong. */
static void check_row(const Problem *p, const char *name, int y)
{
    float *row = (float *) xmalloc(sizeof(float) * COLS);

    CUDA_CHECK(
        cudaMemcpy(row, p->out + (size_t) y * COLS, sizeof(float) * COLS, cudaMemcpyDeviceToHost));
    for (int x = 0; x < COLS; x += x < 40 || x > COLS - 41 ? 1 : 61) {
        double want = result_of(&p->filter, y, x);
        if (fabs(row[x] - want) <= 1e-5)
            continue;
        fprintf(stderr, "%s: radius %d, row %d, column %d is %g, expected %g\n", name,
                p->filter.radius, y, x, row[x], want);
        exit(1);
    }
    free(row);
}

static void check(Problem *p, const char *name, BenchCall *convolve)
{
    static const int rows[] = { 0, 1, 63, 64, ROWS / 2, ROWS - 17, ROWS - 1 };

    CUDA_CHECK(cudaMemset(p->out, 0xFF, sizeof(float) * ROWS * COLS));
    convolve(p, 0);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(p, name, rows[i]);
}

static void measure(Problem *p, int radius)
{
    Bench bench = { p, 1 };
    char name[64];

    p->filter = filter_of(radius);
    bench.bytes = 2 * sizeof(float) * (double) ROWS * COLS;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    check(p, REFERENCE, by_reference);
    check(p, "in place", by_in_place);
    check(p, "transposed", by_transposed);
    PUT(name, "radius %d", radius);
    bench_row(name, "cudaMemcpy", "reference", &bench, bench_race(&bench, by_memcpy, by_reference));
    bench_row(name, "in place", "transposed", &bench,
              bench_race(&bench, by_in_place, by_transposed));
}

int main(void)
{
    static const int radii[] = { 0, 1, 2, 4, 8, 16 };
    size_t bytes = sizeof(float) * ROWS * COLS, free_bytes, total_bytes;
    Problem p = {};

    bench_head(REFERENCE);
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (bytes * 3.2 > (double) free_bytes) {
        printf("skipped, the GPU has too little free memory\n");
        return 0;
    }
    CUDA_CHECK(cudaMalloc(&p.in, bytes));
    CUDA_CHECK(cudaMalloc(&p.out, bytes));
    CUDA_CHECK(cudaMalloc(&p.scratch, bytes));
    fill_kernel<<<1024, 256>>>(p.in, (size_t) ROWS * COLS, fill_key(1, 0));
    CUDA_CHECK(cudaGetLastError());
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++)
        measure(&p, radii[i]);
    return 0;
}
