/* 14_tuning - measures all nine tiles at the four timed shapes, and compares the reference's choice
 * with the fastest of them. Then it shows what a search by measuring would find: from the first
 * launch, from one sample, from the median of nine. `make bench`; REFERENCE is the reference's
 * file, KERNEL the fastest rung's. */
#include "bench.h"
#include "fill.h"
#include "kernel.h"

#include <math.h>

/* Files that define the same names: each is in its own namespace, and its function is renamed. */
#define tuning tuning_reference
namespace reference
{
#include REFERENCE
}
#undef tuning
#define tuning tuning_fastest
namespace fastest
{
#include KERNEL
}
#undef tuning

enum { RUNS = 20, SAMPLES = 9, TRIES = 50 };

/* Two tiles whose medians differ by less are equally fast; so is the reference's choice. */
static const double tie = 1.02;

typedef struct Shape {
    const char *name;
    int m, n, k;
} Shape;

typedef struct Problem {
    Shape shape;
    int tile;
    float *a, *b, *d;
    cudaEvent_t begin, end;
} Problem;

/* As in lab.c. */
static Shape shape_of(int i, int sms)
{
    int down = (int) sqrt(6.0 * sms), few = ((int) sqrt(2.0 * sms) - 1) | 1;
    Shape shapes[] = {
        { "large square", 128 * down - 40, 128 * (6 * sms / down) - 40, 256 },
        { "tall", 1024 * sms - 100, 32, 256 },
        { "wide", 32, 1024 * sms - 60, 256 },
        { "few tiles", 64 * few - 20, 64 * ((2 * sms / few - 1) | 1) - 12, 1024 },
    };

    return shapes[i];
}

static void by_tile(void *self, int)
{
    Problem *p = (Problem *) self;

    launch_tile(p->tile, p->d, p->a, p->b, p->shape.m, p->shape.n, p->shape.k);
}

static void by_reference(void *self, int)
{
    Problem *p = (Problem *) self;

    reference::tuning_reference(p->d, p->a, p->b, p->shape.m, p->shape.n, p->shape.k);
}

static void by_fastest(void *self, int)
{
    Problem *p = (Problem *) self;

    fastest::tuning_fastest(p->d, p->a, p->b, p->shape.m, p->shape.n, p->shape.k);
}

static double sample(Problem *p, int tile)
{
    float ms;

    CUDA_CHECK(cudaEventRecord(p->begin));
    launch_tile(tile, p->d, p->a, p->b, p->shape.m, p->shape.n, p->shape.k);
    CUDA_CHECK(cudaEventRecord(p->end));
    CUDA_CHECK(cudaEventSynchronize(p->end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, p->begin, p->end));
    return ms;
}

static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_UNIT, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

static void take(Problem *p, Shape shape)
{
    size_t a = (size_t) shape.m * shape.k, b = (size_t) shape.k * shape.n;

    p->shape = shape;
    CUDA_CHECK(cudaMalloc(&p->a, a * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&p->b, b * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&p->d, (size_t) shape.m * shape.n * sizeof(float)));
    fill_kernel<<<1024, 256>>>(p->a, a, fill_key(1, 0));
    fill_kernel<<<1024, 256>>>(p->b, b, fill_key(1, 1));
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
}

static void drop(Problem *p)
{
    CUDA_CHECK(cudaFree(p->a));
    CUDA_CHECK(cudaFree(p->b));
    CUDA_CHECK(cudaFree(p->d));
}

/* Takes the shape with k as the grader chooses it: doubled until a call takes 0.2 ms. */
static void take_long(Problem *p, Shape shape)
{
    for (;; shape.k *= 2) {
        take(p, shape);
        by_reference(p, 0);
        if (sample(p, reference::choose(shape.m, shape.n)) >= 0.2)
            return;
        drop(p);
    }
}

/* Exits if a tile's results differ from those of the first. All tiles add in the same order. */
static void check(Problem *p)
{
    size_t bytes = (size_t) p->shape.m * p->shape.n * sizeof(float);
    char *want = (char *) xmalloc(bytes), *got = (char *) xmalloc(bytes);

    for (int tile = 0; tile < TILES; tile++) {
        CUDA_CHECK(cudaMemset(p->d, 0xFF, bytes));
        launch_tile(tile, p->d, p->a, p->b, p->shape.m, p->shape.n, p->shape.k);
        CUDA_CHECK(cudaMemcpy(tile ? got : want, p->d, bytes, cudaMemcpyDeviceToHost));
        if (tile && memcmp(want, got, bytes)) {
            fprintf(stderr, "%s: tile %d differs from tile 0\n", p->shape.name, tile);
            exit(1);
        }
    }
    free(want);
    free(got);
}

static int fastest_of(const double ms[TILES])
{
    int best = 0;

    for (int i = 1; i < TILES; i++)
        if (ms[i] < ms[best])
            best = i;
    return best;
}

/* The median of some warm samples of each tile, which take turns. */
static void measure(Problem *p, int samples, double ms[TILES])
{
    static double taken[TILES][RUNS * SAMPLES];

    for (int s = -1; s < samples; s++) /* the first round warms up */
        for (int i = 0; i < TILES; i++) {
            double one = sample(p, i);
            if (s >= 0)
                taken[i][s] = one;
        }
    for (int i = 0; i < TILES; i++)
        ms[i] = median(taken[i], (size_t) samples);
}

