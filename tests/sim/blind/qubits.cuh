// qubits.cuh - a quantum computer's state: rotations, controlled gates, observables, measurements.
#ifndef BLIND_QUBITS_CUH
#define BLIND_QUBITS_CUH

#include "blind.cuh"

// A state of n qubits has 2^n complex amplitudes, whose squares sum to 1.
static std::vector<float2> qubit_state(int n, uint32_t seed)
{
    const size_t count = (size_t) 1 << n;
    const std::vector<float> r = floats(2 * count, seed);
    std::vector<float2> state(count);
    double sum = 0;
    for (float v : r)
        sum += v * v;
    const float scale = (float) (1 / sqrt(sum));
    for (size_t i = 0; i < count; i++)
        state[i] = make_float2(r[2 * i] * scale, r[2 * i + 1] * scale);
    return state;
}

// ---- A rotation of each of the lowest 10 qubits: a launch per gate, or all in shared memory ----

enum { GATE_QUBITS = 20, GATE_COUNT = 10, GATE_GROUP = 1 << GATE_COUNT };

struct GateAngles {
    double c[GATE_COUNT], s[GATE_COUNT];
};

__host__ __device__ inline void gate_turn(double2 &a, double2 &b, double c, double s)
{
    const double2 low = a, high = b;
    a = make_double2(c * low.x - s * high.x, c * low.y - s * high.y);
    b = make_double2(s * low.x + c * high.x, s * low.y + c * high.y);
}

__global__ void gate_kernel(double2 *state, int qubit, double c, double s)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x, bit = 1 << qubit;
    const int i = (k & ~(bit - 1)) << 1 | (k & (bit - 1));
    gate_turn(state[i], state[i + bit], c, s);
}

// A block has the amplitudes that differ in these qubits.
__global__ void gates_shared_kernel(double2 *state, GateAngles angles)
{
    __shared__ double2 part[GATE_GROUP];
    const int k = threadIdx.x;
    state += (size_t) blockIdx.x * GATE_GROUP;
    part[k] = state[k];
    part[k + GATE_GROUP / 2] = state[k + GATE_GROUP / 2];
    __syncthreads();
    for (int q = 0; q < GATE_COUNT; q++) {
        const int bit = 1 << q, i = (k & ~(bit - 1)) << 1 | (k & (bit - 1));
        gate_turn(part[i], part[i + bit], angles.c[q], angles.s[q]);
        __syncthreads();
    }
    state[k] = part[k];
    state[k + GATE_GROUP / 2] = part[k + GATE_GROUP / 2];
}

static void gates(Run &run, bool shared)
{
    std::vector<double2> state;
    for (const float2 a : qubit_state(GATE_QUBITS, 13050))
        state.push_back(make_double2(a.x, a.y));
    const double2 *from = run.upload(state);
    double2 *to = run.zeros<double2>(state.size());
    const size_t bytes = state.size() * sizeof(double2);
    GateAngles angles;
    for (int q = 0; q < GATE_COUNT; q++) {
        angles.c[q] = cos(0.3 * q + 0.2);
        angles.s[q] = sin(0.3 * q + 0.2);
    }
    const int pairs = 1 << (GATE_QUBITS - 1);
    run.measure(
        [=] {
            if (shared)
                gates_shared_kernel<<<2 * pairs / GATE_GROUP, GATE_GROUP / 2>>>(to, angles);
            else
                for (int q = 0; q < GATE_COUNT; q++)
                    gate_kernel<<<pairs / 256, 256>>>(to, q, angles.c[q], angles.s[q]);
        },
        [=] { CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)); });
    const std::vector<double2> got = run.output(to, state.size());
    for (size_t group = 0; group < state.size(); group += 97 * GATE_GROUP) {
        std::vector<double2> part(&state[group], &state[group] + GATE_GROUP);
        for (int q = 0; q < GATE_COUNT; q++)
            for (int i = 0; i < GATE_GROUP; i++)
                if (!(i >> q & 1))
                    gate_turn(part[i], part[i + (1 << q)], angles.c[q], angles.s[q]);
        for (int i = 0; i < GATE_GROUP; i++) {
            run.expect(1000 * got[group + i].x, 1000 * part[i].x, 1e-9);
            run.expect(1000 * got[group + i].y, 1000 * part[i].y, 1e-9);
        }
    }
}

