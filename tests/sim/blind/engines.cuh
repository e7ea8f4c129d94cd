// engines.cuh - combustion engines: work of a cycle, knock, maps of fuel, sets of gears.
#ifndef BLIND_ENGINES_CUH
#define BLIND_ENGINES_CUH

#include "blind.cuh"

// ---- The work of a cycle at many operating points, by steps of one degree: the cylinder's volume
// and the burned fraction by formulas at each step, or volume, its
// change and what burns from a table ----

enum { ENGINE_POINTS = 20480, ENGINE_DEGREES = 360 };

// The volume at an angle, by the stroke's, of a crank with a rod of 3.5 times its radius.
template <class T> __host__ __device__ inline T engine_volume(T degrees)
{
    const T angle = degrees * T(3.14159265358979 / 180);
    const T s = sin(angle);
    return T(1) / 9 + T(0.5) * (1 - cos(angle) + T(3.5) - sqrt(T(12.25) - s * s));
}

// Wiebe's function: what has burned at an angle.
template <class T> __host__ __device__ inline T engine_burned(T degrees)
{
    const T at = (degrees + 15) / 50;
    return at < 0 ? T(0) : 1 - exp(-5 * at * at * at);
}

template <class T>
__host__ __device__ inline void engine_advance(float4 point, T v, T dv, T burns, T &p, T &work)
{
    const T change = ((point.z - 1) * point.y * burns - point.z * p * dv) / v;
    work += (p + change / 2) * dv;
    p += change;
}

template <class T> __host__ __device__ inline T engine_cycle(float4 point)
{
    T p = point.x, work = 0, v = engine_volume(T(-180)), burned = 0;
    for (int k = 0; k < ENGINE_DEGREES; k++) {
        const T next = engine_volume(T(k - 179)), total = engine_burned(T(k - 179));
        engine_advance(point, v, next - v, total - burned, p, work);
        v = next;
        burned = total;
    }
    return work;
}

__global__ void engine_work_formula_kernel(const float4 *points, float *works)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    works[i] = engine_cycle<float>(points[i]);
}

__global__ void engine_work_table_kernel(const float4 *points, const float4 *table, float *works)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 point = points[i];
    float p = point.x, work = 0;
    for (int k = 0; k < ENGINE_DEGREES; k++) {
        const float4 step = table[k];
        engine_advance(point, step.x, step.y, step.z, p, work);
    }
    works[i] = work;
}

// A point: pressure at the start, heat, ratio of heat capacities.
static void engine_work(Run &run, bool by_table)
{
    const std::vector<float> draws = floats(ENGINE_POINTS * 3, 23500, 0, 1);
    std::vector<float4> points(ENGINE_POINTS), table(ENGINE_DEGREES);
    for (int i = 0; i < ENGINE_POINTS; i++)
        points[i] = { 0.5f + 1.5f * draws[i * 3], 10 + 30 * draws[i * 3 + 1],
                      1.28f + 0.1f * draws[i * 3 + 2], 0 };
    for (int k = 0; k < ENGINE_DEGREES; k++) {
        const double v = engine_volume(k - 180.0), next = engine_volume(k - 179.0);
        const double burns = engine_burned(k - 179.0) - engine_burned(k - 180.0);
        table[k] = { (float) v, (float) (next - v), (float) burns, 0 };
    }
    const float4 *dp = run.upload(points), *dt = run.upload(table);
    float *to = run.zeros<float>(ENGINE_POINTS);
    run.measure([=] {
        if (by_table)
            engine_work_table_kernel<<<ENGINE_POINTS / 128, 128>>>(dp, dt, to);
        else
            engine_work_formula_kernel<<<ENGINE_POINTS / 128, 128>>>(dp, to);
    });
    run.expect_all(
        run.output(to, ENGINE_POINTS), [&](size_t i) { return engine_cycle<double>(points[i]); },
        2e-3, 11);
}

static void engine_work_formula(Run &run)
{
    engine_work(run, false);
}

static void engine_work_table(Run &run)
{
    engine_work(run, true);
}

// ---- Knock in the pressure traces of cycles: the largest swing of a filter, and how often it is
// large. A thread or a warp per trace. The engine speeds up, so that later traces are shorter ----

enum { ENGINE_TRACES = 6000, ENGINE_TAPS = 12, ENGINE_LOUD = 9000 };

__host__ __device__ inline int engine_swing(const short *trace, int i)
{
    const int swing = trace[i] - 2 * trace[i + 4] + 2 * trace[i + 8] - trace[i + ENGINE_TAPS];
    return swing < 0 ? -swing : swing;
}

__global__ void engine_knock_thread_kernel(const short *samples, const int *starts, int2 *knocks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ENGINE_TRACES)
        return;
    int most = 0, loud = 0;
    for (int k = starts[i]; k < starts[i + 1] - ENGINE_TAPS; k++) {
        const int swing = engine_swing(samples, k);
        most = max(most, swing);
        loud += swing > ENGINE_LOUD;
    }
    knocks[i] = make_int2(most, loud);
}

