// bridges.cuh - bridges: beams on springs, cycles of stress, trucks on lines of influence,
// skylines.
#ifndef BLIND_BRIDGES_CUH
#define BLIND_BRIDGES_CUH

#include "blind.cuh"

// ---- How beams on springs settle, until no node moves: a test in each round, or in each eighth
// ----

enum { BRIDGE_BEAMS = 640, BRIDGE_MOST_NODES = 1024, BRIDGE_MOST_ROUNDS = 600 };

// x: the first node, y: how many. The spring's stiffness is in `yields`: 1 / (2 + stiffness).
struct BridgeBeams {
    const int2 *spans;
    const float *yields, *loads;
};

// No product is added to, thus the host's rounding is the same.
__host__ __device__ inline float bridge_node(const float *from, int k, float load, float yields)
{
    return (from[k - 1] + from[k + 1] + load) * yields;
}

__host__ __device__ inline bool bridge_moved(float from, float to)
{
    return fabsf(from - to) > 1e-3f;
}

// Node k is at k + 1, between two fixed ends.
template <int EACH> __global__ void bridge_settle_kernel(BridgeBeams beams, float *out, int *rounds)
{
    __shared__ float nodes[2][BRIDGE_MOST_NODES + 2];
    const int2 span = beams.spans[blockIdx.x];
    const float yields = beams.yields[blockIdx.x];
    for (int k = threadIdx.x; k < span.y + 2; k += blockDim.x)
        nodes[0][k] = nodes[1][k] = 0;
    int round = 0, moved = 1;
    __syncthreads();
    while (moved && round < BRIDGE_MOST_ROUNDS) {
        const float *from = nodes[round % 2];
        float *to = nodes[++round % 2];
        moved = 0;
        for (int k = threadIdx.x + 1; k <= span.y; k += blockDim.x) {
            to[k] = bridge_node(from, k, beams.loads[span.x + k - 1], yields);
            moved |= bridge_moved(from[k], to[k]);
        }
        if (round % EACH == 0) {
            moved = __syncthreads_or(moved);
        } else {
            moved = 1;
            __syncthreads();
        }
    }
    for (int k = threadIdx.x; k < span.y; k += blockDim.x)
        out[span.x + k] = nodes[round % 2][k + 1];
    if (!threadIdx.x)
        rounds[blockIdx.x] = round;
}

static int bridge_settle_host(const float *loads, int count, float yields, int each, float *out)
{
    std::vector<float> nodes[2];
    nodes[0].resize(count + 2);
    nodes[1].resize(count + 2);
    int round = 0;
    for (bool moved = true; moved && round < BRIDGE_MOST_ROUNDS;) {
        const std::vector<float> &from = nodes[round % 2];
        std::vector<float> &to = nodes[++round % 2];
        moved = round % each != 0;
        for (int k = 1; k <= count; k++) {
            to[k] = bridge_node(from.data(), k, loads[k - 1], yields);
            moved |= bridge_moved(from[k], to[k]);
        }
    }
    std::copy_n(nodes[round % 2].begin() + 1, count, out);
    return round;
}

static void bridge_settle(Run &run, int each)
{
    const std::vector<uint32_t> v = words(BRIDGE_BEAMS, 20030);
    std::vector<int2> spans;
    int nodes = 0;
    for (int i = 0; i < BRIDGE_BEAMS; i++) {
        spans.push_back({ nodes, (int) (v[i] % 17 ? 30 + v[i] / 64 % 170 : BRIDGE_MOST_NODES) });
        nodes += spans[i].y;
    }
    const std::vector<float> loads = floats(nodes, 20031, 0, 2);
    std::vector<float> yields = floats(BRIDGE_BEAMS, 20032, 0.05f, 0.9f), wanted(nodes);
    std::vector<int> rounds(BRIDGE_BEAMS);
    for (int i = 0; i < BRIDGE_BEAMS; i++) {
        yields[i] = 1 / (2 + yields[i] * yields[i]);
        rounds[i] = bridge_settle_host(&loads[spans[i].x], spans[i].y, yields[i], each,
                                       &wanted[spans[i].x]);
    }
    const BridgeBeams beams = { run.upload(spans), run.upload(yields), run.upload(loads) };
    float *to = run.zeros<float>(nodes);
    int *done = run.zeros<int>(BRIDGE_BEAMS);
    run.measure([=] {
        const auto kernel = each == 1 ? bridge_settle_kernel<1> : bridge_settle_kernel<8>;
        kernel<<<BRIDGE_BEAMS, 128>>>(beams, to, done);
    });
    run.expect_all(
        run.output(to, nodes), [&](size_t i) { return wanted[i]; }, 1e-5);
    run.expect_all(
        run.output(done, BRIDGE_BEAMS), [&](size_t i) { return rounds[i]; }, 0);
}

static void bridge_settle_each(Run &run)
{
    bridge_settle(run, 1);
}

static void bridge_settle_eighth(Run &run)
{
    bridge_settle(run, 8);
}

// ---- Cycles of stress in histories of very different length, as counted by rain flow: stacks in
// local memory, or in shared memory ----

