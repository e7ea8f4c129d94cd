// paging.cuh - managed memory of programs in which host and device take turns.
#ifndef PAGING_CUH
#define PAGING_CUH

#include "problems.cuh"
#include "structures.cuh"

// ---- The sums of a matrix's rows, read by rows or by columns ----

struct Matrix {
    enum { HIGH = 2048, WIDE = 4096, COUNT = HIGH * WIDE };
    Flow &flow;
    float *values, *sums;

    Matrix(Flow &flow) : flow(flow)
    {
        values = flow.managed<float>(COUNT);
        sums = flow.zeros<float>(HIGH);
        for (int i = 0; i < COUNT; i++)
            values[i] = value(i);
    }

    // Small integers, so that sums are exact.
    static float value(int i)
    {
        return ((i >> 10) * 7 + i) & 15;
    }

    void check()
    {
        const auto row_sum = [](size_t row) {
            double total = 0;
            for (int i = 0; i < WIDE; i++)
                total += value((int) row * WIDE + i);
            return total;
        };
        flow.expect_some(flow.download(sums, HIGH), HIGH, 7, row_sum);
    }
};

__global__ void sum_by_warps(const float4 *values, float *sums)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float total = 0;

    for (int i = lane; i < Matrix::WIDE / 4; i += 32) {
        const float4 v = values[row * (Matrix::WIDE / 4) + i];
        total += v.x + v.y + v.z + v.w;
    }
    total = warp_sum(total);
    if (lane == 0)
        sums[row] = total;
}

// All threads read the same column at a time.
__global__ void sum_by_threads(const float *values, float *sums)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0;

    for (int i = 0; i < Matrix::WIDE; i++)
        total += values[row * Matrix::WIDE + i];
    sums[row] = total;
}

static void matrix_rows(Flow &flow, size_t bytes_prefetched)
{
    Matrix m(flow);
    const auto work = [&] {
        if (bytes_prefetched)
            prefetch(m.values, bytes_prefetched, true, flow.stream[0]);
        sum_by_warps<<<Matrix::HIGH / 8, 256, 0, flow.stream[0]>>>((const float4 *) m.values,
                                                                   m.sums);
    };

    flow.time(1, work, NO_GATE);
    m.check();
}

static void paged_rows(Flow &flow)
{
    matrix_rows(flow, 0);
}

static void paged_part_prefetched(Flow &flow)
{
    matrix_rows(flow, 12 << 20);
}

static void paged_columns(Flow &flow)
{
    Matrix m(flow);
    const auto work = [&] {
        sum_by_threads<<<Matrix::HIGH / 64, 64, 0, flow.stream[0]>>>(m.values, m.sums);
    };

    flow.time(1, work, NO_GATE);
    m.check();
}

// ---- A picture that is sharpened into an array that was never used ----

static void paged_sharpen(Flow &flow)
{
    const auto picture = floats(DOTS, 100, 0, 1);
    float *in = flow.managed<float>(DOTS), *out = flow.managed<float>(DOTS);

    std::copy(picture.begin(), picture.end(), in);
    flow.time(
        1, [&] { sharpen<<<DOTS / 256, 256, 0, flow.stream[0]>>>(in, out); }, NO_GATE);
    flow.expect_some(
        out, DOTS, 211, [&](size_t i) { return sharpened(picture.data(), (int) i); }, 1e-5);
}

// ---- Structures that the host builds ----

// About half of the keys are in the table.
static void paged_hash(Flow &flow)
{
    enum { KEYS = 500000, PROBES = 24 << 10 };
    Slot *table = flow.managed<Slot>(SLOTS);
    std::vector<unsigned> keys;
    unsigned *values = flow.zeros<unsigned>(PROBES);

    fill_table(table, KEYS);
    for (int i = 0; i < PROBES; i++)
        keys.push_back(mix(i * 37) >> 1);
    const unsigned *dkeys = flow.upload(keys);
    const auto work = [&] {
        probe_all<<<PROBES / 128, 128, 0, flow.stream[0]>>>(table, dkeys, values);
    };
    flow.time(1, work, NO_GATE);
    flow.expect_some(flow.download(values, PROBES), PROBES, 13,
                     [&](size_t i) { return table[probe(table, keys[i])].value; });
}

