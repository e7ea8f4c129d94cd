// queues.cuh - worlds in steps: forest fires, waiting lines, epidemics, sand.
#ifndef BLIND_QUEUES_CUH
#define BLIND_QUEUES_CUH

#include "blind.cuh"

// ---- A forest fire, one step: a cell per thread, or a row of sixteen cells ----

enum { FOREST_W = 2048, FOREST_H = 2048 };

// 0: empty, 1: tree, 2: fire
__host__ __device__ inline unsigned char fire_cell(const unsigned char *in, int x, int y)
{
    const int at = y * FOREST_W + x;
    if (in[at] != 1)
        return 0;
    const bool near = (x > 0 && in[at - 1] == 2) || (x < FOREST_W - 1 && in[at + 1] == 2) ||
                      (y > 0 && in[at - FOREST_W] == 2) ||
                      (y < FOREST_H - 1 && in[at + FOREST_W] == 2);
    return near ? 2 : 1;
}

template <int EACH> __global__ void fire_kernel(const unsigned char *in, unsigned char *out)
{
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int k = 0; k < EACH; k++)
        out[y * FOREST_W + x + k] = fire_cell(in, x + k, y);
}

template <int EACH> static void fire(Run &run)
{
    const std::vector<int> v = integers(FOREST_W * FOREST_H, 3, 6401);
    const std::vector<unsigned char> in(v.begin(), v.end());
    const unsigned char *from = run.upload(in);
    unsigned char *to = run.zeros<unsigned char>(FOREST_W * FOREST_H);
    const dim3 block(32, 4), grid(FOREST_W / EACH / 32, FOREST_H / 4);
    run.measure([=] { fire_kernel<EACH><<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, FOREST_W * FOREST_H),
        [&](size_t i) { return fire_cell(in.data(), i % FOREST_W, i / FOREST_W); }, 0, 1001);
}

static void fire_one(Run &run)
{
    fire<1>(run);
}

static void fire_sixteen(Run &run)
{
    fire<16>(run);
}

// ---- Waiting lines: customers at eight counters, each takes the one that is free first ----

enum { LINES = 4096, LINE_COUNTERS = 8, LINE_CUSTOMERS = 1000 };

template <class Counters> __host__ __device__ inline int line_wait(uint32_t seed, Counters free)
{
    int now = 0, waited = 0;
    for (int k = 0; k < LINE_COUNTERS; k++)
        free(k) = 0;
    for (int c = 0; c < LINE_CUSTOMERS; c++) {
        seed = seed * 1664525u + 1013904223u;
        now += seed >> 28;
        int best = 0;
        for (int k = 1; k < LINE_COUNTERS; k++)
            best = free(k) < free(best) ? k : best;
        const int begin = free(best) > now ? free(best) : now;
        waited += begin - now;
        free(best) = begin + (seed >> 20 & 127);
    }
    return waited;
}

struct LineCounters {
    int *at, stride;

    __host__ __device__ int &operator()(int k) const
    {
        return at[k * stride];
    }
};

__global__ void counters_local_kernel(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int free[LINE_COUNTERS];
    out[i] = line_wait(i * 7919u, LineCounters{ free, 1 });
}