static void gates_launches(Run &run)
{
    gates(run, false);
}

static void gates_shared(Run &run)
{
    gates(run, true);
}

// ---- A doubly controlled gate: each amplitude tests its bits, or threads count those concerned
// ----

enum { CONTROL_QUBITS = 23, CONTROL_A = 3, CONTROL_B = 13, CONTROL_TARGET = 20 };

struct ControlGate {
    float2 m00, m01, m10, m11;
};

__host__ __device__ inline float2 control_mix(float2 p, float2 a, float2 q, float2 b)
{
    return make_float2(p.x * a.x - p.y * a.y + q.x * b.x - q.y * b.y,
                       p.x * a.y + p.y * a.x + q.x * b.y + q.y * b.x);
}

__host__ __device__ inline void control_apply(float2 *state, int i, const ControlGate &g)
{
    const int other = i | 1 << CONTROL_TARGET;
    const float2 a = state[i], b = state[other];
    state[i] = control_mix(g.m00, a, g.m01, b);
    state[other] = control_mix(g.m10, a, g.m11, b);
}

__host__ __device__ inline bool control_concerns(int i)
{
    return i >> CONTROL_A & 1 && i >> CONTROL_B & 1 && !(i >> CONTROL_TARGET & 1);
}

__global__ void controlled_masked_kernel(float2 *state, ControlGate gate)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (control_concerns(i))
        control_apply(state, i, gate);
}

// Makes room for a bit.
__device__ inline int control_insert(int i, int at, int bit)
{
    return (i >> at << (at + 1)) | bit << at | (i & ((1 << at) - 1));
}

__global__ void controlled_indexed_kernel(float2 *state, ControlGate gate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    i = control_insert(i, CONTROL_A, 1);
    i = control_insert(i, CONTROL_B, 1);
    i = control_insert(i, CONTROL_TARGET, 0);
    control_apply(state, i, gate);
}

static void controlled(Run &run, bool indexed)
{
    const std::vector<float2> state = qubit_state(CONTROL_QUBITS, 13051);
    const float r = 0.70710678f;
    const ControlGate gate = { make_float2(r, 0), make_float2(0, -r), make_float2(0, -r),
                               make_float2(r, 0) };
    const float2 *from = run.upload(state);
    float2 *to = run.zeros<float2>(state.size());
    const int count = 1 << CONTROL_QUBITS;
    const size_t bytes = count * sizeof(float2);
    run.measure(
        [=] {
            if (indexed)
                controlled_indexed_kernel<<<count / 8 / 256, 256>>>(to, gate);
            else
                controlled_masked_kernel<<<count / 256, 256>>>(to, gate);
        },
        [=] { CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)); });
    const std::vector<float2> got = run.output(to, state.size());
    std::vector<float2> wanted(state);
    for (size_t i = 0; i < state.size(); i++)
        if (control_concerns((int) i))
            control_apply(wanted.data(), (int) i, gate);
    for (size_t i = 0; i < state.size(); i += 59) {
        run.expect(1000 * got[i].x, 1000 * wanted[i].x, 1e-4);
        run.expect(1000 * got[i].y, 1000 * wanted[i].y, 1e-4);
    }
}

static void controlled_masked(Run &run)
{
    controlled(run, false);
}

static void controlled_indexed(Run &run)
{
    controlled(run, true);
}

// ---- Expected parities of 3 sets of qubits: a pass per set, or one pass ----

enum { OBSERVED_QUBITS = 22, OBSERVED_SETS = 3, OBSERVED_BLOCKS = 528 };

__constant__ uint32_t observed_sets[OBSERVED_SETS];

__device__ inline void observed_add(float mine, double *out)
{
    for (int d = 16; d; d /= 2)
        mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, (double) mine);
}

__global__ void observables_one_kernel(const float2 *state, int set, double *out)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 1 << OBSERVED_QUBITS;
         i += gridDim.x * blockDim.x) {
        const float2 a = state[i];
        const float p = a.x * a.x + a.y * a.y;
        sum += __popc(i & observed_sets[set]) & 1 ? -p : p;
    }
    observed_add(sum, &out[set]);
}

