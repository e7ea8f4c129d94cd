// circuits.cuh - electric and logic circuits: netlists by levels, diodes, faults, arrival times.
#ifndef BLIND_CIRCUITS_CUH
#define BLIND_CIRCUITS_CUH

#include "blind.cuh"

// ---- Gates of a netlist for 32 patterns: a launch per level, or one block for all levels ----

enum { NET_LEVELS = 256, NET_WIDTH = 2048 };

struct NetGate {
    int a, b, kind;
};

__host__ __device__ inline uint32_t net_value(int kind, uint32_t a, uint32_t b)
{
    switch (kind) {
    case 0:
        return a & b;
    case 1:
        return a | b;
    case 2:
        return a ^ b;
    default:
        return ~(a & b);
    }
}

__global__ void net_level_kernel(const NetGate *gates, uint32_t *values, int level)
{
    const int g = level * NET_WIDTH + blockIdx.x * blockDim.x + threadIdx.x;
    const NetGate gate = gates[g];
    values[g] = net_value(gate.kind, values[gate.a], values[gate.b]);
}

__global__ void net_block_kernel(const NetGate *gates, uint32_t *values)
{
    for (int level = 1; level < NET_LEVELS; level++) {
        for (int k = threadIdx.x; k < NET_WIDTH; k += blockDim.x) {
            const NetGate gate = gates[level * NET_WIDTH + k];
            values[level * NET_WIDTH + k] = net_value(gate.kind, values[gate.a], values[gate.b]);
        }
        __syncthreads();
    }
}

// Inputs of a gate lie in one of the three levels below.
static std::vector<NetGate> net_gates()
{
    const std::vector<uint32_t> r = words((size_t) 2 * NET_LEVELS * NET_WIDTH, 12020);
    std::vector<NetGate> gates(NET_LEVELS * NET_WIDTH);
    for (int g = NET_WIDTH; g < NET_LEVELS * NET_WIDTH; g++) {
        const int level = g / NET_WIDTH;
        const int from = std::max(0, level - 3) * NET_WIDTH, count = level * NET_WIDTH - from;
        gates[g].a = from + (int) (r[2 * g] % count);
        gates[g].b = from + (int) (r[2 * g + 1] % count);
        gates[g].kind = r[2 * g] >> 30;
    }
    return gates;
}

static void net(Run &run, bool block)
{
    const std::vector<NetGate> gates = net_gates();
    std::vector<uint32_t> values = words(NET_LEVELS * NET_WIDTH, 12021);
    const NetGate *dg = run.upload(gates);
    uint32_t *to = run.upload(values);
    for (int g = NET_WIDTH; g < NET_LEVELS * NET_WIDTH; g++)
        values[g] = net_value(gates[g].kind, values[gates[g].a], values[gates[g].b]);
    run.measure([=] {
        if (block)
            net_block_kernel<<<1, 1024>>>(dg, to);
        else
            for (int level = 1; level < NET_LEVELS; level++)
                net_level_kernel<<<NET_WIDTH / 128, 128>>>(dg, to, level);
    });
    run.expect_all(
        run.output(to, values.size()), [&](size_t i) { return values[i]; }, 0, 37);
}

static void netlist_launches(Run &run)
{
    net(run, false);
}

static void netlist_block(Run &run)
{
    net(run, true);
}

// ---- Diode, resistor and capacitor over time, implicit steps by Newton: float or double ----

enum { DIODES = 4096, DIODE_STEPS = 160 };

// A source drives the capacitor through the resistor; the diode lies across the capacitor.
template <class Real> __host__ __device__ inline Real diode_run(Real resistance, Real drive)
{
    const Real leak = (Real) 1e-3, heat = (Real) 0.1, dt = (Real) 0.05;
    Real v = 0;
    for (int step = 0; step < DIODE_STEPS; step++) {
        const Real before = v, source = drive * (step % 16 < 8 ? 1 : -1);
        for (int k = 0; k < 3; k++) {
            const Real e = exp(v / heat);
            const Real current = (source - v) / resistance - leak * (e - 1);
            const Real slope = -1 / resistance - leak / heat * e;
            v -= (v - before - dt * current) / (1 - dt * slope);
        }
    }
    return v;
}