__global__ void engine_knock_warp_kernel(const short *samples, const int *starts, int2 *knocks)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int most = 0, loud = 0;
    for (int k = starts[i] + lane; k < starts[i + 1] - ENGINE_TAPS; k += 32) {
        const int swing = engine_swing(samples, k);
        most = max(most, swing);
        loud += swing > ENGINE_LOUD;
    }
    for (int step = 16; step; step /= 2) {
        most = max(most, __shfl_down_sync(~0u, most, step));
        loud += __shfl_down_sync(~0u, loud, step);
    }
    if (lane == 0)
        knocks[i] = make_int2(most, loud);
}

static void engine_knock(Run &run, bool warps)
{
    const std::vector<int> jitter = integers(ENGINE_TRACES, 60, 23510);
    std::vector<int> starts(ENGINE_TRACES + 1);
    for (int i = 0; i < ENGINE_TRACES; i++)
        starts[i + 1] = starts[i] + 1200 - i * 1050 / ENGINE_TRACES + jitter[i];
    const std::vector<int> draws = integers(starts.back(), 4001, 23511);
    std::vector<short> samples(draws.size());
    for (size_t i = 0; i < samples.size(); i++)
        samples[i] = (short) (draws[i] - 2000);
    const short *from = run.upload(samples);
    const int *ds = run.upload(starts);
    int2 *to = run.zeros<int2>(ENGINE_TRACES);
    run.measure([=] {
        if (warps)
            engine_knock_warp_kernel<<<ENGINE_TRACES / 8, 256>>>(from, ds, to);
        else
            engine_knock_thread_kernel<<<blocks_for(ENGINE_TRACES, 128), 128>>>(from, ds, to);
    });
    const std::vector<int2> got = run.output(to, ENGINE_TRACES);
    for (int i = 0; i < ENGINE_TRACES; i++) {
        int most = 0, loud = 0;
        for (int k = starts[i]; k < starts[i + 1] - ENGINE_TAPS; k++) {
            const int swing = engine_swing(samples.data(), k);
            most = std::max(most, swing);
            loud += swing > ENGINE_LOUD;
        }
        run.expect(got[i].x, most, 0);
        run.expect(got[i].y, loud, 0);
    }
}

static void engine_knock_thread(Run &run)
{
    engine_knock(run, false);
}

static void engine_knock_warp(Run &run)
{
    engine_knock(run, true);
}

// ---- How much fuel to inject, from a map by speed and load whose lines are not evenly spaced:
// the map is read from global memory, or from a copy in shared memory ----

enum { ENGINE_SAMPLES = 1000000, ENGINE_LINES = 20, ENGINE_FUEL_BLOCKS = 264 };

// The lines of the map: speeds, then loads.
__constant__ float engine_lines[2 * ENGINE_LINES];

// The interval of the lines in which x lies, and where in it.
template <class T>
__host__ __device__ inline int engine_interval(const float *lines, float x, T &part)
{
    int at = 0;
    while (at < ENGINE_LINES - 2 && x >= lines[at + 1])
        at++;
    part = T(x - lines[at]) / T(lines[at + 1] - lines[at]);
    return at;
}

template <class T>
__host__ __device__ inline T engine_fuel(const float *lines, const float *map, float2 sample)
{
    T a, b;
    const int x = engine_interval(lines, sample.x, a);
    const int y = engine_interval(lines + ENGINE_LINES, sample.y, b);
    const float *at = map + y * ENGINE_LINES + x;
    const T above = at[0] + a * (at[1] - at[0]);
    const T below = at[ENGINE_LINES] + a * (at[ENGINE_LINES + 1] - at[ENGINE_LINES]);
    return above + b * (below - above);
}

__global__ void engine_fuel_global_kernel(const float *map, const float2 *samples, float *fuel)
{
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < ENGINE_SAMPLES; i += step)
        fuel[i] = engine_fuel<float>(engine_lines, map, samples[i]);
}

__global__ void engine_fuel_shared_kernel(const float *map, const float2 *samples, float *fuel)
{
    __shared__ float copy[ENGINE_LINES * ENGINE_LINES];
    for (int i = threadIdx.x; i < ENGINE_LINES * ENGINE_LINES; i += blockDim.x)
        copy[i] = map[i];
    __syncthreads();
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < ENGINE_SAMPLES; i += step)
        fuel[i] = engine_fuel<float>(engine_lines, copy, samples[i]);
}

