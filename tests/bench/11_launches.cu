/* 11_launches - compares our fastest rung and the lab's reference with one launch over one flat
 * array of as many floats, and with ways to make many launches cheaper: streams, a CUDA graph, a
 * table in constant memory. `make bench`; KERNEL is the fastest rung's file, REFERENCE the
 * reference's. */
#include "bench.h"
#include "fill.h"
#include "kernel.h"

#include <vector>

/* Two files that define the same names, in one program. */
#define update update_by_kernel
namespace by_kernel
{
#include KERNEL
}
#undef update
#define update update_by_reference
namespace by_reference
{
#include REFERENCE
}
#undef update

enum { BLOCK = 256, QUADS = 4, CHUNK = BLOCK * QUADS * 4, STREAMS = 8, MOST_SETS = 16 };
enum { ENTRIES = 1024, ALIGNED = 32 };

typedef void Update(const Tensor *tensors, int count, int task);

typedef struct Problem {
    int task, count, sets;
    size_t floats;
    float *weights[MOST_SETS], *gradient[MOST_SETS], *updated[MOST_SETS];
    std::vector<Tensor> tensors[MOST_SETS], flat[MOST_SETS];
    cudaStream_t stream[STREAMS];
    cudaEvent_t fork, join[STREAMS];
    cudaGraphExec_t graph[MOST_SETS], wide_graph[MOST_SETS];
} Problem;

static __device__ float stepped(float weight, float gradient, float rate, int task)
{
    if (task == CLIPPED_STEP)
        gradient = fminf(fmaxf(UNSCALE * gradient, -LIMIT), LIMIT);
    return weight - rate * gradient;
}

/* ---- One launch per tensor ---- */

static __global__ void tensor_kernel(Tensor t, int task)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < t.size)
        t.updated[i] = stepped(t.weights[i], t.gradient[i], t.rate, task);
}

/* Uses the first `streams` streams in turn, or the default stream. */
static void launch_each(Problem *p, int set, int streams)
{
    for (int i = 0; i < p->count; i++) {
        const Tensor &t = p->tensors[set][i];
        cudaStream_t stream = streams ? p->stream[i % streams] : 0;
        if (t.size > 0)
            tensor_kernel<<<ceil_div(t.size, BLOCK), BLOCK, 0, stream>>>(t, p->task);
    }
    CUDA_CHECK(cudaGetLastError());
}

static void launch_per_tensor(void *self, int set)
{
    launch_each((Problem *) self, set, 0);
}

/* All streams wait for `first`, and `first` waits for all of them. */
static void launch_in_streams(Problem *p, int set, cudaStream_t first)
{
    CUDA_CHECK(cudaEventRecord(p->fork, first));
    for (int s = 0; s < STREAMS; s++)
        if (p->stream[s] != first)
            CUDA_CHECK(cudaStreamWaitEvent(p->stream[s], p->fork, 0));
    launch_each(p, set, STREAMS);
    for (int s = 0; s < STREAMS; s++) {
        if (p->stream[s] == first)
            continue;
        CUDA_CHECK(cudaEventRecord(p->join[s], p->stream[s]));
        CUDA_CHECK(cudaStreamWaitEvent(first, p->join[s], 0));
    }
}

static void streams(void *self, int set)
{
    launch_in_streams((Problem *) self, set, 0);
}

static void graph(void *self, int set)
{
    CUDA_CHECK(cudaGraphLaunch(((Problem *) self)->graph[set], 0));
}

static void wide_graph(void *self, int set)
{
    CUDA_CHECK(cudaGraphLaunch(((Problem *) self)->wide_graph[set], 0));
}

/* The tensors' launches as a graph: one after the other, or in as many rows as there are streams.
 */
static cudaGraphExec_t record(Problem *p, int set, bool wide)
{
    cudaGraphExec_t ready;
    cudaGraph_t recorded;

    CUDA_CHECK(cudaStreamBeginCapture(p->stream[0], cudaStreamCaptureModeGlobal));
    if (wide)
        launch_in_streams(p, set, p->stream[0]);
    else
        launch_each(p, set, 1);
    CUDA_CHECK(cudaStreamEndCapture(p->stream[0], &recorded));
    CUDA_CHECK(cudaGraphInstantiateWithFlags(&ready, recorded, 0));
    CUDA_CHECK(cudaGraphDestroy(recorded));
    return ready;
}

