// mains.cuh - electric networks: power into buses, radial feeders, lines that fail, meters.
#ifndef BLIND_MAINS_CUH
#define BLIND_MAINS_CUH

#include "blind.cuh"

// ---- Power that enters each bus, in doubles: angles per entry, or complex voltages first ----

enum { MAINS_BUSES = 160000 };

// Rows of the admittance matrix; a voltage has a magnitude and an angle.
struct MainsGrid {
    const int *starts, *buses;
    const double2 *entries, *voltages;
};

__global__ void mains_polar_kernel(MainsGrid g, double2 *powers)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= MAINS_BUSES)
        return;
    const double2 mine = g.voltages[i];
    double p = 0, q = 0;
    for (int k = g.starts[i]; k < g.starts[i + 1]; k++) {
        const double2 v = g.voltages[g.buses[k]], y = g.entries[k];
        double s, c;
        sincos(mine.y - v.y, &s, &c);
        p += v.x * (y.x * c + y.y * s);
        q += v.x * (y.x * s - y.y * c);
    }
    powers[i] = make_double2(mine.x * p, mine.x * q);
}

__global__ void mains_complex_kernel(const double2 *voltages, double2 *complexes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= MAINS_BUSES)
        return;
    double s, c;
    sincos(voltages[i].y, &s, &c);
    complexes[i] = make_double2(voltages[i].x * c, voltages[i].x * s);
}

__host__ __device__ inline double2 mains_power(const MainsGrid &g, int i)
{
    double2 current = { 0, 0 };
    for (int k = g.starts[i]; k < g.starts[i + 1]; k++) {
        const double2 v = g.voltages[g.buses[k]], y = g.entries[k];
        current.x += y.x * v.x - y.y * v.y;
        current.y += y.x * v.y + y.y * v.x;
    }
    const double2 v = g.voltages[i];
    return { v.x * current.x + v.y * current.y, v.y * current.x - v.x * current.y };
}

// Here the grid's voltages are complex numbers.
__global__ void mains_power_kernel(MainsGrid g, double2 *powers)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < MAINS_BUSES)
        powers[i] = mains_power(g, i);
}

struct MainsHost {
    std::vector<int> starts, buses;
    std::vector<double2> entries, voltages, complexes;
};

// Each bus is linked to 2 to 8 others, most of them near it.
static MainsHost mains_host()
{
    const std::vector<uint32_t> v = words(MAINS_BUSES * 10, 19100);
    MainsHost h;
    h.starts.push_back(0);
    for (int i = 0; i < MAINS_BUSES; i++) {
        const uint32_t *w = &v[(size_t) i * 10];
        const double size = 0.95 + (w[8] % 1000) * 1e-4, angle = (w[9] % 1000) * 6e-4;
        h.voltages.push_back({ size, angle });
        h.complexes.push_back({ size * cos(angle), size * sin(angle) });
        h.buses.push_back(i);
        h.entries.push_back({ 4, -30 });
        for (uint32_t k = 0; k < 2 + w[8] / 1024 % 7; k++) {
            const uint32_t reach = k == 5 ? MAINS_BUSES : 96;
            h.buses.push_back((int) ((i + w[k] % reach) % MAINS_BUSES));
            h.entries.push_back({ -0.1 - w[k] % 7 * 0.1, 4.0 + w[k] % 11 });
        }
        h.starts.push_back((int) h.buses.size());
    }
    return h;
}

static void mains_flow(Run &run, bool polar)
{
    const MainsHost h = mains_host();
    const MainsGrid host = { h.starts.data(), h.buses.data(), h.entries.data(),
                             h.complexes.data() };
    const MainsGrid g = { run.upload(h.starts), run.upload(h.buses), run.upload(h.entries),
                          run.upload(h.voltages) };
    double2 *complexes = run.zeros<double2>(MAINS_BUSES), *to = run.zeros<double2>(MAINS_BUSES);
    const int blocks = blocks_for(MAINS_BUSES, 128);
    run.measure([=] {
        if (polar) {
            mains_polar_kernel<<<blocks, 128>>>(g, to);
        } else {
            mains_complex_kernel<<<blocks, 128>>>(g.voltages, complexes);
            mains_power_kernel<<<blocks, 128>>>({ g.starts, g.buses, g.entries, complexes }, to);
        }
    });
    const std::vector<double2> got = run.output(to, MAINS_BUSES);
    for (int i = 0; i < MAINS_BUSES; i += 13) {
        const double2 wanted = mains_power(host, i);
        run.expect(got[i].x, wanted.x, 1e-10);
        run.expect(got[i].y, wanted.y, 1e-10);
    }
}

