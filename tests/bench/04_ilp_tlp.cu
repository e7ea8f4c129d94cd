/* 04_ilp_tlp - three sweeps that belong to the lab: chains times threads, copies at throttled
 * occupancy, and oscillators at a time in the lab's own launch. The last includes the reference
 * and our fastest rung. `make bench`; KERNEL is the file of the fastest rung, REFERENCE that of
 * the last numbered one. */
#include "bench.h"
#include "fill.h"

/* Two files that define the same names, including kernel.h with its launch: each is in its own
 * namespace, and the function is renamed, since an `extern "C"` function has one name in all of
 * them. */
#include "lab.h"
#define advance advance_reference
namespace reference
{
#include REFERENCE
}
#undef advance
#undef KERNEL_H
#define advance advance_fastest
namespace fastest
{
#include KERNEL
}
#undef advance

static int sms, device_threads;

/* ---- Chains times threads: one block per SM ---- */

enum { TRIPS = 1024, UNROLLED = 64 };

/* x comes from the arguments, so that a multiply-add reads two registers, not three. */
template <int CHAINS> static __global__ void chains_kernel(float *out, float x, int trips)
{
    float a[CHAINS], y = threadIdx.x;

    for (int j = 0; j < CHAINS; j++)
        a[j] = y + j;
    for (int t = 0; t < trips; t++) {
#pragma unroll
        for (int k = 0; k < UNROLLED; k++)
            for (int j = 0; j < CHAINS; j++)
                a[j] = fmaf(a[j], x, y);
    }
    for (int j = 1; j < CHAINS; j++)
        a[0] += a[j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = a[0];
}

typedef struct Chains {
    void (*kernel)(float *, float, int);
    float *out;
    int threads, blocks_an_sm;
} Chains;

static void run_chains(void *self, int set)
{
    Chains *c = (Chains *) self;

    (void) set;
    c->kernel<<<sms * c->blocks_an_sm, c->threads>>>(c->out, 0.5f, TRIPS);
    CUDA_CHECK(cudaGetLastError());
}

/* The median of a few samples, in milliseconds per call. */
static double quick_ms(void *self, BenchCall *call, int sets)
{
    Bench bench = { self };
    double ms[7];

    bench.sets = sets;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    int calls = bench_calls(&bench, call);
    for (int i = 0; i < 7; i++)
        ms[i] = bench_sample(&bench, call, calls);
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
    return median(ms, 7);
}

static void sweep_chains(void)
{
    static void (*const kernels[])(float *, float, int) = {
        chains_kernel<1>, chains_kernel<2>, chains_kernel<3>,
        chains_kernel<4>, chains_kernel<6>, chains_kernel<8>,
    };
    static const int counts[] = { 1, 2, 3, 4, 6, 8 };
    Chains c = { 0 };

    CUDA_CHECK(cudaMalloc(&c.out, sizeof(float) * sms * device_threads));
    printf("\nmultiply-adds, TFLOP/s\n%-12s", "threads/SM");
    for (int k : counts)
        printf(" %7d ch", k);
    for (int threads = 32; threads <= device_threads; threads *= 2) {
        printf("\n%-12d", threads);
        c.blocks_an_sm = threads > 1024 ? 2 : 1;
        c.threads = threads / c.blocks_an_sm;
        for (int i = 0; i < 6; i++) {
            c.kernel = kernels[i];
            double flops = 2.0 * TRIPS * UNROLLED * counts[i] * threads * sms;
            double rate = flops / quick_ms(&c, run_chains, 1) * 1e-9;
            printf(" %10.2f", rate);
            bench_figure(rate, "chains/%d threads an SM/%d chains/TFLOP/s", threads, counts[i]);
        }
    }
    printf("\n");
    CUDA_CHECK(cudaFree(c.out));
}

/* ---- Copies at throttled occupancy ---- */

enum { COPY_BLOCK = 128, COPY_SETS = 3 };

/* Each thread copies ITEMS that are a block apart, all loaded before the first is stored. */
template <typename T, int ITEMS> static __global__ void copy_kernel(T *out, const T *in, long count)
{
    long i = blockIdx.x * (long) (ITEMS * COPY_BLOCK) + threadIdx.x;
    T item[ITEMS];

    if (i + (ITEMS - 1) * COPY_BLOCK >= count)
        return; /* all counts here are multiples */
    for (int j = 0; j < ITEMS; j++)
        item[j] = in[i + j * COPY_BLOCK];
    for (int j = 0; j < ITEMS; j++)
        out[i + j * COPY_BLOCK] = item[j];
}

typedef struct Copy {
    size_t bytes;
    int form, shared_bytes;
    char *in[COPY_SETS], *out[COPY_SETS];
} Copy;

template <typename T, int ITEMS> static void launch_copy(Copy *c, int set)
{
    long count = c->bytes / sizeof(T);

    copy_kernel<T, ITEMS>
        <<<(unsigned) (count / (ITEMS * COPY_BLOCK)), COPY_BLOCK, c->shared_bytes>>>(
            (T *) c->out[set], (const T *) c->in[set], count);
    CUDA_CHECK(cudaGetLastError());
}

static const struct CopyForm {
    const char *name;
    void (*launch)(Copy *, int);
    const void *kernel;
} forms[] = {
    { "1 float", launch_copy<float, 1>, (const void *) copy_kernel<float, 1> },
    { "2 floats", launch_copy<float, 2>, (const void *) copy_kernel<float, 2> },
    { "4 floats", launch_copy<float, 4>, (const void *) copy_kernel<float, 4> },
    { "2 float4", launch_copy<float4, 2>, (const void *) copy_kernel<float4, 2> },
    { "4 float4", launch_copy<float4, 4>, (const void *) copy_kernel<float4, 4> },
    { "8 float4", launch_copy<float4, 8>, (const void *) copy_kernel<float4, 8> },
};

static void run_copy(void *self, int set)
{
    Copy *c = (Copy *) self;

    forms[c->form].launch(c, set);
}

static void run_memcpy(void *self, int set)
{
    Copy *c = (Copy *) self;

    CUDA_CHECK(cudaMemcpyAsync(c->out[set], c->in[set], c->bytes, cudaMemcpyDeviceToDevice));
}

/* Unused shared memory, sized so that `blocks` blocks fill an SM. */
static int throttle(int blocks)
{
    int of_sm, reserved, most;

    CUDA_CHECK(cudaDeviceGetAttribute(&of_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    int bytes = (of_sm / blocks - reserved) / 1024 * 1024;
    return bytes < most ? bytes : most;
}

static void sweep_copies(void)
{
    int most_blocks = device_threads / COPY_BLOCK;
    Copy c = { (size_t) 256 << 20 };

    for (int i = 0; i < COPY_SETS; i++) {
        CUDA_CHECK(cudaMalloc(&c.in[i], c.bytes));
        CUDA_CHECK(cudaMalloc(&c.out[i], c.bytes));
        CUDA_CHECK(cudaMemset(c.in[i], i + 1, c.bytes));
    }
    double memcpy_gbps = 2 * c.bytes / quick_ms(&c, run_memcpy, COPY_SETS) * 1e-6;
    bench_figure(memcpy_gbps, "copy/cudaMemcpy/GB/s");
    printf("\ncopies of 256 MiB, GB/s; cudaMemcpy %.0f\n%-12s", memcpy_gbps, "blocks/SM");
    for (const CopyForm &form : forms)
        printf(" %9s", form.name);
    for (int blocks = 1; blocks <= most_blocks; blocks *= 2) {
        printf("\n%3d of %-5d", blocks, most_blocks);
        c.shared_bytes = blocks == most_blocks ? 0 : throttle(blocks);
        for (c.form = 0; c.form < (int) (sizeof forms / sizeof *forms); c.form++) {
            int fit = 0;
            CUDA_CHECK(cudaFuncSetAttribute(
                forms[c.form].kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, c.shared_bytes));
            CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, forms[c.form].kernel,
                                                                     COPY_BLOCK, c.shared_bytes));
            double gbps = 2 * c.bytes / quick_ms(&c, run_copy, COPY_SETS) * 1e-6;
            printf(" %8.0f%s", gbps, fit == blocks ? " " : "*");
            if (fit == blocks)
                bench_figure(gbps, "copy/%s/%d of %d blocks an SM/GB/s", forms[c.form].name, blocks,
                             most_blocks);
        }
    }
    printf("\n*: a different number of blocks fits on an SM\n");
    for (int i = 0; i < COPY_SETS; i++) {
        CUDA_CHECK(cudaFree(c.in[i]));
        CUDA_CHECK(cudaFree(c.out[i]));
    }
}

/* ---- Oscillators at a time, in the lab's launch, and one at a time with more threads ---- */

enum { SETS = 3 };

static const float dt = 1.0f / 4;

typedef struct Problem {
    int n, steps;
    float *x0[SETS], *v0[SETS], *x1[SETS], *v1[SETS];
    void (*kernel)(float *, float *, const float *, const float *, float, int, int);
    int threads;
} Problem;

template <int K>
static __global__ void jam_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                                  int n, int steps)
{
    int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += K * stride) {
        float x[K], v[K];
        for (int j = 0; j < K; j++) {
            bool inside = i + j * stride < n;
            x[j] = inside ? x0[i + j * stride] : 0;
            v[j] = inside ? v0[i + j * stride] : 0;
        }
        for (int s = 0; s < steps; s++)
            for (int j = 0; j < K; j++) {
                v[j] -= dt * (x[j] + 0.3f * (x[j] * x[j]) * x[j]);
                x[j] += dt * v[j];
            }
        for (int j = 0; j < K; j++)
            if (i + j * stride < n) {
                x1[i + j * stride] = x[j];
                v1[i + j * stride] = v[j];
            }
    }
}

