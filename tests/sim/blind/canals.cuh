// canals.cuh - canals: boats at locks, depths of water, earth that is moved, silt.
#ifndef BLIND_CANALS_CUH
#define BLIND_CANALS_CUH

#include "blind.cuh"

// ---- Days at a lock, a thread per day: the boats that wait on both sides are in local memory, or
// in shared memory ----

enum { CANAL_DAYS = 24000, CANAL_BOATS = 120, CANAL_WAITING = 16, CANAL_LOCK_THREADS = 64 };

// Boats that wait: their arrivals times 4 plus their sizes. Place k is at [k * stride].
struct CanalQueue {
    uint16_t *boats;
    int stride, head, count;

    __host__ __device__ uint16_t &at(int k)
    {
        return boats[(head + k) % CANAL_WAITING * stride];
    }
};

struct CanalBoats {
    uint32_t state;
    int time, boats;

    // The next boat. From its high bits: the pause before it, its size and its side.
    __host__ __device__ void arrive()
    {
        state = state * 1664525u + 1013904223u;
        time += (state >> 8) % 11;
        boats--;
    }
};

// The boats that fit into the chamber leave the queue. Returns how long they waited.
__host__ __device__ inline int canal_fill(CanalQueue &queue, int now)
{
    int room = 6, waited = 0;
    while (queue.count && (queue.at(0) & 3) <= room) {
        room -= queue.at(0) & 3;
        waited += now - (queue.at(0) >> 2);
        queue.head = (queue.head + 1) % CANAL_WAITING;
        queue.count--;
    }
    return waited;
}

// How long all boats wait; those that find 16 others turn round, which counts as 100.
__host__ __device__ inline int canal_day(uint32_t seed, uint16_t *up, uint16_t *down, int stride)
{
    CanalQueue sides[2] = { { up, stride, 0, 0 }, { down, stride, 0, 0 } };
    CanalBoats next = { seed, 0, CANAL_BOATS };
    int now = 0, waited = 0;
    bool low = false;
    next.arrive();
    while (next.boats || sides[0].count || sides[1].count) {
        while (next.boats && next.time <= now) {
            CanalQueue &side = next.state >> 31 ? sides[1] : sides[0];
            if (side.count < CANAL_WAITING)
                side.at(side.count++) = (uint16_t) (next.time * 4 + 1 + (next.state >> 29) % 3);
            else
                waited += 100;
            next.arrive();
        }
        if (!sides[0].count && !sides[1].count && next.boats) {
            now = next.time;
            continue;
        }
        waited += canal_fill(low ? sides[1] : sides[0], now);
        low = !low;
        now += 12;
    }
    return waited;
}

__global__ void canal_lock_local_kernel(const uint32_t *seeds, int *out)
{
    uint16_t up[CANAL_WAITING], down[CANAL_WAITING];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = canal_day(seeds[i], up, down, 1);
}