static void mains_flow_polar(Run &run)
{
    mains_flow(run, true);
}

static void mains_flow_complex(Run &run)
{
    mains_flow(run, false);
}

// ---- Sweeps over a radial feeder, a thread per scenario: state in local or in shared memory ----

enum { TRUNK_NODES = 36, TRUNK_CASES = 21000, TRUNK_ROUNDS = 5, TRUNK_BLOCK = 64 };

// A node's parent comes before it. Impedances and loads are relative to the feeder's base.
struct TrunkNode {
    int parent;
    float2 impedance, load;
};

__constant__ TrunkNode trunk_nodes[TRUNK_NODES];

// Currents from the leaves to the root, then voltages from the root to the leaves. Node n of `v`
// and `c` is at n * step. The result: the lowest squared voltage, and the root's active current.
__host__ __device__ inline float2 trunk_sweep(const TrunkNode *nodes, float2 *v, float2 *c,
                                              int step, float scale)
{
    float lowest = 1;
    for (int n = 0; n < TRUNK_NODES; n++)
        v[n * step] = { 1, 0 };
    for (int round = 0; round < TRUNK_ROUNDS; round++) {
        for (int n = 0; n < TRUNK_NODES; n++) {
            const float2 u = v[n * step], load = nodes[n].load;
            const float f = scale / (u.x * u.x + u.y * u.y);
            c[n * step] = { (load.x * u.x + load.y * u.y) * f, (load.x * u.y - load.y * u.x) * f };
        }
        for (int n = TRUNK_NODES - 1; n > 0; n--) {
            float2 *parent = &c[nodes[n].parent * step];
            parent->x += c[n * step].x;
            parent->y += c[n * step].y;
        }
        for (int n = 1; n < TRUNK_NODES; n++) {
            const float2 up = v[nodes[n].parent * step], i = c[n * step], z = nodes[n].impedance;
            v[n * step] = { up.x - (z.x * i.x - z.y * i.y), up.y - (z.x * i.y + z.y * i.x) };
        }
    }
    for (int n = 1; n < TRUNK_NODES; n++) {
        const float2 u = v[n * step];
        lowest = fminf(lowest, u.x * u.x + u.y * u.y);
    }
    return { lowest, c[0].x };
}

__global__ void trunk_local_kernel(const float *scales, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 v[TRUNK_NODES], c[TRUNK_NODES];
    if (i < TRUNK_CASES)
        out[i] = trunk_sweep(trunk_nodes, v, c, 1, scales[i]);
}