static void paged_lists(Flow &flow)
{
    enum { ITEMS = 160 << 10, LISTS = 40, APART = ITEMS / LISTS, LENGTH = 300 };
    const auto next = links(ITEMS, 101);
    Item *items = flow.managed<Item>(ITEMS);
    int *sums = flow.zeros<int>(LISTS);

    for (int i = 0; i < ITEMS; i++)
        items[i] = { items + next[i], i % 1000 };
    const auto work = [&] {
        walk_lists<<<5, LISTS / 5, 0, flow.stream[0]>>>(items, sums, APART, LENGTH);
    };
    flow.time(1, work, NO_GATE);
    flow.expect_some(flow.download(sums, LISTS), LISTS, 1,
                     [&](size_t i) { return list_sum(items + i * APART, LENGTH); });
}

// The host moves one point before each later launch.
static void paged_mesh(Flow &flow)
{
    enum { POINTS = 5000, TRIANGLES = 9000, LAUNCHES = 4 };
    Mesh *mesh = make_mesh(flow, POINTS, TRIANGLES);
    const auto work = [&] {
        find_areas<<<blocks_for(TRIANGLES, 128), 128, 0, flow.stream[0]>>>(mesh);
    };

    for (int i = 0; i < LAUNCHES; i++) {
        if (i)
            mesh->points[i * 1000].x += 0.5f;
        flow.time(1, work);
    }
    flow.expect_some(
        mesh->areas, TRIANGLES, 7, [&](size_t i) { return area(*mesh, (int) i); }, 1e-5);
}

// ---- Counts that the host reads and clears between launches ----

enum { GRADES = 1000 };

__global__ void count_grades(const int *grades, unsigned *counts, int count)
{
    __shared__ unsigned block_counts[GRADES];

    for (int i = threadIdx.x; i < GRADES; i += blockDim.x)
        block_counts[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&block_counts[grades[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < GRADES; i += blockDim.x)
        atomicAdd(&counts[i], block_counts[i]);
}

static void paged_counts(Flow &flow)
{
    enum { COUNT = 512 << 10, LAUNCHES = 4 };
    const auto grades = integers(COUNT, GRADES, 104);
    const int *dgrades = flow.upload(grades);
    unsigned *counts = flow.managed<unsigned>(GRADES);
    std::vector<unsigned> wanted(GRADES), got(GRADES);
    const auto work = [&] {
        count_grades<<<132, 256, 0, flow.stream[0]>>>(dgrades, counts, COUNT);
    };

    for (int i = 0; i < LAUNCHES; i++) {
        std::fill(counts, counts + GRADES, 0);
        flow.time(1, work);
        for (int g = 0; g < GRADES; g++)
            got[g] += counts[g];
    }
    for (int grade : grades)
        wanted[grade] += LAUNCHES;
    flow.expect_some(got, GRADES, 1, [&](size_t i) { return wanted[i]; });
}

// ---- The device changes all, the host a part, the device all again ----

__host__ __device__ inline float aged(float x)
{
    return 0.5f * x + 1;
}

__global__ void age(float4 *values)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 v = values[i];

    values[i] = make_float4(aged(v.x), aged(v.y), aged(v.z), aged(v.w));
}

// Between two launches the host sets the values i for which changes(i) holds.
template <class Changes> static void aged_after(Flow &flow, int count, Changes changes)
{
    float *values = flow.managed<float>(count);
    const auto work = [&] { age<<<count / 4 / 256, 256, 0, flow.stream[0]>>>((float4 *) values); };

    for (int i = 0; i < count; i++)
        values[i] = i & 255;
    work();
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        if (changes(i))
            values[i] = i & 63;
    flow.time(1, work, NO_GATE);
    flow.expect_some(values, count, 997, [&](size_t i) {
        return aged(changes((int) i) ? (float) (i & 63) : aged((float) (i & 255)));
    });
}

// Every second block of 64 KB.
static void paged_blocks_changed(Flow &flow)
{
    aged_after(flow, 2 << 20, [](int i) { return i >> 14 & 1; });
}

// The fifth in the middle.
static void paged_fifth_changed(Flow &flow)
{
    enum { COUNT = 10 << 20 };
    aged_after(flow, COUNT, [](int i) { return i / (COUNT / 5) == 2; });
}

// ---- Advice: a table that is mostly read ----

// The area under a curve of `count` points.
__global__ void integrate(const float *curve, float *total, int count)
{
    float x = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count - 1; i += gridDim.x * blockDim.x)
        x += 0.5f * (curve[i] + curve[i + 1]);
    x = block_sum(x);
    if (threadIdx.x == 0)
        atomicAdd(total, x);
}