__global__ void observables_all_kernel(const float2 *state, double *out)
{
    float sums[OBSERVED_SETS] = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 1 << OBSERVED_QUBITS;
         i += gridDim.x * blockDim.x) {
        const float2 a = state[i];
        const float p = a.x * a.x + a.y * a.y;
#pragma unroll
        for (int set = 0; set < OBSERVED_SETS; set++)
            sums[set] += __popc(i & observed_sets[set]) & 1 ? -p : p;
    }
#pragma unroll
    for (int set = 0; set < OBSERVED_SETS; set++)
        observed_add(sums[set], &out[set]);
}

static void observables(Run &run, bool together)
{
    const std::vector<float2> state = qubit_state(OBSERVED_QUBITS, 13052);
    uint32_t sets[OBSERVED_SETS];
    for (int s = 0; s < OBSERVED_SETS; s++)
        sets[s] = mix(s + 13053) & ((1 << OBSERVED_QUBITS) - 1);
    CHECK(cudaMemcpyToSymbol(observed_sets, sets, sizeof(sets)));
    const float2 *from = run.upload(state);
    double *to = run.zeros<double>(OBSERVED_SETS);
    run.measure(
        [=] {
            if (together)
                observables_all_kernel<<<OBSERVED_BLOCKS, 256>>>(from, to);
            else
                for (int set = 0; set < OBSERVED_SETS; set++)
                    observables_one_kernel<<<OBSERVED_BLOCKS, 256>>>(from, set, to);
        },
        [=] { CHECK(cudaMemset(to, 0, OBSERVED_SETS * sizeof(double))); });
    run.expect_all(
        run.output(to, OBSERVED_SETS),
        [&](int set) {
            double sum = 0;
            for (size_t i = 0; i < state.size(); i++) {
                const double p =
                    (double) state[i].x * state[i].x + (double) state[i].y * state[i].y;
                sum += __builtin_popcount(i & sets[set]) & 1 ? -p : p;
            }
            return sum;
        },
        1e-4);
}

static void observables_apart(Run &run)
{
    observables(run, false);
}

static void observables_together(Run &run)
{
    observables(run, true);
}

// ---- Measurements: a search in all sums of probabilities, or first in a few in shared memory ----

enum { SHOT_STATES = 1 << 21, SHOT_COUNT = 600000, SHOT_FEW = 1024 };

// The first of `count` sums that is above the value.
__host__ __device__ inline int shot_search(const double *sums, int count, double value)
{
    int low = 0, high = count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sums[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

__global__ void shots_search_kernel(const double *sums, const double *values, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SHOT_COUNT)
        out[i] = shot_search(sums, SHOT_STATES, values[i]);
}

__global__ void shots_levels_kernel(const double *sums, const double *values, int *out)
{
    __shared__ double few[SHOT_FEW];
    const int part = SHOT_STATES / SHOT_FEW;
    for (int k = threadIdx.x; k < SHOT_FEW; k += blockDim.x)
        few[k] = sums[k * part + part - 1];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SHOT_COUNT;
         i += gridDim.x * blockDim.x) {
        const int at = shot_search(few, SHOT_FEW, values[i]) * part;
        out[i] = at + shot_search(sums + at, part, values[i]);
    }
}

static void shots(Run &run, bool levels)
{
    const std::vector<float> r = floats(SHOT_STATES, 13054, 0, 1);
    const std::vector<float> drawn = floats(SHOT_COUNT, 13055, 0, 1);
    std::vector<double> sums(SHOT_STATES), values(SHOT_COUNT);
    double sum = 0;
    for (int i = 0; i < SHOT_STATES; i++)
        sums[i] = sum += r[i] * r[i];
    for (int i = 0; i < SHOT_COUNT; i++)
        values[i] = drawn[i] * sum;
    const double *ds = run.upload(sums), *dv = run.upload(values);
    int *to = run.zeros<int>(SHOT_COUNT);
    run.measure([=] {
        if (levels)
            shots_levels_kernel<<<264, 256>>>(ds, dv, to);
        else
            shots_search_kernel<<<blocks_for(SHOT_COUNT, 128), 128>>>(ds, dv, to);
    });
    run.expect_all(
        run.output(to, SHOT_COUNT),
        [&](int i) { return shot_search(sums.data(), SHOT_STATES, values[i]); }, 0, 31);
}

static void shots_search(Run &run)
{
    shots(run, false);
}

static void shots_levels(Run &run)
{
    shots(run, true);
}

#endif
