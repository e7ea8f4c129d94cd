// tunnels.cuh - tunnels: air in galleries, planned lines through rock, sinking ground, pressure
// waves.
#ifndef BLIND_TUNNELS_CUH
#define BLIND_TUNNELS_CUH

#include "blind.cuh"

// ---- How air flows in the galleries of mines: 32 loops in a row, each with a fan, share galleries
// with their neighbours (Hardy Cross). A thread per mine with its flows in a local array, or a warp
// with a loop per lane ----

enum { TUNNEL_MINES = 4096, TUNNEL_LOOPS = 32, TUNNEL_ROUNDS = 200 };

// Pressure that a gallery takes, and its derivative.
template <class T> struct TunnelDrag {
    T drop = 0, slope = 0;

    __host__ __device__ void add(T resistance, T flow)
    {
        const T part = resistance * fabs(flow);
        drop += part * flow;
        slope += 2 * part;
    }
};

// A loop: its own resistance, that of the gallery shared with the next loop, the fan's pressure.
template <class T>
__host__ __device__ inline TunnelDrag<T> tunnel_drag(float3 loop, float shared, T before, T flow,
                                                     T after)
{
    TunnelDrag<T> drag;
    drag.add(loop.x, flow);
    drag.add(shared, flow - before);
    drag.add(loop.y, flow - after);
    return drag;
}

__host__ __device__ inline float tunnel_correction(float3 loop, TunnelDrag<float> drag)
{
    return 0.8f * (loop.z - drag.drop) / (drag.slope + 0.01f);
}

__global__ void tunnel_air_thread_kernel(const float3 *loops, float *flows)
{
    const int mine = blockIdx.x * blockDim.x + threadIdx.x;
    float flow[TUNNEL_LOOPS], largest = 1;
    for (int k = 0; k < TUNNEL_LOOPS; k++)
        flow[k] = 1;
    for (int round = 0; round < TUNNEL_ROUNDS && largest > 1e-5f; round++) {
        float before = 0, shared = 0;
        largest = 0;
        for (int k = 0; k < TUNNEL_LOOPS; k++) {
            const float3 loop = loops[k * TUNNEL_MINES + mine];
            const float now = flow[k], after = k + 1 < TUNNEL_LOOPS ? flow[k + 1] : 0;
            const float step =
                tunnel_correction(loop, tunnel_drag<float>(loop, shared, before, now, after));
            flow[k] = now + step;
            largest = fmaxf(largest, fabsf(step));
            before = now;
            shared = loop.y;
        }
    }
    for (int k = 0; k < TUNNEL_LOOPS; k++)
        flows[k * TUNNEL_MINES + mine] = flow[k];
}

__global__ void tunnel_air_warp_kernel(const float3 *loops, float *flows)
{
    const int lane = threadIdx.x % 32, mine = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float3 loop = loops[lane * TUNNEL_MINES + mine];
    float shared = __shfl_up_sync(~0u, loop.y, 1), flow = 1, step = 1;
    if (lane == 0)
        shared = 0;
    for (int round = 0; round < TUNNEL_ROUNDS && __any_sync(~0u, fabsf(step) > 1e-5f); round++) {
        float before = __shfl_up_sync(~0u, flow, 1), after = __shfl_down_sync(~0u, flow, 1);
        before = lane == 0 ? 0 : before;
        after = lane == 31 ? 0 : after;
        step = tunnel_correction(loop, tunnel_drag<float>(loop, shared, before, flow, after));
        flow += step;
    }
    flows[lane * TUNNEL_MINES + mine] = flow;
}

// The drop of pressure in each loop must be what its fan gives.
static void tunnel_air_expect(Run &run, const std::vector<float3> &loops,
                              const std::vector<float> &flows, int mine)
{
    double before = 0;
    float shared = 0;
    for (int k = 0; k < TUNNEL_LOOPS; k++) {
        const float3 loop = loops[k * TUNNEL_MINES + mine];
        const double flow = flows[k * TUNNEL_MINES + mine];
        const double after = k + 1 < TUNNEL_LOOPS ? flows[(k + 1) * TUNNEL_MINES + mine] : 0;
        run.expect(tunnel_drag<double>(loop, shared, before, flow, after).drop, loop.z, 1e-3);
        before = flow;
        shared = loop.y;
    }
}

