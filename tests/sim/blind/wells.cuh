// wells.cuh - water in the ground: wells that draw it down, logs of drillings, gauges, paths.
#ifndef BLIND_WELLS_CUH
#define BLIND_WELLS_CUH

#include "blind.cuh"

// ---- How far wells lower the water at each place: the well function by formulas, of which far and
// near places need different ones, or a table in shared memory ----

enum { WELL_WIDTH = 512, WELL_HEIGHT = 256, WELL_PUMPS = 60, WELL_ENTRIES = 1024 };

// The exponential integral.
template <class T> __host__ __device__ inline T well_function(T u)
{
    if (u < 1)
        return -log(u) - T(0.57721566) +
               u * (T(0.99999193) +
                    u * (T(-0.24991055) +
                         u * (T(0.05519968) + u * (T(-0.00976004) + u * T(0.00107857)))));
    return exp(-u) / u * (u * u + T(2.334733) * u + T(0.250621)) /
           (u * u + T(3.330657) * u + T(1.681534));
}

// A pump: place, rate, and the factor of the squared distance.
__constant__ float4 well_pumps[WELL_PUMPS];

template <class T> __host__ __device__ inline T well_argument(float4 pump, int x, int y)
{
    const T dx = x - T(pump.x), dy = y - T(pump.y);
    return T(pump.w) * (dx * dx + dy * dy + 1);
}

__global__ void well_drawdown_formula_kernel(float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < WELL_PUMPS; k++)
        sum += well_pumps[k].z * well_function(well_argument<float>(well_pumps[k], x, y));
    out[y * WELL_WIDTH + x] = sum;
}

// Entry i belongs to the argument 2^(i / 32 - 24).
__global__ void well_drawdown_table_kernel(float *out)
{
    __shared__ float table[WELL_ENTRIES];
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < WELL_ENTRIES;
         i += blockDim.x * blockDim.y)
        table[i] = well_function(exp2f(i / 32.0f - 24));
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < WELL_PUMPS; k++) {
        const float at = (__log2f(well_argument<float>(well_pumps[k], x, y)) + 24) * 32;
        const int i = min(max((int) at, 0), WELL_ENTRIES - 2);
        sum += well_pumps[k].z * (table[i] + (at - i) * (table[i + 1] - table[i]));
    }
    out[y * WELL_WIDTH + x] = sum;
}

static void well_drawdown(Run &run, bool table)
{
    const std::vector<float> draws = floats(WELL_PUMPS * 4, 20810, 0, 1);
    std::vector<float4> pumps(WELL_PUMPS);
    for (int k = 0; k < WELL_PUMPS; k++)
        pumps[k] = { draws[k * 4] * WELL_WIDTH, draws[k * 4 + 1] * WELL_HEIGHT,
                     0.1f + draws[k * 4 + 2], 1e-5f + draws[k * 4 + 3] * 1e-4f };
    CHECK(cudaMemcpyToSymbol(well_pumps, pumps.data(), sizeof well_pumps));
    float *to = run.zeros<float>(WELL_WIDTH * WELL_HEIGHT);
    run.measure([=] {
        const dim3 grid(WELL_WIDTH / 32, WELL_HEIGHT / 4), block(32, 4);
        if (table)
            well_drawdown_table_kernel<<<grid, block>>>(to);
        else
            well_drawdown_formula_kernel<<<grid, block>>>(to);
    });
    run.expect_all(
        run.output(to, WELL_WIDTH * WELL_HEIGHT),
        [&](size_t i) {
            double sum = 0;
            for (const float4 &pump : pumps)
                sum += pump.z * well_function(well_argument<double>(pump, (int) i % WELL_WIDTH,
                                                                    (int) i / WELL_WIDTH));
            return sum;
        },
        5e-3, 13);
}

static void well_drawdown_formula(Run &run)
{
    well_drawdown(run, false);
}

static void well_drawdown_table(Run &run)
{
    well_drawdown(run, true);
}

// ---- Logs of drillings in order, a block per log: by a network of exchanges, or by counting what
// is smaller. A few drillings are deep ----

enum { WELL_LOGS = 1200, WELL_DEEP = 2048 };