enum { BRIDGE_GAUGES = 8000, BRIDGE_STACK = 40, BRIDGE_FLOW_BLOCK = 64 };

__host__ __device__ inline int bridge_range(int a, int b)
{
    return a > b ? a - b : b - a;
}

// x: how many cycles, y: their damage. An entry of the stack is `stride` from the next one. A full
// stack begins again, as if the record had been cut there.
__host__ __device__ inline int2 bridge_flow(const short *turns, int count, short *stack, int stride)
{
    int depth = 0;
    int2 sum = { 0, 0 };
    for (int k = 0; k < count; k++) {
        if (depth == BRIDGE_STACK)
            depth = 0;
        stack[depth++ * stride] = turns[k];
        while (depth >= 3) {
            const int last = stack[(depth - 1) * stride], middle = stack[(depth - 2) * stride];
            const int range = bridge_range(middle, stack[(depth - 3) * stride]);
            if (bridge_range(last, middle) < range)
                break;
            sum.x++;
            sum.y += (range >> 5) * (range >> 5) * (range >> 5) >> 8;
            depth -= 2;
            stack[(depth - 1) * stride] = (short) last;
        }
    }
    return sum;
}

__global__ void bridge_flow_local_kernel(const short *turns, const int *first, int2 *out)
{
    short stack[BRIDGE_STACK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BRIDGE_GAUGES)
        out[i] = bridge_flow(turns + first[i], first[i + 1] - first[i], stack, 1);
}

__global__ void bridge_flow_shared_kernel(const short *turns, const int *first, int2 *out)
{
    __shared__ short stacks[BRIDGE_STACK * BRIDGE_FLOW_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BRIDGE_GAUGES)
        out[i] = bridge_flow(turns + first[i], first[i + 1] - first[i], stacks + threadIdx.x,
                             BRIDGE_FLOW_BLOCK);
}

static void bridge_gauges(Run &run, void (*kernel)(const short *, const int *, int2 *))
{
    const std::vector<uint32_t> v = words(BRIDGE_GAUGES, 20033);
    std::vector<int> first(1, 0);
    for (int i = 0; i < BRIDGE_GAUGES; i++)
        first.push_back(first[i] + 20 + (int) (v[i] % (v[i] / 8192 % 47 ? 140 : 900)));
    const std::vector<int> stress = integers(first.back(), 2000, 20034);
    std::vector<short> turns(first.back());
    for (int k = 0; k < first.back(); k++) // up and down in turn
        turns[k] = (short) (k % 2 ? stress[k] : -stress[k]);
    const short *from = run.upload(turns);
    const int *df = run.upload(first);
    int2 *to = run.zeros<int2>(BRIDGE_GAUGES);
    const int blocks = blocks_for(BRIDGE_GAUGES, BRIDGE_FLOW_BLOCK);
    run.measure([=] { kernel<<<blocks, BRIDGE_FLOW_BLOCK>>>(from, df, to); });
    const std::vector<int2> got = run.output(to, BRIDGE_GAUGES);
    for (int i = 0; i < BRIDGE_GAUGES; i++) {
        short stack[BRIDGE_STACK];
        const int2 wanted = bridge_flow(&turns[first[i]], first[i + 1] - first[i], stack, 1);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void bridge_flow_local(Run &run)
{
    bridge_gauges(run, bridge_flow_local_kernel);
}

static void bridge_flow_shared(Run &run)
{
    bridge_gauges(run, bridge_flow_shared_kernel);
}

// ---- The most that trucks bend a bridge as they cross it: lines of influence in place, or in
// shared memory ----

enum { BRIDGE_TRUCKS = 96, BRIDGE_AXLES = 6, BRIDGE_INFLUENCES = 32, BRIDGE_PLACES = 2048 };

// x: the distance from the first axle, y: the load.
__host__ __device__ inline int bridge_bend(const int *influence, const int2 *axles, int place)
{
    int sum = 0;
    for (int k = 0; k < BRIDGE_AXLES; k++) {
        const int at = place - axles[k].x;
        if (at >= 0)
            sum += axles[k].y * influence[at];
    }
    return sum;
}

template <bool SHARED>
__global__ void bridge_trucks_kernel(const int *influences, const int2 *axles, int *out)
{
    __shared__ int copy[SHARED ? BRIDGE_PLACES : 1], most;
    const int *influence = influences + blockIdx.y * BRIDGE_PLACES;
    if (!threadIdx.x)
        most = 0;
    if (SHARED) {
        for (int k = threadIdx.x; k < BRIDGE_PLACES; k += blockDim.x)
            copy[k] = influence[k];
        influence = copy;
    }
    __syncthreads();
    int bend = 0;
    for (int place = threadIdx.x; place < BRIDGE_PLACES; place += blockDim.x)
        bend = max(bend, bridge_bend(influence, axles + blockIdx.x * BRIDGE_AXLES, place));
    bend = __reduce_max_sync(~0u, bend);
    if (threadIdx.x % 32 == 0)
        atomicMax(&most, bend);
    __syncthreads();
    if (!threadIdx.x)
        out[blockIdx.y * gridDim.x + blockIdx.x] = most;
}

static void bridge_trucks(Run &run, void (*kernel)(const int *, const int2 *, int *))
{
    const std::vector<int> v = integers(2 * BRIDGE_TRUCKS * BRIDGE_AXLES, 1000, 20035);
    std::vector<int> influences = integers(BRIDGE_INFLUENCES * BRIDGE_PLACES, 64, 20036);
    for (size_t i = 0; i < influences.size(); i++) // a hill with some noise
        influences[i] +=
            (int) (i % BRIDGE_PLACES) * (int) (BRIDGE_PLACES - i % BRIDGE_PLACES) >> 12;
    std::vector<int2> axles(BRIDGE_TRUCKS * BRIDGE_AXLES);
    for (size_t i = 0; i < axles.size(); i++)
        axles[i] = { (int) (i % BRIDGE_AXLES) * 40 + v[2 * i] % 40, 20 + v[2 * i + 1] / 10 };
    const int *di = run.upload(influences);
    const int2 *da = run.upload(axles);
    int *to = run.zeros<int>(BRIDGE_TRUCKS * BRIDGE_INFLUENCES);
    run.measure([=] { kernel<<<dim3(BRIDGE_TRUCKS, BRIDGE_INFLUENCES), 256>>>(di, da, to); });
    run.expect_all(
        run.output(to, BRIDGE_TRUCKS * BRIDGE_INFLUENCES),
        [&](size_t i) {
            const int *influence = &influences[i / BRIDGE_TRUCKS * BRIDGE_PLACES];
            int most = 0;
            for (int place = 0; place < BRIDGE_PLACES; place++)
                most = std::max(
                    most, bridge_bend(influence, &axles[i % BRIDGE_TRUCKS * BRIDGE_AXLES], place));
            return most;
        },
        0, 5);
}

static void bridge_trucks_global(Run &run)
{
    bridge_trucks(run, bridge_trucks_kernel<false>);
}

static void bridge_trucks_shared(Run &run)
{
    bridge_trucks(run, bridge_trucks_kernel<true>);
}

// ---- A stiffness matrix in skyline form times a vector: a warp per row, or warps that draw
// tickets for the next four rows ----

enum { BRIDGE_ROWS = 48000, BRIDGE_TICKET = 4 };

// A row's values end on the diagonal; `first` has the index of each row's first value.
struct BridgeSkyline {
    const int *first;
    const float *values, *vector;
};

__device__ inline void bridge_row(BridgeSkyline s, int row, float *out)
{
    const int lane = threadIdx.x % 32, begin = s.first[row], end = s.first[row + 1];
    const float *vector = s.vector + row + 1 - end;
    float sum = 0;
    for (int k = begin + lane; k < end; k += 32)
        sum += s.values[k] * vector[k];
    for (int by = 16; by; by /= 2)
        sum += __shfl_xor_sync(~0u, sum, by);
    if (!lane)
        out[row] = sum;
}

__global__ void bridge_skyline_rows_kernel(BridgeSkyline s, float *out, int *)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row < BRIDGE_ROWS)
        bridge_row(s, row, out);
}