/* ---- One launch ---- */

/* The bound: one array, and the block's place in it needs no table. */
template <int TASK>
static __global__ void flat_kernel(float *updated, const float *weights, const float *gradient,
                                   float rate)
{
    const size_t quad = blockIdx.x * (size_t) (BLOCK * QUADS) + threadIdx.x;
    float4 w[QUADS], g[QUADS];

#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        w[k] = ((const float4 *) weights)[quad + k * BLOCK];
        g[k] = ((const float4 *) gradient)[quad + k * BLOCK];
    }
#pragma unroll
    for (int k = 0; k < QUADS; k++)
        ((float4 *) updated)[quad + k * BLOCK] =
            make_float4(stepped(w[k].x, g[k].x, rate, TASK), stepped(w[k].y, g[k].y, rate, TASK),
                        stepped(w[k].z, g[k].z, rate, TASK), stepped(w[k].w, g[k].w, rate, TASK));
}

static void flat(void *self, int set)
{
    Problem *p = (Problem *) self;
    auto kernel = p->task == STEP ? flat_kernel<STEP> : flat_kernel<CLIPPED_STEP>;

    kernel<<<(unsigned) (p->floats / CHUNK), BLOCK>>>(p->updated[set], p->weights[set],
                                                      p->gradient[set], 0.01f);
    CUDA_CHECK(cudaGetLastError());
}

static __constant__ Tensor constant_tensor[ENTRIES];
static __constant__ int constant_first_block[ENTRIES];

static __global__ void constant_kernel(int count, int task)
{
    int from = 0, to = count;

    while (to - from > 1) {
        int middle = (from + to) / 2;
        if (constant_first_block[middle] <= blockIdx.x)
            from = middle;
        else
            to = middle;
    }
    const Tensor &t = constant_tensor[from];
    const long first = (blockIdx.x - constant_first_block[from]) * (long) CHUNK;
    const long end = first + CHUNK < t.size ? first + CHUNK : t.size;
#pragma unroll 4
    for (long i = first + threadIdx.x; i < end; i += BLOCK)
        t.updated[i] = stepped(t.weights[i], t.gradient[i], t.rate, task);
}

/* The copies are in the default stream, so they wait for the last call's kernel. */
static void constant_table(void *self, int set)
{
    Problem *p = (Problem *) self;
    static int first_block[ENTRIES];
    int blocks = 0;

    for (int i = 0; i < p->count; i++) {
        first_block[i] = blocks;
        blocks += ceil_div(p->tensors[set][i].size, CHUNK);
    }
    CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_tensor, p->tensors[set].data(),
                                       p->count * sizeof(Tensor), 0, cudaMemcpyHostToDevice, 0));
    CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_first_block, first_block, p->count * sizeof(int), 0,
                                       cudaMemcpyHostToDevice, 0));
    constant_kernel<<<blocks, BLOCK>>>(p->count, p->task);
    CUDA_CHECK(cudaGetLastError());
}

static void kernel(void *self, int set)
{
    Problem *p = (Problem *) self;

    by_kernel::update_by_kernel(p->tensors[set].data(), p->count, p->task);
}

static void reference(void *self, int set)
{
    Problem *p = (Problem *) self;

    by_reference::update_by_reference(p->tensors[set].data(), p->count, p->task);
}

/* The reference, on a table with one entry. */
static void reference_flat(void *self, int set)
{
    Problem *p = (Problem *) self;

    by_reference::update_by_reference(p->flat[set].data(), 1, p->task);
}

/* ---- The chain in one, two or three launches over one array ---- */

enum { UNSCALED = 1, CLIPPED = 2, STEPPED = 4 };

template <int OPERATIONS>
static __global__ void chain_kernel(float4 *to, const float4 *from, const float4 *weights)
{
    const size_t quad = blockIdx.x * (size_t) (BLOCK * QUADS) + threadIdx.x;
    float4 x[QUADS], w[QUADS];

#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        x[k] = from[quad + k * BLOCK];
        if (OPERATIONS & STEPPED)
            w[k] = weights[quad + k * BLOCK];
    }
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        float *v = &x[k].x;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (OPERATIONS & UNSCALED)
                v[i] *= UNSCALE;
            if (OPERATIONS & CLIPPED)
                v[i] = fminf(fmaxf(v[i], -LIMIT), LIMIT);
            if (OPERATIONS & STEPPED)
                v[i] = (&w[k].x)[i] - 0.01f * v[i];
        }
        to[quad + k * BLOCK] = x[k];
    }
}