__global__ void well_log_network_kernel(const int *starts, const uint32_t *samples, uint32_t *out)
{
    __shared__ uint32_t keys[WELL_DEEP];
    const int first = starts[blockIdx.x], count = starts[blockIdx.x + 1] - first;
    int size = 1;
    while (size < count)
        size *= 2;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        keys[i] = i < count ? samples[first + i] : ~0u;
    for (int run = 2; run <= size; run *= 2)
        for (int d = run / 2; d; d /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
                const int low = i / d * 2 * d + i % d;
                const uint32_t a = keys[low], b = keys[low + d];
                if ((a > b) == !(low & run)) {
                    keys[low] = b;
                    keys[low + d] = a;
                }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[first + i] = keys[i];
}

__global__ void well_log_ranks_kernel(const int *starts, const uint32_t *samples, uint32_t *out)
{
    __shared__ uint32_t keys[WELL_DEEP];
    const int first = starts[blockIdx.x], count = starts[blockIdx.x + 1] - first;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        keys[i] = samples[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const uint32_t mine = keys[i];
        int rank = 0;
        for (int k = 0; k < count; k++)
            rank += keys[k] < mine;
        out[first + rank] = mine;
    }
}

static void well_log(Run &run, bool ranks)
{
    const std::vector<int> draws = integers(WELL_LOGS, 4000, 20820);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < WELL_LOGS; i++)
        starts.push_back(starts[i] + (draws[i] < 60 ? 1300 + draws[i] * 12 : 30 + draws[i] / 20));
    const size_t n = starts[WELL_LOGS];
    std::vector<uint32_t> samples = words(n, 20821);
    for (size_t i = 0; i < n; i++) // no two samples are equal
        samples[i] = samples[i] << 18 | (uint32_t) i;
    const int *ds = run.upload(starts);
    const uint32_t *from = run.upload(samples);
    uint32_t *to = run.zeros<uint32_t>(n);
    run.measure([=] {
        if (ranks)
            well_log_ranks_kernel<<<WELL_LOGS, 128>>>(ds, from, to);
        else
            well_log_network_kernel<<<WELL_LOGS, 128>>>(ds, from, to);
    });
    for (int i = 0; i < WELL_LOGS; i++)
        std::sort(samples.begin() + starts[i], samples.begin() + starts[i + 1]);
    run.expect_all(
        run.output(to, n), [&](size_t i) { return samples[i]; }, 0);
}

static void well_log_network(Run &run)
{
    well_log(run, false);
}

static void well_log_ranks(Run &run)
{
    well_log(run, true);
}

// ---- Flow over weirs from levels of gauges, and how many are flooded: many tiny blocks, or a few
// that remain until the end ----

enum { WELL_GAUGES = 4194304 };

// The flow over a weir whose edge is at 0.4.
__host__ __device__ inline float well_flow(float level)
{
    const float head = fmaxf(level - 0.4f, 0);
    return 1.84f * head * sqrtf(head);
}

__global__ void well_gauge_tiny_kernel(const float *levels, float *flows, int *flooded)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float level = levels[i];
    flows[i] = well_flow(level);
    const uint32_t votes = __ballot_sync(~0u, level > 0.995f);
    if (votes && threadIdx.x % 32 == 0)
        atomicAdd(flooded, __popc(votes));
}

__global__ void well_gauge_stay_kernel(const float *levels, float *flows, int *flooded)
{
    int count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < WELL_GAUGES;
         i += gridDim.x * blockDim.x) {
        const float level = levels[i];
        flows[i] = well_flow(level);
        count += level > 0.995f;
    }
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(flooded, count);
}

static void well_gauge(Run &run, bool stay)
{
    const std::vector<float> levels = floats(WELL_GAUGES, 20830, 0, 1);
    const float *from = run.upload(levels);
    float *to = run.zeros<float>(WELL_GAUGES);
    int *flooded = run.zeros<int>(1);
    run.measure(
        [=] {
            if (stay)
                well_gauge_stay_kernel<<<264, 1024>>>(from, to, flooded);
            else
                well_gauge_tiny_kernel<<<WELL_GAUGES / 64, 64>>>(from, to, flooded);
        },
        [=] { CHECK(cudaMemset(flooded, 0, sizeof(int))); });
    int count = 0;
    for (const float level : levels)
        count += level > 0.995f;
    run.expect(run.output(flooded, 1)[0], count, 0);
    run.expect_all(
        run.output(to, WELL_GAUGES), [&](size_t i) { return well_flow(levels[i]); }, 1e-5, 7);
}