__global__ void bridge_skyline_tickets_kernel(BridgeSkyline s, float *out, int *next)
{
    for (;;) {
        int row = 0;
        if (threadIdx.x % 32 == 0)
            row = atomicAdd(next, BRIDGE_TICKET);
        row = __shfl_sync(~0u, row, 0);
        if (row >= BRIDGE_ROWS)
            return;
        for (int k = 0; k < BRIDGE_TICKET; k++)
            bridge_row(s, row + k, out);
    }
}

// Most rows reach their near neighbours, and those at joints many more.
static std::vector<int> bridge_skyline_first()
{
    const std::vector<uint32_t> v = words(BRIDGE_ROWS, 20037);
    std::vector<int> first(1, 0);
    for (int row = 0; row < BRIDGE_ROWS; row++) {
        const int wide = 4 + (int) (v[row] % (v[row] / 8192 % 211 ? 60 : 6000));
        first.push_back(first[row] + std::min(row + 1, wide));
    }
    return first;
}

static void bridge_skyline(Run &run, bool tickets)
{
    const std::vector<int> first = bridge_skyline_first();
    const std::vector<float> values = floats(first.back(), 20038);
    const std::vector<float> vector = floats(BRIDGE_ROWS, 20039);
    const BridgeSkyline s = { run.upload(first), run.upload(values), run.upload(vector) };
    float *to = run.zeros<float>(BRIDGE_ROWS);
    int *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                bridge_skyline_tickets_kernel<<<132, 512>>>(s, to, next);
            else
                bridge_skyline_rows_kernel<<<BRIDGE_ROWS / 8, 256>>>(s, to, next);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, BRIDGE_ROWS),
        [&](size_t row) {
            double sum = 0;
            for (int k = first[row]; k < first[row + 1]; k++)
                sum += (double) values[k] * vector[row + 1 + k - first[row + 1]];
            return sum;
        },
        1e-3);
}

static void bridge_skyline_rows(Run &run)
{
    bridge_skyline(run, false);
}

static void bridge_skyline_tickets(Run &run)
{
    bridge_skyline(run, true);
}

#endif