template <int OPERATIONS> static void part(Problem *p, int set, const float *from)
{
    chain_kernel<OPERATIONS><<<(unsigned) (p->floats / CHUNK), BLOCK>>>(
        (float4 *) p->updated[set], (const float4 *) from, (const float4 *) p->weights[set]);
    CUDA_CHECK(cudaGetLastError());
}

static void chain_in_three(void *self, int set)
{
    Problem *p = (Problem *) self;

    part<UNSCALED>(p, set, p->gradient[set]);
    part<CLIPPED>(p, set, p->updated[set]);
    part<STEPPED>(p, set, p->updated[set]);
}

static void chain_in_two(void *self, int set)
{
    Problem *p = (Problem *) self;

    part<UNSCALED | CLIPPED>(p, set, p->gradient[set]);
    part<STEPPED>(p, set, p->updated[set]);
}

static void chain_in_one(void *self, int set)
{
    Problem *p = (Problem *) self;

    part<UNSCALED | CLIPPED | STEPPED>(p, set, p->gradient[set]);
}

/* ---- The problem ---- */

static __global__ void fill_kernel(float *data, size_t count, FillKey key)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    Fill fill = { FILL_UNIT, 0, 0 };

    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = fill_f32(fill, key, i);
}

static float *floats_of(size_t count, uint64_t seed)
{
    float *data;

    CUDA_CHECK(cudaMalloc(&data, count * sizeof *data));
    fill_kernel<<<1024, 256>>>(data, count, fill_key(seed, 0));
    CUDA_CHECK(cudaGetLastError());
    return data;
}

/* As in the lab: one tensor has a third of all floats, and sizes of similar logarithm are equally
 * frequent. */
static std::vector<size_t> sizes_of(size_t floats, int count)
{
    std::vector<size_t> sizes(count);
    size_t all = 0, left = floats - (size_t) count * ALIGNED;

    for (int i = 0; i < count; i++) {
        uint32_t bits = fill_bits(fill_key(1, 0), (size_t) i);
        all += sizes[i] = i == count / 3 ? 0 : (size_t) (16 + bits % 16) << bits / 16 % 12;
    }
    for (int i = 0; i < count; i++)
        sizes[i] = floats * 2 / 3 * sizes[i] / all;
    for (int i = 0; i < count; i++)
        left -= i == count / 3 ? 0 : sizes[i];
    sizes[count / 3] = left;
    return sizes;
}

static void prepare_set(Problem *p, int set, const std::vector<size_t> &sizes)
{
    size_t at = 0;

    p->weights[set] = floats_of(p->floats, 2 * set + 1);
    p->gradient[set] = floats_of(p->floats, 2 * set + 2);
    p->updated[set] = floats_of(p->floats, 0);
    p->tensors[set].clear();
    for (size_t size : sizes) {
        p->tensors[set].push_back({ p->updated[set] + at, p->weights[set] + at,
                                    p->gradient[set] + at, (int) size, 0.01f });
        at += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    }
    p->flat[set] = { { p->updated[set], p->weights[set], p->gradient[set], (int) p->floats,
                       0.01f } };
    p->graph[set] = record(p, set, false);
    p->wide_graph[set] = record(p, set, true);
}

static void release_set(Problem *p, int set)
{
    CUDA_CHECK(cudaGraphExecDestroy(p->graph[set]));
    CUDA_CHECK(cudaGraphExecDestroy(p->wide_graph[set]));
    CUDA_CHECK(cudaFree(p->weights[set]));
    CUDA_CHECK(cudaFree(p->gradient[set]));
    CUDA_CHECK(cudaFree(p->updated[set]));
}

/* All ways compute the same bits, so all of them are compared with the flat launch. Its floats
 * between tensors are left out. */
static void check(Problem *p, const char *name, BenchCall *call)
{
    std::vector<float> want(p->floats), got(p->floats);
    const size_t bytes = p->floats * sizeof(float);

    flat(p, 0);
    CUDA_CHECK(cudaMemcpy(want.data(), p->updated[0], bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemset(p->updated[0], 0xFF, bytes));
    call(p, 0);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(got.data(), p->updated[0], bytes, cudaMemcpyDeviceToHost));
    for (const Tensor &t : p->tensors[0])
        for (size_t i = t.updated - p->updated[0], k = 0; k < (size_t) t.size; i++, k++)
            if (!(fabsf(got[i] - want[i]) <= 1e-6f)) {
                fprintf(stderr, "%s: float %zu is %.9g, expected %.9g\n", name, i, got[i], want[i]);
                exit(1);
            }
}