static void well_gauge_tiny(Run &run)
{
    well_gauge(run, false);
}

static void well_gauge_stay(Run &run)
{
    well_gauge(run, true);
}

// ---- Paths of water until it reaches a well or leaves the map: a thread per path, or threads that
// draw the next path when one has ended ----

enum { WELL_MAP = 256, WELL_PATHS = 60000, WELL_STEPS = 900, WELL_SINKS = 12 };

// Positions and velocities are in cells, with 16 bits behind the point. Water rests in wells.
struct WellPath {
    int2 at;
    int steps;

    // False: the path has ended.
    __host__ __device__ bool step(const int2 *velocities)
    {
        const int x = at.x >> 16, y = at.y >> 16;
        if (x < 0 || x >= WELL_MAP || y < 0 || y >= WELL_MAP || steps == WELL_STEPS)
            return false;
        const int2 v = velocities[y * WELL_MAP + x];
        if (v.x == 0 && v.y == 0)
            return false;
        at.x += v.x;
        at.y += v.y;
        steps++;
        return true;
    }
};

__global__ void well_path_thread_kernel(const int2 *velocities, const int2 *from, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= WELL_PATHS)
        return;
    WellPath path = { from[i], 0 };
    while (path.step(velocities))
        ;
    out[i] = path.steps;
}

__global__ void well_path_tickets_kernel(const int2 *velocities, const int2 *from, int *tickets,
                                         int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    WellPath path = { from[i], 0 };
    while (i < WELL_PATHS) {
        if (path.step(velocities))
            continue;
        out[i] = path.steps;
        i = gridDim.x * blockDim.x + atomicAdd(tickets, 1);
        if (i < WELL_PATHS)
            path = { from[i], 0 };
    }
}

static std::vector<int2> well_velocities()
{
    const std::vector<int> wells = integers(WELL_SINKS * 2, WELL_MAP, 20840);
    std::vector<int2> v(WELL_MAP * WELL_MAP);
    for (int i = 0; i < WELL_MAP * WELL_MAP; i++) {
        double vx = 0.12, vy = 0.03, nearest = 1e9;
        for (int w = 0; w < WELL_SINKS; w++) {
            const double dx = wells[w * 2] - i % WELL_MAP, dy = wells[w * 2 + 1] - i / WELL_MAP;
            const double square = dx * dx + dy * dy + 1e-3;
            nearest = std::min(nearest, square);
            vx += 1.5 * dx / square;
            vy += 1.5 * dy / square;
        }
        v[i] = { (int) (65536 * vx), (int) (65536 * vy) };
        if (nearest < 3)
            v[i] = { 0, 0 };
    }
    return v;
}

static void well_path(Run &run, bool by_tickets)
{
    const std::vector<int2> velocities = well_velocities();
    const std::vector<int> draws = integers(WELL_PATHS * 2, WELL_MAP << 16, 20841);
    std::vector<int2> from(WELL_PATHS);
    for (int i = 0; i < WELL_PATHS; i++)
        from[i] = { draws[i * 2], draws[i * 2 + 1] };
    const int2 *dv = run.upload(velocities), *df = run.upload(from);
    int *to = run.zeros<int>(WELL_PATHS), *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                well_path_tickets_kernel<<<132, 128>>>(dv, df, tickets, to);
            else
                well_path_thread_kernel<<<blocks_for(WELL_PATHS, 128), 128>>>(dv, df, to);
        },
        [=] { CHECK(cudaMemset(tickets, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, WELL_PATHS),
        [&](size_t i) {
            WellPath path = { from[i], 0 };
            while (path.step(velocities.data()))
                ;
            return path.steps;
        },
        0);
}

static void well_path_thread(Run &run)
{
    well_path(run, false);
}

static void well_path_tickets(Run &run)
{
    well_path(run, true);
}

#endif