static void by_jam(void *self, int set)
{
    Problem *p = (Problem *) self;

    p->kernel<<<sms, p->threads>>>(p->x1[set], p->v1[set], p->x0[set], p->v0[set], dt, p->n,
                                   p->steps);
    CUDA_CHECK(cudaGetLastError());
}

static void by_reference(void *self, int set)
{
    Problem *p = (Problem *) self;

    reference::advance_kernel<<<sms, reference::BLOCK>>>(p->x1[set], p->v1[set], p->x0[set],
                                                         p->v0[set], dt, p->n, p->steps);
}

static void by_fastest(void *self, int set)
{
    Problem *p = (Problem *) self;

    fastest::advance_kernel<<<sms, fastest::BLOCK>>>(p->x1[set], p->v1[set], p->x0[set], p->v0[set],
                                                     dt, p->n, p->steps);
}

static __global__ void fill_kernel(float *data, int count, FillKey key)
{
    Fill unit = { FILL_UNIT, 0, 0 };

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] = fill_f32(unit, key, i);
}

static void print_rate(const char *problem, const char *name, const Problem *p, double ms)
{
    double tflops = 8.0 * p->n * p->steps / ms * 1e-9, gbps = 16.0 * p->n / ms * 1e-6;

    printf("  %-34s %9.4f ms  %6.1f TFLOP/s  %6.0f GB/s\n", name, ms, tflops, gbps);
    bench_figure(tflops, "%s/%s/TFLOP/s", name, problem);
    bench_figure(gbps, "%s/%s/GB/s", name, problem);
}