// The host fills the table and reads it between two launches.
static void mostly_read(Flow &flow, bool advised_before)
{
    enum { COUNT = 3 << 19, BYTES = COUNT * 4 };
    float *curve = flow.managed<float>(COUNT), *total = flow.zeros<float>(1);
    double wanted = 0;
    const auto work = [&] { integrate<<<396, 256, 0, flow.stream[0]>>>(curve, total, COUNT); };

    if (advised_before)
        advise(curve, BYTES, cudaMemAdviseSetReadMostly, true);
    for (int i = 0; i < COUNT; i++)
        curve[i] = (i % 1024) * 0.0009765625f;
    if (!advised_before)
        advise(curve, BYTES, cudaMemAdviseSetReadMostly, true);
    flow.time(1, work, NO_GATE);
    for (int i = 0; i + 1 < COUNT; i++)
        wanted += 0.5 * (curve[i] + curve[i + 1]);
    flow.time(1, work);
    flow.expect(flow.download(total, 1)[0], 2 * wanted, 1e-4);
}

static void paged_advised_before(Flow &flow)
{
    mostly_read(flow, true);
}

static void paged_advised_after(Flow &flow)
{
    mostly_read(flow, false);
}

// ---- Pixels up, planes back, by prefetches ----

static void unpack_prefetched(Flow &flow)
{
    enum { COUNT = 768 << 10, BYTES = COUNT * 4 };
    const auto values = words(COUNT, 105);
    uint32_t *pixels = flow.managed<uint32_t>(COUNT);
    float *planes = flow.managed<float>(3 * COUNT);
    const auto work = [&] {
        prefetch(pixels, BYTES, true, flow.stream[0]);
        unpack<<<COUNT / 256, 256, 0, flow.stream[0]>>>(pixels, planes, COUNT);
        prefetch(planes, 3 * BYTES, false, flow.stream[0]);
    };

    std::copy(values.begin(), values.end(), pixels);
    flow.time(1, work, NO_GATE);
    CHECK(cudaDeviceSynchronize());
    expect_planes(flow, values, planes);
}

// ---- Two kernels in a row: the second one uses other arrays ----

__global__ void add_squares(float *to, const float *from)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    to[i] += from[i] * from[i];
}

// Each thread orders two neighbours.
__global__ void order_pairs(int2 *pairs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int2 p = pairs[i];

    pairs[i] = make_int2(min(p.x, p.y), max(p.x, p.y));
}

struct TwoTasks {
    enum { FLOATS = 1 << 20, PAIRS = 384 << 10 };
    const std::vector<int> values = integers(2 * PAIRS, 1 << 20, 106);
    float *to, *from;
    int2 *pairs;

    TwoTasks(Flow &flow)
    {
        to = flow.managed<float>(FLOATS);
        from = flow.managed<float>(FLOATS);
        pairs = flow.managed<int2>(PAIRS);
        for (int i = 0; i < FLOATS; i++) {
            to[i] = i & 15;
            from[i] = i & 127;
        }
        for (int i = 0; i < PAIRS; i++)
            pairs[i] = make_int2(values[2 * i], values[2 * i + 1]);
    }

    void check(Flow &flow) const
    {
        const auto added = [](size_t i) { return (i & 15) + (i & 127) * (i & 127); };
        flow.expect_some(to, FLOATS, 101, added);
        for (int i = 0; i < PAIRS; i += 101)
            flow.expect(pairs[i].y, std::max(values[2 * i], values[2 * i + 1]));
    }
};

static void paged_two_tasks(Flow &flow)
{
    const TwoTasks t(flow);
    const auto work = [&] {
        add_squares<<<t.FLOATS / 256, 256, 0, flow.stream[0]>>>(t.to, t.from);
        order_pairs<<<t.PAIRS / 256, 256, 0, flow.stream[0]>>>(t.pairs);
    };

    flow.time(1, work, NO_GATE);
    t.check(flow);
}

#endif