static void tunnel_air(Run &run, bool warp)
{
    const int n = TUNNEL_MINES * TUNNEL_LOOPS;
    const std::vector<float> draws = floats((size_t) n * 3, 22600, 0, 1);
    std::vector<float3> loops(n);
    for (int i = 0; i < n; i++)
        loops[i] = { 0.5f + draws[i * 3], 0.1f + 0.5f * draws[i * 3 + 1], 0.5f + draws[i * 3 + 2] };
    const float3 *from = run.upload(loops);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (warp)
            tunnel_air_warp_kernel<<<TUNNEL_MINES / 4, 128>>>(from, to);
        else
            tunnel_air_thread_kernel<<<TUNNEL_MINES / 64, 64>>>(from, to);
    });
    const std::vector<float> got = run.output(to, n);
    for (int mine = 0; mine < TUNNEL_MINES; mine += 5)
        tunnel_air_expect(run, loops, got, mine);
}

static void tunnel_air_thread(Run &run)
{
    tunnel_air(run, false);
}

static void tunnel_air_warp(Run &run)
{
    tunnel_air(run, true);
}

// ---- What planned lines through rock of 16 classes cost: a byte per class, or half a byte. Lines
// are sorted by length, the longest last ----

enum { TUNNEL_LINES = 40000, TUNNEL_SIDE = 256, TUNNEL_DEPTH = 64 };

__constant__ int tunnel_costs[16];

struct TunnelBytes {
    const uint8_t *rock;

    __host__ __device__ int operator[](int i) const
    {
        return rock[i];
    }
};

struct TunnelNibbles {
    const uint8_t *rock;

    __host__ __device__ int operator[](int i) const
    {
        return rock[i / 2] >> i % 2 * 4 & 15;
    }
};

// Positions have 16 bits behind the point. A change of the rock costs 40.
template <class Rock>
__host__ __device__ inline int tunnel_cost(Rock rock, int3 at, int4 line, const int *costs)
{
    int cost = 0, last = 0;
    for (int k = 0; k < line.w; k++) {
        const int x = at.x >> 16 & (TUNNEL_SIDE - 1), y = at.y >> 16 & (TUNNEL_SIDE - 1);
        const int z = at.z >> 16 & (TUNNEL_DEPTH - 1);
        const int now = rock[(z * TUNNEL_SIDE + y) * TUNNEL_SIDE + x];
        cost += costs[now] + (now != last ? 40 : 0);
        last = now;
        at.x += line.x;
        at.y += line.y;
        at.z += line.z;
    }
    return cost;
}

template <class Rock>
__global__ void tunnel_line_kernel(Rock rock, const int3 *from, const int4 *lines, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < TUNNEL_LINES)
        out[i] = tunnel_cost(rock, from[i], lines[i], tunnel_costs);
}

// Layers of rock that dip to one side, and some noise.
static std::vector<uint8_t> tunnel_rock()
{
    const size_t n = (size_t) TUNNEL_SIDE * TUNNEL_SIDE * TUNNEL_DEPTH;
    const std::vector<int> noise = integers(n, 12, 22610);
    std::vector<uint8_t> rock(n);
    for (size_t i = 0; i < n; i++) {
        const int x = i % TUNNEL_SIDE, y = i / TUNNEL_SIDE % TUNNEL_SIDE;
        const int z = i / TUNNEL_SIDE / TUNNEL_SIDE;
        rock[i] = ((z * 8 + x * 3 + y + noise[i]) / 40) & 15;
    }
    return rock;
}

static void tunnel_line(Run &run, bool nibbles)
{
    const std::vector<uint8_t> rock = tunnel_rock();
    std::vector<uint8_t> packed(rock.size() / 2);
    for (size_t i = 0; i < rock.size(); i++)
        packed[i / 2] |= rock[i] << i % 2 * 4;
    const std::vector<int> costs = integers(16, 500, 22611);
    CHECK(cudaMemcpyToSymbol(tunnel_costs, costs.data(), sizeof tunnel_costs));
    const std::vector<int> draws = integers(TUNNEL_LINES * 6, 1 << 22, 22612);
    std::vector<int3> from(TUNNEL_LINES);
    std::vector<int4> lines(TUNNEL_LINES);
    for (int i = 0; i < TUNNEL_LINES; i++) {
        from[i] = { draws[i * 6] * 4, draws[i * 6 + 1] * 4, draws[i * 6 + 2] };
        lines[i] = { draws[i * 6 + 3] / 32 - 65536, draws[i * 6 + 4] / 32 - 65536,
                     draws[i * 6 + 5] / 512 - 4096, 20 + i / 64 };
    }
    const TunnelBytes bytes = { run.upload(rock) };
    const TunnelNibbles halves = { run.upload(packed) };
    const int3 *df = run.upload(from);
    const int4 *dl = run.upload(lines);
    int *to = run.zeros<int>(TUNNEL_LINES);
    run.measure([=] {
        const int blocks = blocks_for(TUNNEL_LINES, 128);
        if (nibbles)
            tunnel_line_kernel<<<blocks, 128>>>(halves, df, dl, to);
        else
            tunnel_line_kernel<<<blocks, 128>>>(bytes, df, dl, to);
    });
    run.expect_all(
        run.output(to, TUNNEL_LINES),
        [&](size_t i) {
            return tunnel_cost(TunnelBytes{ rock.data() }, from[i], lines[i], costs.data());
        },
        0, 3);
}