__global__ void counters_shared_kernel(int *out)
{
    __shared__ int free[LINE_COUNTERS * 64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = line_wait(i * 7919u, LineCounters{ free + threadIdx.x, 64 });
}

static void counters(Run &run, void (*kernel)(int *))
{
    int *to = run.zeros<int>(LINES);
    run.measure([=] { kernel<<<LINES / 64, 64>>>(to); });
    run.expect_all(
        run.output(to, LINES),
        [](size_t i) {
            int free[LINE_COUNTERS];
            return line_wait((uint32_t) i * 7919u, LineCounters{ free, 1 });
        },
        0, 37);
}

static void counters_local(Run &run)
{
    counters(run, counters_local_kernel);
}

static void counters_shared(Run &run)
{
    counters(run, counters_shared_kernel);
}

// ---- Epidemics: towns of one thread each, by Euler's method in float or in double ----

enum { TOWNS = 4096, TOWN_STEPS = 6000 };

template <class T> __host__ __device__ inline T epidemic(int town)
{
    const T rate = (T) 0.2 + town * (T) 1e-5, leave = (T) 0.07, dt = (T) 0.2;
    T s = (T) 0.99, i = (T) 0.01, peak = 0;
    for (int k = 0; k < TOWN_STEPS; k++) {
        const T caught = rate * s * i * dt;
        s -= caught;
        i += caught - leave * i * dt;
        peak = i > peak ? i : peak;
    }
    return peak;
}

template <class T> __global__ void epidemic_kernel(T *out)
{
    const int town = blockIdx.x * blockDim.x + threadIdx.x;
    out[town] = epidemic<T>(town);
}

template <class T> static void epidemics(Run &run)
{
    T *to = run.zeros<T>(TOWNS);
    run.measure([=] { epidemic_kernel<T><<<TOWNS / 128, 128>>>(to); });
    run.expect_all(
        run.output(to, TOWNS), [](size_t i) { return epidemic<double>((int) i); }, 1e-4, 97);
}

static void epidemic_float(Run &run)
{
    epidemics<float>(run);
}

static void epidemic_double(Run &run)
{
    epidemics<double>(run);
}

// ---- Sand on small tables falls until it rests: a table per block of threads, or per thread ----

enum { SAND_TABLES = 512, SAND_SIDE = 8, SAND_CELLS = 64 };

__host__ __device__ inline int sand_near(const int *t, int c)
{
    const int x = c % SAND_SIDE;
    return (x > 0 ? t[c - 1] / 4 : 0) + (x < SAND_SIDE - 1 ? t[c + 1] / 4 : 0) +
           (c >= SAND_SIDE ? t[c - SAND_SIDE] / 4 : 0) +
           (c < SAND_CELLS - SAND_SIDE ? t[c + SAND_SIDE] / 4 : 0);
}

__global__ void sand_block_kernel(const int *in, int *out)
{
    __shared__ int t[SAND_CELLS];
    const int c = threadIdx.x, at = blockIdx.x * SAND_CELLS + c;
    t[c] = in[at];
    __syncthreads();
    while (__syncthreads_or(t[c] >= 4)) {
        const int next = t[c] % 4 + sand_near(t, c);
        __syncthreads();
        t[c] = next;
    }
    out[at] = t[c];
}

__host__ __device__ inline void sand_alone(const int *in, int *out)
{
    int t[SAND_CELLS], next[SAND_CELLS];
    for (int c = 0; c < SAND_CELLS; c++)
        t[c] = in[c];
    for (bool moves = true; moves;) {
        moves = false;
        for (int c = 0; c < SAND_CELLS; c++) {
            next[c] = t[c] % 4 + sand_near(t, c);
            moves |= next[c] >= 4;
        }
        for (int c = 0; c < SAND_CELLS; c++)
            t[c] = next[c];
    }
    for (int c = 0; c < SAND_CELLS; c++)
        out[c] = t[c];
}

__global__ void sand_thread_kernel(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sand_alone(in + i * SAND_CELLS, out + i * SAND_CELLS);
}

static void sand(Run &run, void (*kernel)(const int *, int *), int grid, int block)
{
    const std::vector<int> in = integers(SAND_TABLES * SAND_CELLS, 8, 6402);
    const int *from = run.upload(in);
    int *to = run.zeros<int>(SAND_TABLES * SAND_CELLS);
    run.measure([=] { kernel<<<grid, block>>>(from, to); });
    const std::vector<int> got = run.output(to, SAND_TABLES * SAND_CELLS);
    for (int i = 0; i < SAND_TABLES; i += 31) {
        int wanted[SAND_CELLS];
        sand_alone(&in[i * SAND_CELLS], wanted);
        for (int c = 0; c < SAND_CELLS; c++)
            run.expect(got[i * SAND_CELLS + c], wanted[c], 0);
    }
}

static void sand_block(Run &run)
{
    sand(run, sand_block_kernel, SAND_TABLES, SAND_CELLS);
}

static void sand_thread(Run &run)
{
    sand(run, sand_thread_kernel, SAND_TABLES / 32, 32);
}

#endif
