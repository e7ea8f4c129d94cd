// mixed.cuh - different pieces of work in two or three streams: kernels, copies and fills.
#ifndef MIXED_CUH
#define MIXED_CUH

#include "kernels.cuh"

// ---- Memory-bound work next to arithmetic ----

__global__ void triad(float4 *a, const float4 *b, const float4 *c, float scale)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 x = b[i], y = c[i];

    a[i] = make_float4(x.x + scale * y.x, x.y + scale * y.y, x.z + scale * y.z, x.w + scale * y.w);
}

static void triad_and_factors(Flow &flow, int streams)
{
    enum { COUNT = 4 << 20, PASSES = 3, NUMBERS = 64 * 32 };
    const auto b = floats(COUNT, 40), c = floats(COUNT, 41);
    const auto numbers = odd_numbers(NUMBERS, 9000000);
    const float *db = flow.upload(b), *dc = flow.upload(c);
    const unsigned *dnumbers = flow.upload(numbers);
    float *a = flow.zeros<float>(COUNT);
    unsigned *factors = flow.zeros<unsigned>(NUMBERS);

    flow.time(streams, [&] {
        for (int pass = 1; pass <= PASSES; pass++)
            triad<<<COUNT / 4 / 256, 256, 0, flow.stream[0]>>>((float4 *) a, (const float4 *) db,
                                                               (const float4 *) dc, 0.5f * pass);
        odd_factors<<<NUMBERS / 32, 32, 0, flow.stream[streams - 1]>>>(dnumbers, factors);
    });
    flow.expect_some(
        flow.download(a, COUNT), COUNT, 9973, [&](size_t i) { return b[i] + 1.5f * c[i]; }, 1e-6);
    flow.expect_some(flow.download(factors, NUMBERS), NUMBERS, 7,
                     [&](size_t i) { return odd_factor(numbers[i]); });
}

static void triad_then_factors(Flow &flow)
{
    triad_and_factors(flow, 1);
}

static void triad_with_factors(Flow &flow)
{
    triad_and_factors(flow, 2);
}

// ---- FP64 next to FP32 ----

template <class T> static std::vector<T> animals(int pairs)
{
    const auto start = floats(2 * pairs, 42, 2, 8);

    return std::vector<T>(start.begin(), start.end());
}

template <class T>
static void expect_animals(Flow &flow, const T *end, int pairs, int steps, double tolerance)
{
    const auto start = animals<T>(pairs);
    const auto got = flow.download(end, 2 * pairs);

    for (int i = 0; i < pairs; i += 151)
        flow.expect(got[2 * i], prey_after(start[2 * i], start[2 * i + 1], steps), tolerance);
}

static void double_with_float(Flow &flow)
{
    enum { DOUBLES = 48 * 32, FLOATS = 48 * 64, DOUBLE_STEPS = 3000, FLOAT_STEPS = 4000 };
    const double *start64 = flow.upload(animals<double>(DOUBLES));
    const float *start32 = flow.upload(animals<float>(FLOATS));
    double *end64 = flow.zeros<double>(2 * DOUBLES);
    float *end32 = flow.zeros<float>(2 * FLOATS);

    flow.time(2, [&] {
        populations<<<DOUBLES / 32, 32, 0, flow.stream[0]>>>(start64, end64, DOUBLE_STEPS);
        populations<<<FLOATS / 64, 64, 0, flow.stream[1]>>>(start32, end32, FLOAT_STEPS);
    });
    expect_animals(flow, end64, DOUBLES, DOUBLE_STEPS, 1e-9);
    expect_animals(flow, end32, FLOATS, FLOAT_STEPS, 1e-3);
}

// ---- State machines: the table fills the shared memory of an SM ----

enum { STATES = 8192, TABLE = 4 * STATES, TABLE_BYTES = TABLE * 4, SYMBOLS = 16 };

