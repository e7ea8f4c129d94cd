// turns.cuh - managed memory of tables, pictures, networks and fleets that the host fills, changes
// and reads.
#ifndef TURNS_CUH
#define TURNS_CUH

#include "scenery.cuh"

// ---- The sums of a matrix's columns, read in row order or in column order ----

struct Sheet {
    enum { HIGH = 512, BROAD = 8192, COUNT = HIGH * BROAD, GROUPS = 4 };
    Flow &flow;
    float *values, *sums;

    Sheet(Flow &flow) : flow(flow)
    {
        values = flow.managed<float>(COUNT);
        sums = flow.zeros<float>(BROAD);
        for (int i = 0; i < COUNT; i++)
            values[i] = value(i);
    }

    // Small integers, so that sums are exact.
    static float value(int i)
    {
        return (i / BROAD * 5 + i) & 31;
    }

    void check()
    {
        const auto column_sum = [](size_t column) {
            double total = 0;
            for (int row = 0; row < HIGH; row++)
                total += value(row * BROAD + (int) column);
            return total;
        };
        flow.expect_some(flow.download(sums, BROAD), BROAD, 29, column_sum);
    }
};

// A thread per column and group of rows.
__global__ void sum_in_row_order(const float *values, float *sums)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * (Sheet::HIGH / Sheet::GROUPS);
    float total = 0;

    for (int row = first; row < first + Sheet::HIGH / Sheet::GROUPS; row++)
        total += values[row * Sheet::BROAD + column];
    atomicAdd(&sums[column], total);
}

// A warp per column: each lane reads another row.
__global__ void sum_in_column_order(const float *values, float *sums)
{
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float total = 0;

    for (int row = lane; row < Sheet::HIGH; row += 32)
        total += values[row * Sheet::BROAD + column];
    total = warp_sum(total);
    if (lane == 0)
        sums[column] = total;
}

static void sheet_row_order(Flow &flow)
{
    Sheet s(flow);
    const auto work = [&] {
        sum_in_row_order<<<dim3(s.BROAD / 128, s.GROUPS), 128, 0, flow.stream[0]>>>(s.values,
                                                                                    s.sums);
    };

    flow.time(1, work, NO_GATE);
    s.check();
}

static void sheet_column_order(Flow &flow)
{
    Sheet s(flow);
    const auto work = [&] {
        sum_in_column_order<<<s.BROAD / 8, 256, 0, flow.stream[0]>>>(s.values, s.sums);
    };

    flow.time(1, work, NO_GATE);
    s.check();
}

// ---- A picture is eroded into an array that was never used ----

static void erode_fresh(Flow &flow)
{
    const auto picture = floats(SCENE, 200, 0, 1);
    float *in = flow.managed<float>(SCENE), *out = flow.managed<float>(SCENE);

    std::copy(picture.begin(), picture.end(), in);
    flow.time(
        1, [&] { erode<<<SCENE / 256, 256, 0, flow.stream[0]>>>(in, out); }, NO_GATE);
    flow.expect_some(out, SCENE, 211, [&](size_t i) { return eroded(picture.data(), (int) i); });
}

// ---- Two warps of walkers in a network of roads ----

struct Roads {
    enum { PLACES = 48 << 10, WAYS = 8, WALKERS = 64, STEPS = 200 };
    int *first, *to; // managed, too
};

__host__ __device__ inline int place_after(const Roads *roads, int walker)
{
    int at = walker * (Roads::PLACES / Roads::WALKERS);

    for (int s = 0; s < Roads::STEPS; s++) {
        const int ways = roads->first[at + 1] - roads->first[at];
        at = roads->to[roads->first[at] + (at + s) % ways];
    }
    return at;
}

__global__ void wander(const Roads *roads, int *ends)
{
    const int walker = blockIdx.x * blockDim.x + threadIdx.x;

    ends[walker] = place_after(roads, walker);
}

static Roads *make_roads(Flow &flow)
{
    Roads *roads = flow.managed<Roads>(1);
    const auto ways = integers(Roads::PLACES, Roads::WAYS, 201);

    roads->first = flow.managed<int>(Roads::PLACES + 1);
    roads->to = flow.managed<int>(Roads::PLACES * Roads::WAYS);
    roads->first[0] = 0;
    for (int i = 0; i < Roads::PLACES; i++)
        roads->first[i + 1] = roads->first[i] + 1 + ways[i];
    const auto to = integers(roads->first[Roads::PLACES], Roads::PLACES, 202);
    std::copy(to.begin(), to.end(), roads->to);
    return roads;
}

static void roads_wandered(Flow &flow)
{
    const Roads *roads = make_roads(flow);
    int *ends = flow.zeros<int>(Roads::WALKERS);

    flow.time(
        1, [&] { wander<<<2, 32, 0, flow.stream[0]>>>(roads, ends); }, NO_GATE);
    flow.expect_some(flow.download(ends, Roads::WALKERS), Roads::WALKERS, 1,
                     [&](size_t i) { return place_after(roads, (int) i); });
}

// ---- A fleet moves, then small loads are counted; the host changes every second block ----

struct Fleet {
    enum { SHIPS = 512 << 10, PORTS = 12 << 10, BLOCK = 8 << 10 };
    float *places, *speeds;
    int *loads, *totals;
};

__global__ void sail(const Fleet *fleet)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    fleet->places[i] += fleet->speeds[i];
}

__global__ void load_ports(const Fleet *fleet)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    fleet->totals[i] += fleet->loads[i] * 3;
}