__global__ void trunk_shared_kernel(const float *scales, float2 *out)
{
    extern __shared__ float2 trunk_state[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x;
    float2 *v = trunk_state + threadIdx.x, *c = v + TRUNK_NODES * step;
    if (i < TRUNK_CASES)
        out[i] = trunk_sweep(trunk_nodes, v, c, step, scales[i]);
}

static std::vector<TrunkNode> trunk()
{
    const std::vector<uint32_t> v = words(TRUNK_NODES, 19101);
    std::vector<TrunkNode> nodes(TRUNK_NODES);
    for (int n = 1; n < TRUNK_NODES; n++) {
        const uint32_t w = v[n];
        nodes[n].parent = n - 1 - (int) (w % 4 == 0 ? w / 4 % std::min(n, 6) : 0);
        nodes[n].impedance = { 0.001f + w % 13 * 1e-4f, 0.002f + w % 17 * 1e-4f };
        nodes[n].load = { 0.2f + w % 19 * 0.01f, w % 11 * 0.01f };
    }
    return nodes;
}

static void mains_feeder(Run &run, bool local)
{
    const std::vector<TrunkNode> nodes = trunk();
    const std::vector<float> scales = floats(TRUNK_CASES, 19102, 0.1f, 1);
    CHECK(cudaMemcpyToSymbol(trunk_nodes, nodes.data(), sizeof(trunk_nodes)));
    const float *from = run.upload(scales);
    float2 *to = run.zeros<float2>(TRUNK_CASES);
    const int blocks = blocks_for(TRUNK_CASES, TRUNK_BLOCK);
    const size_t bytes = 2 * TRUNK_NODES * TRUNK_BLOCK * sizeof(float2);
    run.measure([=] {
        if (local)
            trunk_local_kernel<<<blocks, TRUNK_BLOCK>>>(from, to);
        else
            trunk_shared_kernel<<<blocks, TRUNK_BLOCK, bytes>>>(from, to);
    });
    const std::vector<float2> got = run.output(to, TRUNK_CASES);
    for (int i = 0; i < TRUNK_CASES; i += 7) {
        float2 v[TRUNK_NODES], c[TRUNK_NODES];
        const float2 wanted = trunk_sweep(nodes.data(), v, c, 1, scales[i]);
        run.expect(got[i].x, wanted.x, 2e-5);
        run.expect(got[i].y, wanted.y, 2e-5);
    }
}

static void mains_feeder_local(Run &run)
{
    mains_feeder(run, true);
}

static void mains_feeder_shared(Run &run)
{
    mains_feeder(run, false);
}

// ---- Overloads after each line's failure: threads or lanes along the columns of a matrix ----

enum { OUTAGE_LINES = 2400, OUTAGE_CASES = 2000, OUTAGE_CHUNK = 200 };

// factors[line * OUTAGE_CASES + k]: the share of failed line k's flow that moves to `line`.
struct Outages {
    const float *factors, *flows, *limits;
    int *overloads;
    float *worst;
};

// The load of a line, relative to its limit. fmaf: the host rounds in the same way.
__host__ __device__ inline float outage_load(float factor, float lost, float flow, float limit)
{
    return fabsf(fmaf(factor, lost, flow)) / limit;
}

__global__ void outage_thread_kernel(Outages o)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * OUTAGE_CHUNK;
    if (k >= OUTAGE_CASES)
        return;
    const float lost = o.flows[k];
    float worst = 0;
    int count = 0;
    for (int line = first; line < first + OUTAGE_CHUNK; line++) {
        const float load = outage_load(o.factors[(size_t) line * OUTAGE_CASES + k], lost,
                                       o.flows[line], o.limits[line]);
        count += load > 1;
        worst = fmaxf(worst, load);
    }
    atomicAdd(&o.overloads[k], count);
    atomicMax((int *) &o.worst[k], __float_as_int(worst)); // not negative: ordered like integers
}

__global__ void outage_lanes_kernel(Outages o)
{
    const int k = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (k >= OUTAGE_CASES)
        return;
    const float lost = o.flows[k];
    float worst = 0;
    int count = 0;
    for (int line = lane; line < OUTAGE_LINES; line += 32) {
        const float load = outage_load(o.factors[(size_t) line * OUTAGE_CASES + k], lost,
                                       o.flows[line], o.limits[line]);
        count += __popc(__ballot_sync(~0u, load > 1));
        worst = fmaxf(worst, load);
    }
    for (int d = 16; d; d /= 2)
        worst = fmaxf(worst, __shfl_xor_sync(~0u, worst, d));
    if (lane == 0) {
        o.overloads[k] = count;
        o.worst[k] = worst;
    }
}

static void outage_expect(Run &run, const Outages &host, const Outages &o)
{
    const std::vector<int> counts = run.output(o.overloads, OUTAGE_CASES);
    const std::vector<float> worst = run.output(o.worst, OUTAGE_CASES);
    for (int k = 0; k < OUTAGE_CASES; k += 9) {
        int count = 0;
        float most = 0;
        for (int line = 0; line < OUTAGE_LINES; line++) {
            const float load = outage_load(host.factors[(size_t) line * OUTAGE_CASES + k],
                                           host.flows[k], host.flows[line], host.limits[line]);
            count += load > 1;
            most = std::max(most, load);
        }
        run.expect(counts[k], count, 0);
        run.expect(worst[k], most, 0);
    }
}