// Each thread runs its text, symbols of two bits, through the machine.
__global__ void run_machine(const int *table, const unsigned *texts, int *ends, int words)
{
    extern __shared__ int steps[];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    int state = thread % STATES;

    for (int i = threadIdx.x; i < TABLE / 4; i += blockDim.x)
        ((int4 *) steps)[i] = ((const int4 *) table)[i];
    __syncthreads();
    for (int w = 0; w < words; w++) {
        unsigned text = texts[w * threads + thread];
        for (int s = 0; s < SYMBOLS; s++, text >>= 2)
            state = steps[4 * state + (text & 3)];
    }
    ends[thread] = state;
}

// One launch of the machine, with its texts.
struct Machine {
    int blocks, words;
    std::vector<int> table;
    std::vector<unsigned> texts;
    int *dtable, *ends;
    unsigned *dtexts;

    enum { THREADS = 128 };

    Machine(Flow &flow, int blocks, int words) : blocks(blocks), words(words)
    {
        table = integers(TABLE, STATES, 43);
        texts = ::words((size_t) blocks * THREADS * words, 44);
        dtable = flow.upload(table);
        dtexts = flow.upload(texts);
        ends = flow.zeros<int>(blocks * THREADS);
        CHECK(cudaFuncSetAttribute(run_machine, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   TABLE_BYTES));
    }

    void issue(cudaStream_t stream) const
    {
        run_machine<<<blocks, THREADS, TABLE_BYTES, stream>>>(dtable, dtexts, ends, words);
    }

    int end_of(int thread) const
    {
        int state = thread % STATES;
        for (int w = 0; w < words; w++)
            for (int s = 0; s < SYMBOLS; s++)
                state = table[4 * state + (texts[w * blocks * THREADS + thread] >> 2 * s & 3)];
        return state;
    }

    void check(Flow &flow) const
    {
        const int threads = blocks * THREADS;
        flow.expect_some(flow.download(ends, threads), threads, 53,
                         [&](size_t i) { return end_of((int) i); });
    }
};

static void long_and_short(Flow &flow, bool long_first)
{
    enum { SHORTS = 3 };
    const Machine work(flow, 198, 40);
    const std::vector<Machine> shorts(SHORTS, Machine(flow, 20, 10));

    flow.time(2, [&] {
        if (long_first)
            work.issue(flow.stream[0]);
        for (const Machine &m : shorts)
            m.issue(flow.stream[1]);
        if (!long_first)
            work.issue(flow.stream[0]);
    });
    work.check(flow);
    shorts[0].check(flow);
}

static void short_after_long(Flow &flow)
{
    long_and_short(flow, true);
}

static void long_after_short(Flow &flow)
{
    long_and_short(flow, false);
}

// ---- Linear systems of which each thread holds one in registers ----

enum { UNKNOWNS = 11, SYSTEM = UNKNOWNS * (UNKNOWNS + 1) };

// `m` has a row per equation, its right side last. The diagonal dominates, so no rows are swapped.
__host__ __device__ inline void eliminate(float (&m)[UNKNOWNS][UNKNOWNS + 1])
{
#pragma unroll
    for (int p = 0; p < UNKNOWNS; p++) {
        const float scale = 1 / m[p][p];
#pragma unroll
        for (int row = 0; row < UNKNOWNS; row++) {
            const float factor = row == p ? 0 : m[row][p] * scale;
#pragma unroll
            for (int column = p; column <= UNKNOWNS; column++)
                m[row][column] -= factor * m[p][column];
        }
    }
}

__global__ void __launch_bounds__(256, 1) solve(const float *systems, float *solutions)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[UNKNOWNS][UNKNOWNS + 1];

#pragma unroll
    for (int k = 0; k < SYSTEM; k++)
        m[k / (UNKNOWNS + 1)][k % (UNKNOWNS + 1)] = systems[(size_t) i * SYSTEM + k];
    eliminate(m);
#pragma unroll
    for (int row = 0; row < UNKNOWNS; row++)
        solutions[i * UNKNOWNS + row] = m[row][UNKNOWNS] / m[row][row];
}

