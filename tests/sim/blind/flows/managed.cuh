// managed.cuh - memory that moves between host and device by page faults, prefetches and advice.
#ifndef MANAGED_CUH
#define MANAGED_CUH

#include "kernels.cuh"

// ---- y += a x: the same vectors, moved in several ways ----

__global__ void saxpy(float4 *y, const float4 *x, float a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 u = x[i], v = y[i];

    y[i] = make_float4(v.x + a * u.x, v.y + a * u.y, v.z + a * u.z, v.w + a * u.w);
}

struct Vectors {
    enum { COUNT = 4 << 20, BYTES = COUNT * 4 };
    Flow &flow;
    float *x, *y;

    Vectors(Flow &flow) : flow(flow)
    {
        x = flow.managed<float>(COUNT);
        y = flow.managed<float>(COUNT);
    }

    void fill()
    {
        for (int i = 0; i < COUNT; i++) {
            x[i] = 0.125f * (i & 255);
            y[i] = 0.25f * (i & 63);
        }
    }

    void launch()
    {
        saxpy<<<COUNT / 4 / 256, 256, 0, flow.stream[0]>>>((float4 *) y, (const float4 *) x, 2);
    }

    // The values are exact in single precision.
    void expect(int launches)
    {
        CHECK(cudaDeviceSynchronize());
        flow.expect_some(y, COUNT, 997, [&](size_t i) {
            return 0.25f * (i & 63) + 2 * launches * 0.125f * (i & 255);
        });
    }
};

static void managed_first(Flow &flow)
{
    Vectors v(flow);

    v.fill();
    flow.time(
        1, [&] { v.launch(); }, NO_GATE);
    v.expect(1);
}

static void managed_later(Flow &flow)
{
    enum { LAUNCHES = 5 };
    Vectors v(flow);

    v.fill();
    v.launch();
    flow.time(1, [&] {
        for (int i = 0; i < LAUNCHES; i++)
            v.launch();
    });
    v.expect(1 + LAUNCHES);
}

static void prefetched(Flow &flow, bool both)
{
    Vectors v(flow);
    const auto work = [&] {
        prefetch(v.x, v.BYTES, true, flow.stream[0]);
        if (both)
            prefetch(v.y, v.BYTES, true, flow.stream[0]);
        v.launch();
    };

    v.fill();
    flow.time(1, work, NO_GATE);
    v.expect(1);
}

static void managed_prefetched(Flow &flow)
{
    prefetched(flow, true);
}

static void managed_one_prefetched(Flow &flow)
{
    prefetched(flow, false);
}

static void managed_on_host(Flow &flow)
{
    Vectors v(flow);

    for (const float *at : { v.x, v.y }) {
        advise(at, v.BYTES, cudaMemAdviseSetPreferredLocation, false);
        advise(at, v.BYTES, cudaMemAdviseSetAccessedBy, true);
    }
    v.fill();
    flow.time(
        1, [&] { v.launch(); }, NO_GATE);
    v.expect(1);
}

// To the device, a launch, the result back to the host, and all that once more.
static void managed_round_trip(Flow &flow)
{
    Vectors v(flow);
    const auto work = [&] {
        for (int i = 0; i < 2; i++) {
            prefetch(v.x, v.BYTES, true, flow.stream[0]);
            prefetch(v.y, v.BYTES, true, flow.stream[0]);
            v.launch();
            prefetch(v.y, v.BYTES, false, flow.stream[0]);
        }
    };

    v.fill();
    flow.time(1, work, NO_GATE);
    v.expect(2);
}

// ---- The host changes a part between two launches ----

enum { ROWS = 4096, ROW = 1024 };

// A warp per row. The values are small integers, so sums are exact.
__global__ void row_sums(const float *rows, float *sums)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float total = 0;

    for (int i = lane; i < ROW; i += 32)
        total += rows[row * ROW + i];
    total = warp_sum(total);
    if (lane == 0)
        sums[row] = total;
}

template <class Change> static void row_sums_after(Flow &flow, Change change)
{
    float *rows = flow.managed<float>(ROWS * ROW), *sums = flow.zeros<float>(ROWS);
    const auto work = [&] { row_sums<<<ROWS / 8, 256, 0, flow.stream[0]>>>(rows, sums); };

    for (int i = 0; i < ROWS * ROW; i++)
        rows[i] = i & 7;
    work();
    CHECK(cudaDeviceSynchronize());
    change(rows);
    flow.time(1, work, NO_GATE);
    const auto row_sum = [&](size_t row) {
        double total = 0;
        for (int i = 0; i < ROW; i++)
            total += rows[row * ROW + i];
        return total;
    };
    flow.expect_some(flow.download(sums, ROWS), ROWS, 1, row_sum);
}

static void managed_rows_changed(Flow &flow)
{
    row_sums_after(flow, [](float *rows) {
        for (int row = 1000; row < 1200; row++)
            for (int i = 0; i < ROW; i++)
                rows[row * ROW + i] = row % 5;
    });
}

// A row is a page.
static void managed_pages_changed(Flow &flow)
{
    row_sums_after(flow, [](float *rows) {
        for (int row = 0; row < ROWS; row += 10)
            rows[row * ROW + row % ROW] = 100;
    });
}

static void managed_word_changed(Flow &flow)
{
    row_sums_after(flow, [](float *rows) { rows[777 * ROW + 7] = 50; });
}

// ---- Memory that only the GPU uses ----

__global__ void ramp(float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = i & 127;

    out[i] = make_float4(x, x + 1, x + 2, x + 3);
}