static void engine_fuels(Run &run, bool shared)
{
    const std::vector<float> map = floats(ENGINE_LINES * ENGINE_LINES, 23520, 1, 9);
    const std::vector<float> draws = floats((size_t) 2 * ENGINE_SAMPLES, 23521, 0, 1);
    std::vector<float> lines(2 * ENGINE_LINES);
    for (int i = 0; i < ENGINE_LINES; i++) {
        lines[i] = 700.0f + 250 * i + 5 * i * i;
        lines[ENGINE_LINES + i] = 2.0f * i + 0.15f * i * i;
    }
    std::vector<float2> samples(ENGINE_SAMPLES);
    for (int i = 0; i < ENGINE_SAMPLES; i++)
        samples[i] = { 700 + 6500 * draws[2 * i], 90 * draws[2 * i + 1] * draws[2 * i + 1] };
    CHECK(cudaMemcpyToSymbol(engine_lines, lines.data(), sizeof engine_lines));
    const float *dm = run.upload(map);
    const float2 *from = run.upload(samples);
    float *to = run.zeros<float>(ENGINE_SAMPLES);
    run.measure([=] {
        if (shared)
            engine_fuel_shared_kernel<<<ENGINE_FUEL_BLOCKS, 256>>>(dm, from, to);
        else
            engine_fuel_global_kernel<<<ENGINE_FUEL_BLOCKS, 256>>>(dm, from, to);
    });
    run.expect_all(
        run.output(to, ENGINE_SAMPLES),
        [&](size_t i) { return engine_fuel<double>(lines.data(), map.data(), samples[i]); }, 1e-4,
        7);
}

static void engine_fuel_global(Run &run)
{
    engine_fuels(run, false);
}

static void engine_fuel_shared(Run &run)
{
    engine_fuels(run, true);
}

// ---- How long cars with different gears take to 100 km/h. A warp simulates 32 cars at a time;
// the heavy cars, which take longest, come last. Each warp has a fixed share of the cars, or draws
// tickets for the next 32 ----

enum { ENGINE_BATCHES = 900, ENGINE_GEARS = 6, ENGINE_MOMENTS = 800, ENGINE_GEAR_BLOCKS = 66 };

// A car: mass, ratio of the first gear, ratio between gears, drag. The result is in steps of 50 ms.
__host__ __device__ inline int engine_sprint(float4 car)
{
    float ratios[ENGINE_GEARS];
    ratios[0] = car.y;
    for (int k = 1; k < ENGINE_GEARS; k++)
        ratios[k] = ratios[k - 1] * car.z;
    float speed = 1;
    int gear = 0, moment = 0;
    while (speed < 27.8f && moment < ENGINE_MOMENTS) {
        const float turns = speed * ratios[gear] * 31.8f; // per minute
        if (turns > 6200 && gear < ENGINE_GEARS - 1) {
            gear++;
            speed *= 0.99f;
        } else {
            const float x = turns * 0.001f;
            const float torque = fmaxf(70 + x * (62 - 8 * x), 0.0f);
            const float force = torque * ratios[gear] * 4 - car.w * speed * speed - 120;
            speed += 0.05f * force / car.x;
        }
        moment++;
    }
    return moment;
}

__global__ void engine_gears_shares_kernel(const float4 *cars, int *moments)
{
    const int warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int end = (warp + 1) * ENGINE_BATCHES / warps;
    for (int batch = warp * ENGINE_BATCHES / warps; batch < end; batch++)
        moments[batch * 32 + lane] = engine_sprint(cars[batch * 32 + lane]);
}

__global__ void engine_gears_tickets_kernel(const float4 *cars, int *moments, int *ticket)
{
    const int lane = threadIdx.x % 32;
    for (;;) {
        int batch = 0;
        if (lane == 0)
            batch = atomicAdd(ticket, 1);
        batch = __shfl_sync(~0u, batch, 0);
        if (batch >= ENGINE_BATCHES)
            break;
        moments[batch * 32 + lane] = engine_sprint(cars[batch * 32 + lane]);
    }
}

static void engine_gears(Run &run, bool tickets)
{
    const int count = ENGINE_BATCHES * 32;
    const std::vector<float> draws = floats((size_t) count * 3, 23530, 0, 1);
    std::vector<float4> cars(count);
    for (int i = 0; i < count; i++)
        cars[i] = { 600 + 2400.0f * i / count, 3.2f + 0.9f * draws[i * 3],
                    0.68f + 0.1f * draws[i * 3 + 1], 0.35f + 0.3f * draws[i * 3 + 2] };
    const float4 *from = run.upload(cars);
    int *to = run.zeros<int>(count), *ticket = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                engine_gears_tickets_kernel<<<ENGINE_GEAR_BLOCKS, 128>>>(from, to, ticket);
            else
                engine_gears_shares_kernel<<<ENGINE_GEAR_BLOCKS, 128>>>(from, to);
        },
        [=] { CHECK(cudaMemset(ticket, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, count), [&](size_t i) { return engine_sprint(cars[i]); }, 0.03, 5);
}

static void engine_gears_shares(Run &run)
{
    engine_gears(run, false);
}

static void engine_gears_tickets(Run &run)
{
    engine_gears(run, true);
}

#endif