static Fleet *make_fleet(Flow &flow)
{
    Fleet *fleet = flow.managed<Fleet>(1);

    *fleet = { flow.managed<float>(Fleet::SHIPS), flow.managed<float>(Fleet::SHIPS),
               flow.managed<int>(Fleet::PORTS), flow.managed<int>(Fleet::PORTS) };
    for (int i = 0; i < Fleet::SHIPS; i++) {
        fleet->places[i] = i & 1023;
        fleet->speeds[i] = i & 7;
    }
    for (int i = 0; i < Fleet::PORTS; i++) {
        fleet->loads[i] = i & 63;
        fleet->totals[i] = i;
    }
    return fleet;
}

static bool is_in_second_block(size_t ship)
{
    return ship / Fleet::BLOCK % 2;
}

static void fleet_then_ports(Flow &flow)
{
    Fleet *fleet = make_fleet(flow);
    const auto work = [&] {
        sail<<<Fleet::SHIPS / 256, 256, 0, flow.stream[0]>>>(fleet);
        load_ports<<<Fleet::PORTS / 128, 128, 0, flow.stream[0]>>>(fleet);
    };

    flow.time(1, work, NO_GATE);
    for (int i = 0; i < Fleet::SHIPS; i++)
        if (is_in_second_block(i))
            fleet->places[i] = 2;
    flow.time(1, work, NO_GATE);
    flow.expect_some(fleet->places, Fleet::SHIPS, 499, [](size_t i) {
        return is_in_second_block(i) ? 2 + (i & 7) : (i & 1023) + 2 * (i & 7);
    });
    flow.expect_some(fleet->totals, Fleet::PORTS, 7,
                     [](size_t i) { return (double) i + 6 * (i & 63); });
}

// ---- A histogram that the host reads and clears between two launches ----

enum { SHADES = 4096 };

__global__ void count_shades(const unsigned *pixels, unsigned *shades)
{
    atomicAdd(&shades[pixels[blockIdx.x * blockDim.x + threadIdx.x] % SHADES], 1);
}

static void shades_read_cleared(Flow &flow)
{
    enum { COUNT = 384 << 10 };
    const auto values = words(COUNT, 203);
    uint32_t *pixels = flow.managed<uint32_t>(COUNT), *shades = flow.managed<uint32_t>(SHADES);
    std::vector<unsigned> wanted(SHADES), got(SHADES);
    const auto work = [&] {
        count_shades<<<COUNT / 256, 256, 0, flow.stream[0]>>>(pixels, shades);
    };

    std::copy(values.begin(), values.end(), pixels);
    for (int launch = 0; launch < 2; launch++) {
        std::fill(shades, shades + SHADES, 0);
        flow.time(1, work, NO_GATE);
        for (int s = 0; s < SHADES; s++)
            got[s] += shades[s];
    }
    for (uint32_t v : values)
        wanted[v % SHADES] += 2;
    flow.expect_some(got, SHADES, 1, [&](size_t i) { return wanted[i]; });
}

// ---- Prices between the points of a curve that is mostly read ----

__host__ __device__ inline float price_at(const float *curve, float at)
{
    const int i = (int) at;
    const float part = at - i;

    return curve[i] + part * (curve[i + 1] - curve[i]);
}

__global__ void find_prices(const float *curve, const float *places, float *prices)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    prices[i] += price_at(curve, places[i]);
}

// The host reads the curve between the two launches.
static void mostly_read_prices(Flow &flow, bool advised_before)
{
    enum { POINTS = 1 << 20, BYTES = POINTS * 4, QUESTIONS = 64 << 10 };
    const auto places = floats(QUESTIONS, 204, 0, POINTS - 2);
    float *curve = flow.managed<float>(POINTS), *prices = flow.managed<float>(QUESTIONS);
    const float *dplaces = flow.upload(places);
    const auto work = [&] {
        find_prices<<<QUESTIONS / 128, 128, 0, flow.stream[0]>>>(curve, dplaces, prices);
    };

    if (advised_before)
        advise(curve, BYTES, cudaMemAdviseSetReadMostly, true);
    for (int i = 0; i < POINTS; i++)
        curve[i] = (i * 7) & 1023;
    std::fill(prices, prices + QUESTIONS, 0.0f);
    if (!advised_before)
        advise(curve, BYTES, cudaMemAdviseSetReadMostly, true);
    flow.time(1, work, NO_GATE);
    const auto once = [&](size_t i) { return price_at(curve, places[i]); };
    flow.expect_some(prices, QUESTIONS, 97, once, 1e-4);
    flow.time(1, work, NO_GATE);
    flow.expect_some(
        prices, QUESTIONS, 97, [&](size_t i) { return 2 * once(i); }, 1e-4);
}

static void prices_advised_first(Flow &flow)
{
    mostly_read_prices(flow, true);
}

static void prices_advised_last(Flow &flow)
{
    mostly_read_prices(flow, false);
}

// ---- Angles to points: half of the angles are prefetched, and all points are prefetched back ----

static void polar_prefetched(Flow &flow)
{
    const auto values = floats(ANGLES, 205, 0, 3);
    float *angles = flow.managed<float>(ANGLES);
    float2 *points = flow.managed<float2>(ANGLES);
    const auto work = [&] {
        prefetch(angles, ANGLES / 2 * sizeof(float), true, flow.stream[0]);
        to_points<<<ANGLES / 256, 256, 0, flow.stream[0]>>>(angles, points);
        prefetch(points, ANGLES * sizeof(float2), false, flow.stream[0]);
    };

    std::copy(values.begin(), values.end(), angles);
    flow.time(1, work, NO_GATE);
    CHECK(cudaDeviceSynchronize());
    expect_points(flow, values, points);
}

#endif