static void managed_gpu_only(Flow &flow)
{
    enum { COUNT = 12 << 20 };
    float *values = flow.managed<float>(COUNT), *total = flow.zeros<float>(1);
    const auto work = [&] {
        ramp<<<COUNT / 4 / 256, 256, 0, flow.stream[0]>>>((float4 *) values);
        sum<<<264, 256, 0, flow.stream[0]>>>((const float4 *) values, total, COUNT / 4);
    };

    flow.time(1, work, NO_GATE);
    flow.expect(flow.download(total, 1)[0], COUNT * (63.5 + 1.5), 1e-4);
}

// ---- Tables and sparse reads ----

__global__ void look_up(const float *table, const int *places, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] += table[places[i]];
}

// The host reads the table between two launches, which leaves the device's copy valid.
static void managed_read_mostly(Flow &flow)
{
    enum { ENTRIES = 2 << 20, COUNT = 1 << 19 };
    const auto places = integers(COUNT, ENTRIES, 60);
    const int *dplaces = flow.upload(places);
    float *table = flow.managed<float>(ENTRIES), *out = flow.zeros<float>(COUNT);
    const auto work = [&] {
        look_up<<<COUNT / 256, 256, 0, flow.stream[0]>>>(table, dplaces, out);
    };

    for (int i = 0; i < ENTRIES; i++)
        table[i] = 0.5f * (i % 1000);
    advise(table, ENTRIES * sizeof(float), cudaMemAdviseSetReadMostly, true);
    flow.time(1, work, NO_GATE);
    flow.expect_some(table, ENTRIES, 1024, [](size_t i) { return 0.5f * (i % 1000); });
    flow.time(1, work, NO_GATE);
    flow.expect_some(flow.download(out, COUNT), COUNT, 101,
                     [&](size_t i) { return places[i] % 1000; });
}

enum { WORDS = 256 };

// A block per row that is read: out[row] = table[rows[row]].
__global__ void gather_rows(const float *table, const int *rows, float *out)
{
    out[blockIdx.x * WORDS + threadIdx.x] = table[(size_t) rows[blockIdx.x] * WORDS + threadIdx.x];
}

static void managed_sparse(Flow &flow)
{
    enum { TABLE_ROWS = 96 << 10, COUNT = 300 };
    const auto rows = integers(COUNT, TABLE_ROWS, 61);
    const int *drows = flow.upload(rows);
    float *table = flow.managed<float>((size_t) TABLE_ROWS * WORDS);
    float *out = flow.zeros<float>(COUNT * WORDS);

    for (size_t i = 0; i < (size_t) TABLE_ROWS * WORDS; i++)
        table[i] = i >> 4;
    flow.time(
        1, [&] { gather_rows<<<COUNT, WORDS, 0, flow.stream[0]>>>(table, drows, out); }, NO_GATE);
    flow.expect_some(flow.download(out, COUNT * WORDS), COUNT * WORDS, 31,
                     [&](size_t i) { return ((size_t) rows[i / WORDS] * WORDS + i % WORDS) >> 4; });
}

// ---- A stencil: the second plane is first used on the device ----

static void managed_stencil(Flow &flow)
{
    enum { WIDE = 1024, HIGH = 576, STEPS = 5 };
    const auto start = floats(WIDE * HIGH, 62);
    float *planes[2] = { flow.managed<float>(WIDE * HIGH), flow.managed<float>(WIDE * HIGH) };
    const auto work = [&] {
        for (int s = 0; s < STEPS; s++)
            jacobi<<<dim3(WIDE / 32, HIGH / 8), dim3(32, 8), 0, flow.stream[0]>>>(
                planes[s % 2], planes[1 - s % 2], WIDE, HIGH);
    };

    std::copy(start.begin(), start.end(), planes[0]);
    flow.time(1, work, NO_GATE);
    const auto wanted = jacobi_on_host(start, WIDE, HIGH, STEPS);
    flow.expect_some(
        planes[STEPS % 2], WIDE * HIGH, 101, [&](size_t i) { return wanted[i]; }, 1e-5);
}

// ---- A search tree that the host builds ----

struct Node {
    int key, value;
    Node *left, *right;
};

__host__ __device__ inline int find(const Node *at, int key)
{
    while (at && at->key != key)
        at = key < at->key ? at->left : at->right;
    return at ? at->value : -1;
}

__global__ void find_all(const Node *root, const int *keys, int *values)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    values[i] = find(root, keys[i]);
}

static Node *build_tree(Node *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        const int key = mix(i) & 0x7fffffff;
        Node **at = &nodes;
        nodes[i] = { key, i, nullptr, nullptr };
        if (i == 0)
            continue;
        for (Node *n = nodes; n; n = *at)
            at = key < n->key ? &n->left : &n->right;
        *at = &nodes[i];
    }
    return nodes;
}

static void managed_tree(Flow &flow)
{
    enum { NODES = 150000, SEARCHES = 16384 };
    Node *root = build_tree(flow.managed<Node>(NODES), NODES);
    std::vector<int> keys(SEARCHES);
    int *values = flow.zeros<int>(SEARCHES);

    for (int i = 0; i < SEARCHES; i++)
        keys[i] = mix(i * 11) & 0x7fffffff; // a node, or missing
    const int *dkeys = flow.upload(keys);
    const auto work = [&] {
        find_all<<<SEARCHES / 128, 128, 0, flow.stream[0]>>>(root, dkeys, values);
    };
    flow.time(1, work, NO_GATE);
    flow.expect_some(flow.download(values, SEARCHES), SEARCHES, 13,
                     [&](size_t i) { return find(root, keys[i]); });
}

#endif