/* ---- Measuring ---- */

static const struct {
    const char *name;
    BenchCall *call;
} ways[] = { { "a launch per tensor", launch_per_tensor },
             { "eight streams", streams },
             { "a graph", graph },
             { "a graph of eight rows", wide_graph },
             { "a table in constant memory", constant_table } };

static void measure_ways(Bench *bench, const char *name)
{
    Problem *p = (Problem *) bench->self;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        check(p, ways[i].name, ways[i].call);
        bench_row(name, ways[i].name, "reference", bench,
                  bench_race(bench, ways[i].call, reference));
    }
}

static void measure_chain(Bench *bench, const char *name)
{
    static const struct {
        const char *launches;
        BenchCall *call;
        double floats_moved; /* per float */
    } rows[] = { { "one launch", chain_in_one, 3 },
                 { "two launches", chain_in_two, 5 },
                 { "three launches", chain_in_three, 7 } };
    Problem *p = (Problem *) bench->self;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double mb = rows[i].floats_moved * sizeof(float) * (double) p->floats * 1e-6, ms;
        check(p, rows[i].launches, rows[i].call);
        ms = bench_sample(bench, rows[i].call, bench_calls(bench, rows[i].call));
        printf("%-18s the chain in %-14s %6.0f MB  %8.4f ms\n", name, rows[i].launches, mb, ms);
        bench_figure(mb, "%s/the chain in %s/MB", name, rows[i].launches);
        bench_figure(ms, "%s/the chain in %s/ms", name, rows[i].launches);
    }
}

static void measure(Problem *p, size_t floats, int count, int task, int sets)
{
    Bench bench = { p, sets };
    char name[64];

    p->floats = floats / CHUNK * CHUNK;
    p->count = count;
    p->task = task;
    for (int set = 0; set < sets; set++)
        prepare_set(p, set, sizes_of(p->floats, count));
    bench.bytes = 3 * sizeof(float) * (double) p->floats;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    check(p, KERNEL, kernel);
    check(p, REFERENCE, reference);
    check(p, REFERENCE, reference_flat);
    PUT(name, "%s, %d tensors, %.0f MB", task == STEP ? "step" : "clipped", count,
        bench.bytes * 1e-6);
    bench_row(name, "one flat launch", "fastest", &bench, bench_race(&bench, flat, kernel));
    bench_row(name, "one flat launch", "reference", &bench, bench_race(&bench, flat, reference));
    bench_row(name, "one flat launch", "reference on one tensor", &bench,
              bench_race(&bench, flat, reference_flat));
    if (task == STEP)
        measure_ways(&bench, name);
    else
        measure_chain(&bench, name);
    for (int set = 0; set < sets; set++)
        release_set(p, set);
}

static void make_streams(Problem *p)
{
    CUDA_CHECK(cudaEventCreateWithFlags(&p->fork, cudaEventDisableTiming));
    for (int s = 0; s < STREAMS; s++) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&p->stream[s], cudaStreamNonBlocking));
        CUDA_CHECK(cudaEventCreateWithFlags(&p->join[s], cudaEventDisableTiming));
    }
}

int main(void)
{
    /* 600 MB exceed any L2. With 60 MB, a ring of eight sets does. */
    static const struct {
        size_t floats;
        int count, task, sets;
    } problems[] = { { 50000000, 400, STEP, 1 },
                     { 5000000, 400, STEP, 8 },
                     { 50000000, 400, CLIPPED_STEP, 1 } };
    size_t free_bytes, total_bytes;
    Problem p = {};

    bench_head(KERNEL);
    make_streams(&p);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        double bytes = 3 * sizeof(float) * (double) problems[i].floats * problems[i].sets;
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (bytes * 1.1 > (double) free_bytes)
            printf("%zu: skipped, the GPU has too little free memory\n", problems[i].floats);
        else
            measure(&p, problems[i].floats, problems[i].count, problems[i].task, problems[i].sets);
    }
    return 0;
}