static std::vector<float> systems_of(int count)
{
    auto systems = floats((size_t) count * SYSTEM, 45);

    for (int i = 0; i < count; i++)
        for (int row = 0; row < UNKNOWNS; row++)
            systems[(size_t) i * SYSTEM + row * (UNKNOWNS + 2)] = 12 + row;
    return systems;
}

// The left side of each equation must give its right side.
static void expect_solved(Flow &flow, const float *system, const float *solution)
{
    for (int row = 0; row < UNKNOWNS; row++) {
        const float *equation = system + row * (UNKNOWNS + 1);
        double left = 0;
        for (int k = 0; k < UNKNOWNS; k++)
            left += (double) equation[k] * solution[k];
        flow.expect(left, equation[UNKNOWNS], 1e-4);
    }
}

static void machine_with_solve(Flow &flow)
{
    enum { SYSTEMS = 198 * 256 };
    const Machine machine(flow, 132, 40);
    const auto systems = systems_of(SYSTEMS);
    const float *dsystems = flow.upload(systems);
    float *solutions = flow.zeros<float>(SYSTEMS * UNKNOWNS);

    flow.time(2, [&] {
        machine.issue(flow.stream[0]);
        solve<<<SYSTEMS / 256, 256, 0, flow.stream[1]>>>(dsystems, solutions);
    });
    machine.check(flow);
    const auto got = flow.download(solutions, SYSTEMS * UNKNOWNS);
    for (int i = 0; i < SYSTEMS; i += 499)
        expect_solved(flow, &systems[(size_t) i * SYSTEM], &got[i * UNKNOWNS]);
}

// ---- Many waves next to few blocks ----

__global__ void scale(float4 *values, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 v = values[i];

    values[i] = make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
}

static void waves_with_few(Flow &flow)
{
    enum { COUNT = 12 << 20, NUMBERS = 6 * 64 };
    const auto values = floats(COUNT, 46);
    const auto numbers = odd_numbers(NUMBERS, 9000000);
    float *device = flow.upload(values);
    const unsigned *dnumbers = flow.upload(numbers);
    unsigned *factors = flow.zeros<unsigned>(NUMBERS);

    flow.time(2, [&] {
        for (int i = 0; i < 2; i++)
            scale<<<COUNT / 4 / 256, 256, 0, flow.stream[0]>>>((float4 *) device, 1.5f);
        odd_factors<<<NUMBERS / 64, 64, 0, flow.stream[1]>>>(dnumbers, factors);
    });
    flow.expect_some(
        flow.download(device, COUNT), COUNT, 9973, [&](size_t i) { return 2.25f * values[i]; },
        1e-6);
    flow.expect_some(flow.download(factors, NUMBERS), NUMBERS, 5,
                     [&](size_t i) { return odd_factor(numbers[i]); });
}

// ---- A kernel of one wave and a quarter; the next one starts in its tail ----

static void sum_in_tail(Flow &flow)
{
    enum { PLACES = 4 << 20, BLOCKS = 132 * 8 * 5 / 4, THREADS = BLOCKS * 256, STEPS = 25 };
    const auto next = links(PLACES, 47);
    const auto values = floats(PLACES, 48, 0, 1);
    const int *dnext = flow.upload(next);
    const float *dvalues = flow.upload(values);
    int *ends = flow.zeros<int>(THREADS);
    float *total = flow.zeros<float>(1);

    flow.time(2, [&] {
        walk<<<BLOCKS, 256, 0, flow.stream[0]>>>(dnext, ends, PLACES, STEPS);
        sum<<<264, 256, 0, flow.stream[1]>>>((const float4 *) dvalues, total, PLACES / 4);
    });
    flow.expect_some(flow.download(ends, THREADS), THREADS, 3001,
                     [&](size_t i) { return walked(next, (int) i % PLACES, STEPS); });
    flow.expect(flow.download(total, 1)[0], sum_of(values), 1e-4);
}