template <class Real>
__global__ void diodes_kernel(const float *resistances, const float *drives, Real *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = diode_run<Real>(resistances[i], drives[i]);
}

template <class Real> static void diodes(Run &run)
{
    const std::vector<float> r = floats(DIODES, 12022, 0.5f, 4), d = floats(DIODES, 12023, 0.1f, 1);
    const float *dr = run.upload(r), *dd = run.upload(d);
    Real *to = run.zeros<Real>(DIODES);
    run.measure([=] { diodes_kernel<Real><<<DIODES / 64, 64>>>(dr, dd, to); });
    run.expect_all(
        run.output(to, DIODES), [&](size_t i) { return diode_run<double>(r[i], d[i]); },
        sizeof(Real) == 4 ? 1e-4 : 1e-9, 17);
}

static void diodes_float(Run &run)
{
    diodes<float>(run);
}

static void diodes_double(Run &run)
{
    diodes<double>(run);
}

// ---- Stuck gates, a thread per fault: values of 160 gates in local or in shared memory ----

enum { FAULTS = 4096, FAULT_GATES = 160, FAULT_INPUTS = 16, FAULT_ROUNDS = 8 };

// Bits 0 to 7 and 8 to 15: the inputs of a gate; from bit 16 its kind.
__constant__ uint32_t fault_gates[FAULT_GATES];

// The last 8 gates are outputs. Value k is at k * pitch.
template <class Gates>
__host__ __device__ inline uint32_t fault_outputs(const Gates &gates, uint32_t *values, int pitch,
                                                  int stuck, int round)
{
    for (int k = 0; k < FAULT_INPUTS; k++)
        values[k * pitch] = (uint32_t) (k + 1 + round * 77) * 2654435769u;
    for (int g = FAULT_INPUTS; g < FAULT_GATES; g++) {
        const uint32_t gate = gates[g];
        const uint32_t a = values[(gate & 255) * pitch], b = values[(gate >> 8 & 255) * pitch];
        const uint32_t value = net_value(gate >> 16, a, b);
        values[g * pitch] = g == stuck % FAULT_GATES ? (stuck & 1 ? ~0u : 0) : value;
    }
    uint32_t mixed = 0;
    for (int g = FAULT_GATES - 8; g < FAULT_GATES; g++)
        mixed = (mixed << 5 | mixed >> 27) ^ values[g * pitch];
    return mixed;
}

__global__ void faults_local_kernel(const int *faults, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t values[FAULT_GATES], sum = 0;
    for (int round = 0; round < FAULT_ROUNDS; round++)
        sum += fault_outputs(fault_gates, values, 1, faults[i], round);
    out[i] = sum;
}