static void mains_outage(Run &run, bool lanes)
{
    std::vector<float> factors = floats((size_t) OUTAGE_LINES * OUTAGE_CASES, 19103, -0.6f, 0.6f);
    const std::vector<float> flows = floats(OUTAGE_LINES, 19104, -90, 90);
    const std::vector<float> limits = floats(OUTAGE_LINES, 19105, 70, 160);
    const Outages host = { factors.data(), flows.data(), limits.data(), nullptr, nullptr };
    const Outages o = { run.upload(factors), run.upload(flows), run.upload(limits),
                        run.zeros<int>(OUTAGE_CASES), run.zeros<float>(OUTAGE_CASES) };
    const dim3 grid(blocks_for(OUTAGE_CASES, 128), OUTAGE_LINES / OUTAGE_CHUNK);
    run.measure(
        [=] {
            if (lanes)
                outage_lanes_kernel<<<blocks_for(OUTAGE_CASES * 32, 256), 256>>>(o);
            else
                outage_thread_kernel<<<grid, 128>>>(o);
        },
        [=] {
            CHECK(cudaMemset(o.overloads, 0, OUTAGE_CASES * sizeof(int)));
            CHECK(cudaMemset(o.worst, 0, OUTAGE_CASES * sizeof(float)));
        });
    outage_expect(run, host, o);
}

static void mains_outage_threads(Run &run)
{
    mains_outage(run, false);
}

static void mains_outage_lanes(Run &run)
{
    mains_outage(run, true);
}

// ---- Hourly readings of meters are summed per transformer: atomics, or lists of meters ----

enum { METERS = 110000, METER_HOURS = 24, METER_SUMS = 1700, METER_ROWS = 8 };

__global__ void meter_atomics_kernel(const unsigned short *readings, const int *transformers,
                                     unsigned *sums)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < METERS * METER_HOURS)
        atomicAdd(&sums[transformers[i / METER_HOURS] * METER_HOURS + i % METER_HOURS],
                  (unsigned) readings[i]);
}

// A block per transformer: a thread per hour, and several meters at a time.
__global__ void meter_lists_kernel(const unsigned short *readings, const int *starts,
                                   const int *meters, unsigned *sums)
{
    __shared__ unsigned parts[METER_ROWS][METER_HOURS];
    const int hour = threadIdx.x, row = threadIdx.y;
    unsigned sum = 0;
    for (int k = starts[blockIdx.x] + row; k < starts[blockIdx.x + 1]; k += METER_ROWS)
        sum += readings[meters[k] * METER_HOURS + hour];
    parts[row][hour] = sum;
    __syncthreads();
    if (row > 0)
        return;
    for (int k = 1; k < METER_ROWS; k++)
        sum += parts[k][hour];
    sums[blockIdx.x * METER_HOURS + hour] = sum;
}

// The transformers of towns have more meters.
static std::vector<int> meter_transformers()
{
    const std::vector<uint32_t> v = words(METERS, 19106);
    std::vector<int> at(METERS);
    for (int i = 0; i < METERS; i++)
        at[i] = (int) (v[i] % 3 ? v[i] / 4 % METER_SUMS : v[i] / 4 % (METER_SUMS / 8));
    return at;
}

static void mains_meters(Run &run, bool atomics)
{
    const std::vector<int> v = integers(METERS * METER_HOURS, 9000, 19107);
    const std::vector<unsigned short> readings(v.begin(), v.end());
    const std::vector<int> transformers = meter_transformers();
    std::vector<int> starts(METER_SUMS + 1), meters(METERS);
    std::vector<unsigned> wanted(METER_SUMS * METER_HOURS);
    for (int i = 0; i < METERS; i++) {
        starts[transformers[i] + 1]++;
        for (int hour = 0; hour < METER_HOURS; hour++)
            wanted[transformers[i] * METER_HOURS + hour] += readings[i * METER_HOURS + hour];
    }
    for (int k = 0; k < METER_SUMS; k++)
        starts[k + 1] += starts[k];
    std::vector<int> next(starts);
    for (int i = 0; i < METERS; i++)
        meters[next[transformers[i]]++] = i;
    const unsigned short *from = run.upload(readings);
    const int *dt = run.upload(transformers), *ds = run.upload(starts), *dm = run.upload(meters);
    const int n = METER_SUMS * METER_HOURS;
    unsigned *to = run.zeros<unsigned>(n);
    run.measure(
        [=] {
            if (atomics)
                meter_atomics_kernel<<<blocks_for(METERS * METER_HOURS, 256), 256>>>(from, dt, to);
            else
                meter_lists_kernel<<<METER_SUMS, dim3(METER_HOURS, METER_ROWS)>>>(from, ds, dm, to);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof(unsigned))); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return wanted[i]; }, 0);
}

static void mains_meters_atomics(Run &run)
{
    mains_meters(run, true);
}

static void mains_meters_lists(Run &run)
{
    mains_meters(run, false);
}

#endif