// ---- Copies and fills next to a kernel ----

// Walks along links in 4 MB: one block of 256 threads per SM.
struct Walks {
    enum { PLACES = 1 << 20, BLOCKS = 132, THREADS = BLOCKS * 256 };
    const int steps;
    std::vector<int> next;
    int *dnext, *ends;

    Walks(Flow &flow, int steps) : steps(steps), next(links(PLACES, 49))
    {
        dnext = flow.upload(next);
        ends = flow.zeros<int>(THREADS);
    }

    void issue(cudaStream_t stream) const
    {
        walk<<<BLOCKS, 256, 0, stream>>>(dnext, ends, PLACES, steps);
    }

    void check(Flow &flow) const
    {
        flow.expect_some(flow.download(ends, THREADS), THREADS, 509,
                         [&](size_t i) { return walked(next, (int) i, steps); });
    }
};

static void copies_with_walk(Flow &flow)
{
    enum { COUNT = 2 << 20, BYTES = COUNT * 4 };
    const auto up = floats(COUNT, 50), down = floats(COUNT, 51);
    const float *from = flow.pinned(up);
    float *to = flow.pinned<float>(COUNT), *above = flow.zeros<float>(COUNT);
    const float *below = flow.upload(down);
    const Walks walks(flow, 250);

    flow.time(3, [&] {
        CHECK(cudaMemcpyAsync(above, from, BYTES, cudaMemcpyHostToDevice, flow.stream[1]));
        CHECK(cudaMemcpyAsync(to, below, BYTES, cudaMemcpyDeviceToHost, flow.stream[2]));
        walks.issue(flow.stream[0]);
    });
    walks.check(flow);
    flow.expect_some(flow.download(above, COUNT), COUNT, 997, [&](size_t i) { return up[i]; });
    flow.expect_some(to, COUNT, 997, [&](size_t i) { return down[i]; });
}

static void device_copy_with_walk(Flow &flow)
{
    enum { COUNT = 6 << 20, COPIES = 3 };
    const auto values = floats(COUNT, 52);
    const float *from = flow.upload(values);
    float *to = flow.zeros<float>(COUNT);
    const Walks walks(flow, 120);

    flow.time(2, [&] {
        walks.issue(flow.stream[0]);
        for (int i = 0; i < COPIES; i++)
            CHECK(cudaMemcpyAsync(to, from, COUNT * sizeof(float), cudaMemcpyDeviceToDevice,
                                  flow.stream[1]));
    });
    walks.check(flow);
    flow.expect_some(flow.download(to, COUNT), COUNT, 997, [&](size_t i) { return values[i]; });
}

static void fills_with_jacobi(Flow &flow)
{
    enum { SIDE = 384, STEPS = 20, BUFFERS = 6, COUNT = 2 << 20 };
    const auto start = floats(SIDE * SIDE, 53);
    float *planes[2] = { flow.upload(start), flow.zeros<float>(SIDE * SIDE) }, *buffers[BUFFERS];

    for (float *&buffer : buffers)
        buffer = flow.upload(std::vector<float>(COUNT, 1.f));
    flow.time(2, [&] {
        for (int s = 0; s < STEPS; s++)
            jacobi<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8), 0, flow.stream[0]>>>(
                planes[s % 2], planes[1 - s % 2], SIDE, SIDE);
        for (float *buffer : buffers)
            CHECK(cudaMemsetAsync(buffer, 0, COUNT * sizeof(float), flow.stream[1]));
    });
    const auto wanted = jacobi_on_host(start, SIDE, SIDE, STEPS);
    flow.expect_some(
        flow.download(planes[0], SIDE * SIDE), SIDE * SIDE, 61, [&](size_t i) { return wanted[i]; },
        1e-5);
    for (const float *buffer : buffers)
        flow.expect_some(flow.download(buffer, COUNT), COUNT, 9973, [](size_t) { return 0; });
}

#endif