static void tunnel_line_bytes(Run &run)
{
    tunnel_line(run, false);
}

static void tunnel_line_nibbles(Run &run)
{
    tunnel_line(run, true);
}

// ---- How far houses sink above a bored tunnel, each of whose rings makes a trough: all rings, or
// those of the list that a search finds to be near ----

enum { TUNNEL_HOUSES = 16384, TUNNEL_RINGS = 6144 };

// A ring: position, the factor of squared distances in the exponent, and the depth of its trough.
template <class T> __host__ __device__ inline T tunnel_trough(float4 ring, float2 house)
{
    const T x = house.x - ring.x, y = house.y - ring.y;
    return ring.w * exp2(-ring.z * (x * x + y * y));
}

__global__ void tunnel_sink_all_kernel(const float4 *rings, const float2 *houses, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 house = houses[i];
    float sum = 0;
    for (int k = 0; k < TUNNEL_RINGS; k++)
        sum += tunnel_trough<float>(rings[k], house);
    out[i] = sum;
}

// The first ring at or after `x`.
__device__ inline int tunnel_first_ring(const float4 *rings, float x)
{
    int low = 0, high = TUNNEL_RINGS;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (rings[middle].x < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void tunnel_sink_near_kernel(const float4 *rings, const float2 *houses, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 house = houses[i];
    float sum = 0;
    for (int k = tunnel_first_ring(rings, house.x - 60); k < TUNNEL_RINGS; k++) {
        const float4 ring = rings[k];
        if (ring.x > house.x + 60)
            break;
        sum += tunnel_trough<float>(ring, house);
    }
    out[i] = sum;
}

static void tunnel_sink(Run &run, bool near)
{
    const std::vector<float> widths = floats(TUNNEL_RINGS, 22620, 6, 12);
    const std::vector<float> lost = floats(TUNNEL_RINGS, 22621, 0.01f, 0.1f);
    const std::vector<float> places = floats(TUNNEL_HOUSES * 2, 22622, 0, 1);
    std::vector<float4> rings(TUNNEL_RINGS);
    for (int k = 0; k < TUNNEL_RINGS; k++)
        rings[k] = { 0.4f * k, 40 * sinf(0.001f * k), 0.7213475f / (widths[k] * widths[k]),
                     lost[k] };
    std::vector<float2> houses(TUNNEL_HOUSES);
    for (int i = 0; i < TUNNEL_HOUSES; i++)
        houses[i] = { 0.4f * TUNNEL_RINGS * places[i * 2], 160 * places[i * 2 + 1] - 80 };
    const float4 *dr = run.upload(rings);
    const float2 *dh = run.upload(houses);
    float *to = run.zeros<float>(TUNNEL_HOUSES);
    run.measure([=] {
        if (near)
            tunnel_sink_near_kernel<<<TUNNEL_HOUSES / 128, 128>>>(dr, dh, to);
        else
            tunnel_sink_all_kernel<<<TUNNEL_HOUSES / 128, 128>>>(dr, dh, to);
    });
    run.expect_all(
        run.output(to, TUNNEL_HOUSES),
        [&](size_t i) {
            double sum = 0;
            for (const float4 ring : rings)
                sum += tunnel_trough<double>(ring, houses[i]);
            return sum;
        },
        1e-3, 61);
}

static void tunnel_sink_all(Run &run)
{
    tunnel_sink(run, false);
}

static void tunnel_sink_near(Run &run)
{
    tunnel_sink(run, true);
}

// ---- Waves of pressure before a train that enters a tunnel, in 256 pieces of air: a block per
// tunnel, with a thread per piece, or a warp, with eight pieces per lane. A few trains are slow and
// take many steps ----

enum { TUNNEL_WAVES = 320, TUNNEL_AIR = 256, TUNNEL_PIECES = TUNNEL_AIR / 32 };

// A tunnel: the wave's part of a piece in one step, drag and steps per piece. Pressure `a` is on
// the left of the speed, `b` on its right.
__host__ __device__ inline float tunnel_speed(float4 tunnel, float speed, float a, float b)
{
    return speed + tunnel.x * (a - b) - tunnel.y * speed * fabsf(speed);
}

__host__ __device__ inline float tunnel_pressure(float4 tunnel, float pressure, float a, float b,
                                                 bool train)
{
    return pressure + tunnel.x * (a - b) + (train ? 0.02f : 0);
}

__global__ void tunnel_wave_block_kernel(const float4 *tunnels, float *out)
{
    __shared__ float pressures[TUNNEL_AIR + 1], speeds[TUNNEL_AIR + 1];
    const int i = threadIdx.x;
    const float4 tunnel = tunnels[blockIdx.x];
    const int pace = (int) tunnel.z, steps = pace * TUNNEL_AIR / 4;
    float pressure = 0, speed = 0;
    pressures[i] = 0;
    if (i == 0)
        pressures[TUNNEL_AIR] = speeds[0] = 0;
    for (int step = 0; step < steps; step++) {
        __syncthreads();
        speed = tunnel_speed(tunnel, speed, pressure, pressures[i + 1]);
        speeds[i + 1] = speed;
        __syncthreads();
        pressure = tunnel_pressure(tunnel, pressure, speeds[i], speed, step / pace == i);
        pressures[i] = pressure;
    }
    out[blockIdx.x * TUNNEL_AIR + i] = pressure;
}

__global__ void tunnel_wave_warp_kernel(const float4 *tunnels, float *out)
{
    const int lane = threadIdx.x % 32, at = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float4 tunnel = tunnels[at];
    const int pace = (int) tunnel.z, steps = pace * TUNNEL_AIR / 4;
    float pressures[TUNNEL_PIECES] = {}, speeds[TUNNEL_PIECES] = {};
    for (int step = 0; step < steps; step++) {
        float right = __shfl_down_sync(~0u, pressures[0], 1);
        right = lane == 31 ? 0 : right;
#pragma unroll
        for (int k = 0; k < TUNNEL_PIECES; k++)
            speeds[k] = tunnel_speed(tunnel, speeds[k], pressures[k],
                                     k + 1 < TUNNEL_PIECES ? pressures[k + 1] : right);
        float left = __shfl_up_sync(~0u, speeds[TUNNEL_PIECES - 1], 1);
        left = lane == 0 ? 0 : left;
        const int train = step / pace - lane * TUNNEL_PIECES;
#pragma unroll
        for (int k = 0; k < TUNNEL_PIECES; k++)
            pressures[k] = tunnel_pressure(tunnel, pressures[k], k ? speeds[k - 1] : left,
                                           speeds[k], train == k);
    }
    for (int k = 0; k < TUNNEL_PIECES; k++)
        out[at * TUNNEL_AIR + lane * TUNNEL_PIECES + k] = pressures[k];
}

static void tunnel_wave_expect(Run &run, float4 tunnel, const float *got)
{
    std::vector<float> pressures(TUNNEL_AIR + 1, 0), speeds(TUNNEL_AIR + 1, 0);
    const int pace = (int) tunnel.z;
    for (int step = 0; step < pace * TUNNEL_AIR / 4; step++) {
        for (int i = 0; i < TUNNEL_AIR; i++)
            speeds[i + 1] = tunnel_speed(tunnel, speeds[i + 1], pressures[i], pressures[i + 1]);
        for (int i = 0; i < TUNNEL_AIR; i++)
            pressures[i] =
                tunnel_pressure(tunnel, pressures[i], speeds[i], speeds[i + 1], step / pace == i);
    }
    for (int i = 0; i < TUNNEL_AIR; i++)
        run.expect(got[i], pressures[i], 1e-4);
}

static void tunnel_wave(Run &run, bool warp)
{
    const std::vector<float> draws = floats(TUNNEL_WAVES * 2, 22630, 0, 1);
    const std::vector<int> paces = integers(TUNNEL_WAVES, 32, 22631);
    std::vector<float4> tunnels(TUNNEL_WAVES);
    for (int i = 0; i < TUNNEL_WAVES; i++)
        tunnels[i] = { 0.5f + 0.4f * draws[i * 2], 0.01f * draws[i * 2 + 1],
                       paces[i] == 0 ? 24.0f : 2.0f + paces[i] % 4, 0 };
    const float4 *from = run.upload(tunnels);
    float *to = run.zeros<float>(TUNNEL_WAVES * TUNNEL_AIR);
    run.measure([=] {
        if (warp)
            tunnel_wave_warp_kernel<<<TUNNEL_WAVES / 4, 128>>>(from, to);
        else
            tunnel_wave_block_kernel<<<TUNNEL_WAVES, TUNNEL_AIR>>>(from, to);
    });
    const std::vector<float> got = run.output(to, TUNNEL_WAVES * TUNNEL_AIR);
    for (int i = 0; i < TUNNEL_WAVES; i += 3)
        tunnel_wave_expect(run, tunnels[i], &got[i * TUNNEL_AIR]);
}

static void tunnel_wave_block(Run &run)
{
    tunnel_wave(run, false);
}

static void tunnel_wave_warp(Run &run)
{
    tunnel_wave(run, true);
}

#endif