__global__ void canal_lock_shared_kernel(const uint32_t *seeds, int *out)
{
    __shared__ uint16_t up[CANAL_WAITING * CANAL_LOCK_THREADS];
    __shared__ uint16_t down[CANAL_WAITING * CANAL_LOCK_THREADS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = canal_day(seeds[i], up + threadIdx.x, down + threadIdx.x, CANAL_LOCK_THREADS);
}

static void canal_lock(Run &run, void (*kernel)(const uint32_t *, int *))
{
    const std::vector<uint32_t> seeds = words(CANAL_DAYS, 21100);
    const uint32_t *from = run.upload(seeds);
    int *to = run.zeros<int>(CANAL_DAYS);
    run.measure([=] { kernel<<<CANAL_DAYS / CANAL_LOCK_THREADS, CANAL_LOCK_THREADS>>>(from, to); });
    run.expect_all(
        run.output(to, CANAL_DAYS),
        [&](size_t i) {
            uint16_t up[CANAL_WAITING], down[CANAL_WAITING];
            return canal_day(seeds[i], up, down, 1);
        },
        0, 7);
}

static void canal_lock_local(Run &run)
{
    canal_lock(run, canal_lock_local_kernel);
}

static void canal_lock_shared(Run &run)
{
    canal_lock(run, canal_lock_shared_kernel);
}

// ---- How deep water flows at which discharge (Manning's formula, banks 2 to 3): by Newton's
// method, or from a table in shared memory ----

enum { CANAL_SECTIONS = 524288, CANAL_DEPTHS = 1024 };

// The discharge of a canal of width 1, slope 1 and roughness 1, and how it grows with the depth.
template <class T> __host__ __device__ inline T canal_discharge(T depth, T *growth)
{
    const T area = depth * (1 + T(1.5) * depth), wet = 1 + T(3.6055513) * depth;
    const T radius = pow(area / wet, T(2.0 / 3));
    *growth = radius * (T(5.0 / 3) * (1 + 3 * depth) - T(2.0 / 3 * 3.6055513) * area / wet);
    return area * radius;
}

// A section: its width and its discharge as that of a canal of width 1.
__global__ void canal_depth_newton_kernel(const float2 *sections, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 section = sections[i];
    float depth = 0.5f, step = 1;
    for (int k = 0; k < 40 && fabsf(step) > 1e-5f * depth; k++) {
        float growth;
        step = (canal_discharge(depth, &growth) - section.y) / growth;
        depth = fmaxf(depth - step, depth / 8);
    }
    out[i] = depth * section.x;
}

__host__ __device__ inline float canal_table_depth(float at)
{
    return exp2f(at * (11.0f / CANAL_DEPTHS) - 8);
}

__global__ void canal_depth_table_kernel(const float2 *sections, float *out)
{
    __shared__ float table[CANAL_DEPTHS];
    for (int i = threadIdx.x; i < CANAL_DEPTHS; i += blockDim.x) {
        float growth;
        table[i] = canal_discharge(canal_table_depth(i), &growth);
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < CANAL_SECTIONS;
         i += gridDim.x * blockDim.x) {
        const float2 section = sections[i];
        int at = 0;
        for (int step = CANAL_DEPTHS / 2; step; step /= 2)
            at += table[at + step] <= section.y ? step : 0;
        const float low = canal_table_depth(at), high = canal_table_depth(at + 1);
        const float part =
            (section.y - table[at]) / (table[min(at + 1, CANAL_DEPTHS - 1)] - table[at]);
        out[i] = (low + part * (high - low)) * section.x;
    }
}

static void canal_depth(Run &run, bool table)
{
    const std::vector<float> widths = floats(CANAL_SECTIONS, 21110, 1, 20);
    const std::vector<float> logs = floats(CANAL_SECTIONS, 21111, -10, 5);
    std::vector<float2> sections(CANAL_SECTIONS);
    for (int i = 0; i < CANAL_SECTIONS; i++)
        sections[i] = { widths[i], exp2f(logs[i]) };
    const float2 *from = run.upload(sections);
    float *to = run.zeros<float>(CANAL_SECTIONS);
    run.measure([=] {
        if (table)
            canal_depth_table_kernel<<<396, 256>>>(from, to);
        else
            canal_depth_newton_kernel<<<CANAL_SECTIONS / 128, 128>>>(from, to);
    });
    const std::vector<float> got = run.output(to, CANAL_SECTIONS);
    for (int i = 0; i < CANAL_SECTIONS; i += 7) {
        double growth;
        const double discharge = canal_discharge<double>((double) got[i] / widths[i], &growth);
        run.expect(discharge / sections[i].y, 1, 1e-3);
    }
}

static void canal_depth_newton(Run &run)
{
    canal_depth(run, false);
}

static void canal_depth_table(Run &run)
{
    canal_depth(run, true);
}

// ---- Earth that planned canals cut and fill: a block per route, of which few are long, or blocks
// that draw tickets for pieces of routes ----

enum { CANAL_ROUTES = 96, CANAL_PIECE = 1024, CANAL_OFFSETS = 5 };

struct CanalPlan {
    const int16_t *ground; // five planes: heights of the ground across the canal
    int stations;          // in a plane
    const int2 *beds;      // per route: height at the first station, fall per station times 1024
    const int *first;      // per route: the first station
};

// Earth at a station: x is cut, y is filled.
__host__ __device__ inline int2 canal_earth(const CanalPlan &plan, int route, int station)
{
    const int2 bed = plan.beds[route];
    const int height = bed.x - (int) (((long long) bed.y * (station - plan.first[route])) >> 10);
    int2 earth = { 0, 0 };
    for (int k = 0; k < CANAL_OFFSETS; k++) {
        const int deep = plan.ground[k * plan.stations + station] - height;
        const int volume = abs(deep) * (40 + abs(deep) / 8) >> 6;
        (deep > 0 ? earth.x : earth.y) += volume;
    }
    return earth;
}

// Adds the earth of the stations from `begin` to `end` to the route's.
__device__ inline void canal_piece(const CanalPlan &plan, int route, int begin, int end,
                                   unsigned long long *out)
{
    unsigned long long cut = 0, fill = 0;
    for (int station = begin + threadIdx.x; station < end; station += blockDim.x) {
        const int2 earth = canal_earth(plan, route, station);
        cut += earth.x;
        fill += earth.y;
    }
    for (int d = 16; d; d /= 2) {
        cut += __shfl_down_sync(~0u, cut, d);
        fill += __shfl_down_sync(~0u, fill, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&out[2 * route], cut);
        atomicAdd(&out[2 * route + 1], fill);
    }
}

__global__ void canal_cuts_routes_kernel(CanalPlan plan, unsigned long long *out)
{
    const int route = blockIdx.x;
    canal_piece(plan, route, plan.first[route], plan.first[route + 1], out);
}

// Pieces: the route and the first station.
__global__ void canal_cuts_tickets_kernel(CanalPlan plan, const int2 *pieces, int count,
                                          int *tickets, unsigned long long *out)
{
    __shared__ int drawn;
    for (;;) {
        if (threadIdx.x == 0)
            drawn = atomicAdd(tickets, 1);
        __syncthreads();
        const int ticket = drawn;
        __syncthreads();
        if (ticket >= count)
            return;
        const int2 piece = pieces[ticket];
        const int end = min(piece.y + CANAL_PIECE, plan.first[piece.x + 1]);
        canal_piece(plan, piece.x, piece.y, end, out);
    }
}

static std::vector<int16_t> canal_ground(size_t stations)
{
    const std::vector<int> draws = integers(CANAL_OFFSETS * stations, 300, 21122);
    std::vector<int16_t> ground(draws.size());
    for (size_t i = 0; i < ground.size(); i++)
        ground[i] = (int16_t) (2000 + 600 * sin(i % stations * 0.004) + draws[i]);
    return ground;
}

static void canal_cuts(Run &run, bool by_tickets)
{
    const std::vector<int> lengths = integers(CANAL_ROUTES, 12000, 21120);
    const std::vector<int> heights = integers(CANAL_ROUTES * 2, 400, 21121);
    std::vector<int> first(1, 0);
    std::vector<int2> beds, pieces;
    for (int r = 0; r < CANAL_ROUTES; r++) {
        first.push_back(first[r] + 2000 + lengths[r] * (r % 19 == 11 ? 12 : 1));
        beds.push_back({ 2000 + heights[2 * r], heights[2 * r + 1] / 4 });
        for (int at = first[r]; at < first[r + 1]; at += CANAL_PIECE)
            pieces.push_back({ r, at });
    }
    const int stations = first[CANAL_ROUTES], count = (int) pieces.size();
    const std::vector<int16_t> ground = canal_ground(stations);
    const CanalPlan host = { ground.data(), stations, beds.data(), first.data() };
    const CanalPlan device = { run.upload(ground), stations, run.upload(beds), run.upload(first) };
    const int2 *dp = run.upload(pieces);
    int *tickets = run.zeros<int>(1);
    unsigned long long *to = run.zeros<unsigned long long>(2 * CANAL_ROUTES);
    run.measure(
        [=] {
            if (by_tickets)
                canal_cuts_tickets_kernel<<<264, 256>>>(device, dp, count, tickets, to);
            else
                canal_cuts_routes_kernel<<<CANAL_ROUTES, 256>>>(device, to);
        },
        [=] {
            CHECK(cudaMemset(tickets, 0, sizeof(int)));
            CHECK(cudaMemset(to, 0, 2 * CANAL_ROUTES * sizeof *to));
        });
    const std::vector<unsigned long long> got = run.output(to, 2 * CANAL_ROUTES);
    for (int r = 0; r < CANAL_ROUTES; r++) {
        double cut = 0, fill = 0;
        for (int station = first[r]; station < first[r + 1]; station++) {
            const int2 earth = canal_earth(host, r, station);
            cut += earth.x;
            fill += earth.y;
        }
        run.expect((double) got[2 * r], cut, 0);
        run.expect((double) got[2 * r + 1], fill, 0);
    }
}

static void canal_cuts_routes(Run &run)
{
    canal_cuts(run, false);
}

static void canal_cuts_tickets(Run &run)
{
    canal_cuts(run, true);
}

// ---- Silt of eight sizes in a section along a canal, which drifts and sinks: a record of eight
// values per cell, or a plane per size ----

enum { CANAL_LENGTH = 1024, CANAL_LAYERS = 480, CANAL_SIZES = 8 };
enum { CANAL_CELLS = CANAL_LENGTH * CANAL_LAYERS };

__constant__ float canal_sinking[CANAL_SIZES];

// Value k of a cell is at [cell * cell_step + k * size_step]. Layer 0 is at the surface.
template <int CELL_STEP, int SIZE_STEP>
__host__ __device__ inline float canal_drift(const float *silt, const float *sinking, int x,
                                             int layer, int k)
{
    const int at = (layer * CANAL_LENGTH + x) * CELL_STEP + k * SIZE_STEP;
    const float own = silt[at], speed = 0.1f * logf(2.0f + (CANAL_LAYERS - layer));
    const float left = x ? silt[at - CELL_STEP] : 0.5f;
    const float above = layer ? silt[at - CANAL_LENGTH * CELL_STEP] : 0.0f;
    const float left_above = x && layer ? silt[at - (CANAL_LENGTH + 1) * CELL_STEP] : 0.0f;
    const float drifted = own + speed * (left - own);
    return drifted + sinking[k] * (above + speed * (left_above - above) - drifted);
}

template <int CELL_STEP, int SIZE_STEP>
__global__ void canal_silt_kernel(const float *silt, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, layer = blockIdx.y;
    const int at = (layer * CANAL_LENGTH + x) * CELL_STEP;
    for (int k = 0; k < CANAL_SIZES; k++)
        out[at + k * SIZE_STEP] =
            canal_drift<CELL_STEP, SIZE_STEP>(silt, canal_sinking, x, layer, k);
}

template <int CELL_STEP, int SIZE_STEP> static void canal_silt(Run &run)
{
    const size_t n = (size_t) CANAL_CELLS * CANAL_SIZES;
    const std::vector<float> silt = floats(n, 21130, 0, 1);
    const std::vector<float> sinking = floats(CANAL_SIZES, 21131, 0.01f, 0.4f);
    CHECK(cudaMemcpyToSymbol(canal_sinking, sinking.data(), sizeof canal_sinking));
    const float *from = run.upload(silt);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        canal_silt_kernel<CELL_STEP, SIZE_STEP>
            <<<dim3(CANAL_LENGTH / 128, CANAL_LAYERS), 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const int cell = i / CELL_STEP % CANAL_CELLS, k = i / SIZE_STEP % CANAL_SIZES;
            return canal_drift<CELL_STEP, SIZE_STEP>(silt.data(), sinking.data(),
                                                     cell % CANAL_LENGTH, cell / CANAL_LENGTH, k);
        },
        1e-5, 3);
}

static void canal_silt_records(Run &run)
{
    canal_silt<CANAL_SIZES, 1>(run);
}

static void canal_silt_planes(Run &run)
{
    canal_silt<1, CANAL_CELLS>(run);
}

#endif