__global__ void faults_shared_kernel(const int *faults, uint32_t *out)
{
    __shared__ uint32_t values[FAULT_GATES * 64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    uint32_t sum = 0;
    for (int round = 0; round < FAULT_ROUNDS; round++)
        sum += fault_outputs(fault_gates, values + threadIdx.x, 64, faults[i], round);
    out[i] = sum;
}

static void faults(Run &run, void (*kernel)(const int *, uint32_t *))
{
    const std::vector<uint32_t> r = words(2 * FAULT_GATES, 12024);
    std::vector<uint32_t> gates(FAULT_GATES);
    for (int g = FAULT_INPUTS; g < FAULT_GATES; g++)
        gates[g] = r[2 * g] % g | (r[2 * g + 1] % g) << 8 | (r[2 * g] >> 30) << 16;
    const std::vector<int> stuck = integers(FAULTS, 100000, 12025);
    CHECK(cudaMemcpyToSymbol(fault_gates, gates.data(), FAULT_GATES * sizeof(uint32_t)));
    const int *from = run.upload(stuck);
    uint32_t *to = run.zeros<uint32_t>(FAULTS);
    run.measure([=] { kernel<<<FAULTS / 64, 64>>>(from, to); });
    run.expect_all(
        run.output(to, FAULTS),
        [&](size_t i) {
            const uint32_t *list = gates.data();
            uint32_t values[FAULT_GATES], sum = 0;
            for (int round = 0; round < FAULT_ROUNDS; round++)
                sum += fault_outputs(list, values, 1, stuck[i], round);
            return sum;
        },
        0, 13);
}

static void faults_local(Run &run)
{
    faults(run, faults_local_kernel);
}

static void faults_shared(Run &run)
{
    faults(run, faults_shared_kernel);
}

// ---- Arrival times of signals, one round: a node pulls its maximum, or each wire pushes ----

enum { ARRIVAL_NODES = 1 << 20, ARRIVAL_WIRES = 4 * ARRIVAL_NODES };

__global__ void arrivals_pull_kernel(const int *begins, const int *sources, const int *delays,
                                     const int *before, int *after)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int latest = before[i];
    for (int e = begins[i]; e < begins[i + 1]; e++)
        latest = max(latest, before[sources[e]] + delays[e]);
    after[i] = latest;
}

__global__ void arrivals_push_kernel(const int *sources, const int *targets, const int *delays,
                                     const int *before, int *after)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(&after[targets[e]], before[sources[e]] + delays[e]);
}

struct Arrivals {
    std::vector<int> begins, sources, targets, delays, before, after;

    // A node has 1 to 7 wires, four on average.
    Arrivals() : begins(ARRIVAL_NODES + 1), targets(ARRIVAL_WIRES)
    {
        for (int i = 0; i < ARRIVAL_NODES; i++)
            begins[i + 1] = begins[i] + (i % 2 ? 8 - (begins[i] - begins[i - 1])
                                               : 1 + (int) (mix(i + 12026) % 7));
        sources = integers(ARRIVAL_WIRES, ARRIVAL_NODES, 12027);
        delays = integers(ARRIVAL_WIRES, 100, 12028);
        before = integers(ARRIVAL_NODES, 1000, 12029);
        after = before;
        for (int i = 0; i < ARRIVAL_NODES; i++)
            for (int e = begins[i]; e < begins[i + 1]; e++) {
                targets[e] = i;
                after[i] = std::max(after[i], before[sources[e]] + delays[e]);
            }
    }
};

static void arrivals_pull(Run &run)
{
    const Arrivals a;
    const int *db = run.upload(a.begins), *ds = run.upload(a.sources), *dd = run.upload(a.delays);
    const int *from = run.upload(a.before);
    int *to = run.zeros<int>(ARRIVAL_NODES);
    run.measure([=] { arrivals_pull_kernel<<<ARRIVAL_NODES / 256, 256>>>(db, ds, dd, from, to); });
    run.expect_all(
        run.output(to, ARRIVAL_NODES), [&](size_t i) { return a.after[i]; }, 0, 61);
}

static void arrivals_push(Run &run)
{
    const Arrivals a;
    const int *ds = run.upload(a.sources), *dt = run.upload(a.targets), *dd = run.upload(a.delays);
    const int *from = run.upload(a.before);
    int *to = run.zeros<int>(ARRIVAL_NODES);
    run.measure(
        [=] { arrivals_push_kernel<<<ARRIVAL_WIRES / 256, 256>>>(ds, dt, dd, from, to); },
        [=] {
            CHECK(cudaMemcpy(to, from, ARRIVAL_NODES * sizeof(int), cudaMemcpyDeviceToDevice));
        });
    run.expect_all(
        run.output(to, ARRIVAL_NODES), [&](size_t i) { return a.after[i]; }, 0, 61);
}

#endif
