/* ordinary.cu NAME - kernels as people first write them: naive, tiled, stencil, histogram. With
 * transpose.cu and sum.cu they are the six kernels of compare.sh. */
#include "bench.h"

#include <math.h>

enum { SIZE = 256, TILE = 16, IMAGE = 768, BINS = 256, PIXELS = 1 << 20, REPETITIONS = 7 };

struct Problem {
    float *a, *b, *c;
    unsigned *counts;
    const unsigned char *pixels;
};

/* ---- C = A B, SIZE x SIZE ---- */

static __global__ void naive(float *c, const float *a, const float *b, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (row >= n || col >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

static __global__ void tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;

    for (int k0 = 0; k0 < n; k0 += TILE) {
        as[y][x] = a[row * n + k0 + x];
        bs[y][x] = b[(k0 + y) * n + col];
        __syncthreads(); /* both tiles are loaded */
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        __syncthreads(); /* before the next tiles overwrite them */
    }
    c[row * n + col] = sum;
}

static bool is_product(const float *a, const float *b, const float *c)
{
    for (int i = 0; i < SIZE * SIZE; i += 97) {
        double truth = 0;
        for (int k = 0; k < SIZE; k++)
            truth += (double) a[i / SIZE * SIZE + k] * b[k * SIZE + i % SIZE];
        if (fabs(c[i] - truth) > truth * SIZE / 16777216.0)
            return false;
    }
    return true;
}

/* ---- Five points of an IMAGE x IMAGE image ---- */

static __global__ void stencil(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        out[y * n + x] =
            0.5f * in[y * n + x] + 0.125f * (in[y * n + x - 1] + in[y * n + x + 1] +
                                             in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

static bool is_smooth(const float *in, const float *out)
{
    for (int i = IMAGE + 1; i < IMAGE * (IMAGE - 1) - 1; i += 101) {
        double truth =
            0.5 * in[i] + 0.125 * ((double) in[i - 1] + in[i + 1] + in[i - IMAGE] + in[i + IMAGE]);
        if (i % IMAGE > 0 && i % IMAGE < IMAGE - 1 && fabs(out[i] - truth) > 1e-6)
            return false;
    }
    return true;
}

/* ---- A histogram of PIXELS bytes ---- */

static __global__ void histogram(unsigned *counts, const unsigned char *pixels, int n)
{
    __shared__ unsigned own[BINS];

    own[threadIdx.x] = 0;
    __syncthreads(); /* all bins are 0 */
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[pixels[i]], 1);
    __syncthreads(); /* all bytes are counted */
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

/* ---- The program ---- */

static void launch_naive(void *self)
{
    Problem *p = (Problem *) self;

    naive<<<dim3(SIZE / 32, SIZE / 8), dim3(32, 8)>>>(p->c, p->a, p->b, SIZE);
}

static void launch_tiled(void *self)
{
    Problem *p = (Problem *) self;

    tiled<<<dim3(SIZE / TILE, SIZE / TILE), dim3(TILE, TILE)>>>(p->c, p->a, p->b, SIZE);
}

static void launch_stencil(void *self)
{
    Problem *p = (Problem *) self;

    stencil<<<dim3(IMAGE / 32, IMAGE / 8), dim3(32, 8)>>>(p->c, p->a, IMAGE);
}

static void launch_histogram(void *self)
{
    Problem *p = (Problem *) self;

    CHECK(cudaMemset(p->counts, 0, BINS * sizeof *p->counts));
    histogram<<<64, BINS>>>(p->counts, p->pixels, PIXELS);
}

static bool measure_floats(const char *name, int n, void (*launch)(void *), BenchTimes *times)
{
    const size_t cells = (size_t) n * n, bytes = cells * sizeof(float);
    float *a = (float *) bench_host(bytes), *b = (float *) bench_host(bytes);
    float *c = (float *) bench_host(bytes);
    Problem p = { (float *) bench_device(bytes), (float *) bench_device(bytes),
                  (float *) bench_device(bytes) };

    for (size_t i = 0; i < cells; i++) {
        a[i] = bench_value((unsigned) i);
        b[i] = bench_value((unsigned) (i + cells));
    }
    CHECK(cudaMemcpy(p.a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p.b, b, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(p.c, 0, bytes));
    *times = bench_run(launch, &p, REPETITIONS);
    CHECK(cudaMemcpy(c, p.c, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(p.a));
    CHECK(cudaFree(p.b));
    CHECK(cudaFree(p.c));
    return strcmp(name, "stencil") ? is_product(a, b, c) : is_smooth(a, c);
}

static bool measure_histogram(BenchTimes *times)
{
    unsigned char *pixels = (unsigned char *) bench_host(PIXELS);
    unsigned counts[BINS], truth[BINS] = { 0 };
    unsigned char *on_device = (unsigned char *) bench_device(PIXELS);
    Problem p = { NULL, NULL, NULL, (unsigned *) bench_device(sizeof counts), on_device };

    for (unsigned i = 0; i < PIXELS; i++)
        truth[pixels[i] = (unsigned char) (i * 2654435761u >> 23)]++;
    CHECK(cudaMemcpy(on_device, pixels, PIXELS, cudaMemcpyHostToDevice));
    *times = bench_run(launch_histogram, &p, REPETITIONS);
    CHECK(cudaMemcpy(counts, p.counts, sizeof counts, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(on_device));
    CHECK(cudaFree(p.counts));
    return !memcmp(counts, truth, sizeof truth);
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "";
    BenchTimes times;
    bool right;

    if (!strcmp(name, "naive"))
        right = measure_floats(name, SIZE, launch_naive, &times);
    else if (!strcmp(name, "tiled"))
        right = measure_floats(name, SIZE, launch_tiled, &times);
    else if (!strcmp(name, "stencil"))
        right = measure_floats(name, IMAGE, launch_stencil, &times);
    else if (!strcmp(name, "histogram"))
        right = measure_histogram(&times);
    else
        return 2;
    if (right)
        bench_print(name, &times);
    else
        printf("wrong\n");
    return !right;
}