static void sweep_oscillators(const char *name, int n, int steps)
{
    static const struct {
        int at_a_time;
        void (*kernel)(float *, float *, const float *, const float *, float, int, int);
    } jams[] = { { 1, jam_kernel<1> },  { 2, jam_kernel<2> }, { 3, jam_kernel<3> },
                 { 4, jam_kernel<4> },  { 6, jam_kernel<6> }, { 8, jam_kernel<8> },
                 { 16, jam_kernel<16> } };
    Problem p = { n, steps };
    Bench bench = { &p };
    double best = 1e9, ours;
    char text[64];

    for (int i = 0; i < SETS; i++) {
        float **arrays[] = { &p.x0[i], &p.v0[i], &p.x1[i], &p.v1[i] };
        for (int a = 0; a < 4; a++) {
            CUDA_CHECK(cudaMalloc(arrays[a], sizeof(float) * n));
            fill_kernel<<<1024, 256>>>(*arrays[a], n, fill_key(i + 1, a));
        }
    }
    printf("\n%s: %d oscillators, %d steps\n", name, n, steps);
    for (size_t i = 0; i < sizeof jams / sizeof *jams; i++) {
        p.kernel = jams[i].kernel;
        p.threads = 128;
        double ms = quick_ms(&p, by_jam, SETS);
        best = ms < best ? ms : best;
        print_rate(name, PUT(text, "%d at a time, 128 threads an SM", jams[i].at_a_time), &p, ms);
    }
    p.kernel = jam_kernel<1>;
    p.threads = 1024;
    print_rate(name, "1 at a time, 1024 threads an SM", &p, quick_ms(&p, by_jam, SETS));
    print_rate(name, "reference", &p, ours = quick_ms(&p, by_reference, SETS));
    printf("  the reference is %.3f of the best of 1 to 16 at a time\n", best / ours);
    bench_figure(best / ours, "reference/%s/of the best of 1 to 16", name);
    bench.sets = SETS;
    bench.bytes = 16.0 * n;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    bench_row(name, "reference", "fastest", &bench, bench_race(&bench, by_reference, by_fastest));
    bench_row(name, "reference", "reference", &bench,
              bench_race(&bench, by_reference, by_reference));
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
    for (int i = 0; i < SETS; i++) {
        CUDA_CHECK(cudaFree(p.x0[i]));
        CUDA_CHECK(cudaFree(p.v0[i]));
        CUDA_CHECK(cudaFree(p.x1[i]));
        CUDA_CHECK(cudaFree(p.v1[i]));
    }
}

int main(void)
{
    int l2;

    bench_head(KERNEL);
    printf("reference: %s\n", REFERENCE);
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&device_threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    sweep_chains();
    sweep_copies();
    sweep_oscillators("long", 128 * sms * 16, 4096);
    sweep_oscillators("short", l2 / 2 / (2048 * sms) * (2048 * sms), 1);
    return 0;
}