/* All nine tiles; returns the medians in `ms`. */
static void compare_tiles(Problem *p, double ms[TILES])
{
    const Shape *s = &p->shape;
    int choice = reference::choose(s->m, s->n), best;

    measure(p, RUNS * SAMPLES, ms);
    best = fastest_of(ms);
    for (int i = 0; i < TILES; i++) {
        printf("%-13s %3d x %-3d  %8.4f ms  %.3f of the fastest%s%s\n", s->name, tiles[i].rows,
               tiles[i].cols, ms[i], ms[best] / ms[i], i == best ? ", the fastest" : "",
               i == choice ? ", the reference's choice" : "");
        bench_figure(ms[i], "%s/%d x %d/ms", s->name, tiles[i].rows, tiles[i].cols);
        bench_figure(ms[best] / ms[i], "%s/%d x %d/of the fastest", s->name, tiles[i].rows,
                     tiles[i].cols);
    }
    bench_figure(s->k, "%s/k", s->name);
}

static void count_right_choices(Problem *p)
{
    int choice = reference::choose(p->shape.m, p->shape.n), right = 0;

    for (int run = 0; run < RUNS; run++) {
        double ms[TILES];
        measure(p, SAMPLES, ms);
        right += ms[choice] <= tie * ms[fastest_of(ms)];
    }
    printf("%-13s the reference's choice is the fastest, or within 2 %%, in %d of %d runs\n",
           p->shape.name, right, RUNS);
    bench_figure(right, "%s/right choices", p->shape.name);
}

/* How a search fares that takes the fastest of `samples` samples of each tile, in order. */
static void search(Problem *p, const char *how, int samples, bool cold, const double ms[TILES],
                   char *flush, size_t flush_bytes)
{
    const double best_ms = ms[fastest_of(ms)];
    double curse = 0;
    int right = 0;

    for (int t = 0; t < TRIES; t++) {
        double found[TILES], taken[SAMPLES];
        for (int i = 0; i < TILES; i++) {
            for (int s = 0; s < samples; s++) {
                if (cold)
                    CUDA_CHECK(cudaMemset(flush, t, flush_bytes));
                taken[s] = sample(p, i);
            }
            found[i] = median(taken, (size_t) samples);
        }
        int winner = fastest_of(found);
        right += ms[winner] <= tie * best_ms;
        curse += found[winner] / ms[winner] / TRIES;
    }
    printf("%-13s %-24s right in %3d of %d; the winner's time is %.3f of its median\n",
           p->shape.name, how, right, TRIES, curse);
    bench_figure(right, "%s/%s/right", p->shape.name, how);
    bench_figure(curse, "%s/%s/winner's time", p->shape.name, how);
}

/* The winner's curse: the fastest of nine samples, as if nine equal variants had one sample each.
 */
static void curse(Problem *p, const double ms[TILES])
{
    int tile = fastest_of(ms);
    double sum = 0;

    for (int t = 0; t < TRIES; t++) {
        double winner = sample(p, tile);
        for (int s = 1; s < TILES; s++)
            winner = fmin(winner, sample(p, tile));
        sum += winner / ms[tile];
    }
    printf("%-13s nine equal variants: the winner's time is %.3f of the median\n", p->shape.name,
           sum / TRIES);
    bench_figure(sum / TRIES, "%s/nine equal variants/winner's time", p->shape.name);
}

static void race(Problem *p, const double ms[TILES])
{
    Bench bench = { p, 1 };
    double m = p->shape.m, n = p->shape.n, k = p->shape.k;

    p->tile = fastest_of(ms);
    bench.bytes = 2 * m * n * k;
    bench.unit = "GFLOP/s";
    bench.start = p->begin;
    bench.stop = p->end;
    bench_row(p->shape.name, "fastest tile", "reference", &bench,
              bench_race(&bench, by_tile, by_reference));
    bench_row(p->shape.name, "fastest tile", "fastest", &bench,
              bench_race(&bench, by_tile, by_fastest));
}

/* The first launch of each tile in this process, which loads its kernel, and the second. Call this
 * before any other launch of a tile. */
static void first_launches(Problem *p, int sms)
{
    double first[TILES], second[TILES];

    take(p, shape_of(3, sms));
    for (int i = 0; i < TILES; i++) {
        first[i] = sample(p, i);
        second[i] = sample(p, i);
    }
    for (int i = 0; i < TILES; i++) {
        printf("first launch  %3d x %-3d  %8.4f ms, then %.4f ms\n", tiles[i].rows, tiles[i].cols,
               first[i], second[i]);
        bench_figure(first[i], "first launch/%d x %d/ms", tiles[i].rows, tiles[i].cols);
        bench_figure(second[i], "second launch/%d x %d/ms", tiles[i].rows, tiles[i].cols);
    }
    drop(p);
}

int main(void)
{
    Problem p = {};
    cudaDeviceProp device;
    char *flush;

    bench_head(REFERENCE);
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    CUDA_CHECK(cudaEventCreate(&p.begin));
    CUDA_CHECK(cudaEventCreate(&p.end));
    const size_t flush_bytes = (size_t) device.l2CacheSize * 2;
    CUDA_CHECK(cudaMalloc(&flush, flush_bytes));
    first_launches(&p, device.multiProcessorCount);
    for (int i = 0; i < 4; i++) {
        double ms[TILES];
        take_long(&p, shape_of(i, device.multiProcessorCount));
        check(&p);
        compare_tiles(&p, ms);
        count_right_choices(&p);
        search(&p, "one cold sample", 1, true, ms, flush, flush_bytes);
        search(&p, "one sample", 1, false, ms, flush, flush_bytes);
        search(&p, "median of 9", SAMPLES, false, ms, flush, flush_bytes);
        curse(&p, ms);
        race(&p, ms);
        drop(&p);
    }
    return 0;
}
