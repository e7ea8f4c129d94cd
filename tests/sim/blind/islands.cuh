// islands.cuh - islands: coasts at several scales, drifting genes, positions of ships, caves.
#ifndef BLIND_ISLANDS_CUH
#define BLIND_ISLANDS_CUH

#include "blind.cuh"

// ---- How many boxes of a map hold both land and water, for six sizes of boxes: each box by a
// thread of its own, or boxes from four smaller ones ----

enum { ISLAND_MAP = 2048, ISLAND_SIZES = 6, ISLAND_TILE = 64 };
enum { ISLAND_BOXES = ISLAND_MAP * ISLAND_MAP / 4 }; // of the smallest size

// 1: water, 2: land.
__host__ __device__ inline int island_box(const unsigned char *map, int size, int box)
{
    const int across = ISLAND_MAP / size;
    const int left = box % across * size, top = box / across * size;
    int seen = 0;
    for (int i = 0; i < size * size && seen != 3; i++)
        seen |= map[(top + i / size) * ISLAND_MAP + left + i % size];
    return seen;
}

// Boxes of 2 pixels are first, those of 64 pixels last. The boxes of a warp have one size.
__global__ void island_coast_boxes_kernel(const unsigned char *map, int *counts)
{
    int box = blockIdx.x * blockDim.x + threadIdx.x, level = 0, boxes = ISLAND_BOXES;
    for (; level < ISLAND_SIZES && box >= boxes; boxes /= 4, level++)
        box -= boxes;
    if (level == ISLAND_SIZES)
        return;
    const bool coast = island_box(map, 2 << level, box) == 3;
    const int count = __popc(__ballot_sync(~0u, coast));
    if (threadIdx.x % 32 == 0 && count)
        atomicAdd(&counts[level], count);
}

// Four neighbours in an array of `pitch` columns.
__device__ inline int island_four(const unsigned char *from, int pitch, int x, int y)
{
    const unsigned char *at = from + 2 * y * pitch + 2 * x;
    return at[0] | at[1] | at[pitch] | at[pitch + 1];
}

__global__ void island_coast_levels_kernel(const unsigned char *map, int *counts)
{
    __shared__ unsigned char boxes[2][32 * 32];
    __shared__ int sums[ISLAND_SIZES];
    if (threadIdx.x < ISLAND_SIZES)
        sums[threadIdx.x] = 0;
    const unsigned char *from = map + (blockIdx.y * ISLAND_MAP + blockIdx.x) * ISLAND_TILE;
    int pitch = ISLAND_MAP;
    for (int level = 0, side = 32; level < ISLAND_SIZES; level++, side /= 2) {
        __syncthreads();
        int count = 0;
        for (int i = threadIdx.x; i < side * side; i += blockDim.x) {
            const int seen = island_four(from, pitch, i % side, i / side);
            boxes[level & 1][i] = seen;
            count += seen == 3;
        }
        if (count)
            atomicAdd(&sums[level], count);
        from = boxes[level & 1];
        pitch = side;
    }
    __syncthreads();
    if (threadIdx.x < ISLAND_SIZES)
        atomicAdd(&counts[threadIdx.x], sums[threadIdx.x]);
}

static std::vector<unsigned char> island_map()
{
    const std::vector<float> noise = floats(ISLAND_MAP * ISLAND_MAP, 22010, -0.08f, 0.08f);
    std::vector<unsigned char> map(noise.size());
    for (int i = 0; i < (int) map.size(); i++) {
        const float x = i % ISLAND_MAP * 0.017f, y = i / ISLAND_MAP * 0.021f;
        const float height = sinf(x + sinf(y * 1.3f)) * cosf(y + 0.7f * sinf(x * 1.7f));
        map[i] = height + noise[i] > 0.35f ? 2 : 1;
    }
    return map;
}

static void island_coast(Run &run, bool levels)
{
    const std::vector<unsigned char> map = island_map();
    const unsigned char *from = run.upload(map);
    int *to = run.zeros<int>(ISLAND_SIZES);
    run.measure(
        [=] {
            const int tiles = ISLAND_MAP / ISLAND_TILE;
            if (levels)
                island_coast_levels_kernel<<<dim3(tiles, tiles), 256>>>(from, to);
            else
                island_coast_boxes_kernel<<<blocks_for(ISLAND_BOXES * 4 / 3, 256), 256>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, ISLAND_SIZES * sizeof(int))); });
    run.expect_all(
        run.output(to, ISLAND_SIZES),
        [&](size_t level) {
            int count = 0;
            for (int box = 0; box < ISLAND_BOXES >> 2 * level; box++)
                count += island_box(map.data(), 2 << level, box) == 3;
            return count;
        },
        0);
}

static void island_coast_boxes(Run &run)
{
    island_coast(run, false);
}

static void island_coast_levels(Run &run)
{
    island_coast(run, true);
}

// ---- Genes of small populations that drift until all individuals have the same one: bytes in
// shared memory, or bits of words. Some islands take much longer than others ----

enum { ISLAND_COUNT = 320, ISLAND_PEOPLE = 256, ISLAND_GENERATIONS = 1200 };

__host__ __device__ inline uint32_t island_hash(uint32_t x)
{
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    x = (x ^ x >> 12) * 0x297a2d39u;
    return x ^ x >> 15;
}

// Whose gene a child gets.
__host__ __device__ inline int island_parent(int island, int generation, int child)
{
    return island_hash((island * ISLAND_GENERATIONS + generation) * ISLAND_PEOPLE + child) %
           ISLAND_PEOPLE;
}

__global__ void island_drift_bytes_kernel(const int *starts, int2 *out)
{
    __shared__ unsigned char genes[2][ISLAND_PEOPLE];
    const int own = threadIdx.x, island = blockIdx.x;
    int generation = 0, gene = own < starts[island];
    genes[0][own] = gene;
    int count = __syncthreads_count(gene);
    while (count % ISLAND_PEOPLE && generation < ISLAND_GENERATIONS) {
        gene = genes[generation & 1][island_parent(island, generation, own)];
        generation++;
        genes[generation & 1][own] = gene;
        count = __syncthreads_count(gene);
    }
    if (own == 0)
        out[island] = { generation, count };
}

__device__ inline int island_ones(const uint32_t *genes)
{
    int count = 0;
#pragma unroll
    for (int k = 0; k < ISLAND_PEOPLE / 32; k++)
        count += __popc(genes[k]);
    return count;
}

__global__ void island_drift_bits_kernel(const int *starts, int2 *out)
{
    __shared__ uint32_t genes[2][ISLAND_PEOPLE / 32];
    const int own = threadIdx.x, island = blockIdx.x;
    int generation = 0, count;
    uint32_t word = __ballot_sync(~0u, own < starts[island]);
    for (;;) {
        if (own % 32 == 0)
            genes[generation & 1][own / 32] = word;
        __syncthreads();
        count = island_ones(genes[generation & 1]);
        if (count % ISLAND_PEOPLE == 0 || generation == ISLAND_GENERATIONS)
            break;
        const int parent = island_parent(island, generation, own);
        word = __ballot_sync(~0u, genes[generation & 1][parent / 32] >> parent % 32 & 1);
        generation++;
    }
    if (own == 0)
        out[island] = { generation, count };
}

static int2 island_drift_host(int island, int start)
{
    int genes[2][ISLAND_PEOPLE], generation = 0, count = start;
    for (int k = 0; k < ISLAND_PEOPLE; k++)
        genes[0][k] = k < start;
    while (count % ISLAND_PEOPLE && generation < ISLAND_GENERATIONS) {
        const int *from = genes[generation & 1];
        int *to = genes[++generation & 1];
        count = 0;
        for (int k = 0; k < ISLAND_PEOPLE; k++)
            count += to[k] = from[island_parent(island, generation - 1, k)];
    }
    return { generation, count };
}

static void island_drift(Run &run, void (*kernel)(const int *, int2 *))
{
    std::vector<int> starts = integers(ISLAND_COUNT, ISLAND_PEOPLE / 2 - 8, 22011);
    for (int &start : starts)
        start += 8;
    const int *from = run.upload(starts);
    int2 *to = run.zeros<int2>(ISLAND_COUNT);
    run.measure([=] { kernel<<<ISLAND_COUNT, ISLAND_PEOPLE>>>(from, to); });
    const std::vector<int2> got = run.output(to, ISLAND_COUNT);
    for (int i = 0; i < ISLAND_COUNT; i++) {
        const int2 wanted = island_drift_host(i, starts[i]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void island_drift_bytes(Run &run)
{
    island_drift(run, island_drift_bytes_kernel);
}

static void island_drift_bits(Run &run)
{
    island_drift(run, island_drift_bits_kernel);
}

// ---- Positions of ships from distances to beacons, by least squares in doubles: a thread per
// ship, or four lanes ----

enum { ISLAND_SHIPS = 40000, ISLAND_BEACONS = 12 };

__constant__ double2 island_beacons[ISLAND_BEACONS];

// Sums of the normal equations: xx, xy, yy, x, y.
struct IslandSums {
    double v[5];
};

__host__ __device__ inline void island_add(IslandSums &sums, double2 at, double2 beacon, double far)
{
    const double dx = at.x - beacon.x, dy = at.y - beacon.y, r = sqrt(dx * dx + dy * dy);
    const double x = dx / r, y = dy / r, off = far - r;
    sums.v[0] += x * x;
    sums.v[1] += x * y;
    sums.v[2] += y * y;
    sums.v[3] += x * off;
    sums.v[4] += y * off;
}

// Moves the position. True: the step was large.
__host__ __device__ inline bool island_step(const IslandSums &sums, double2 &at)
{
    const double *v = sums.v, scale = 1 / (v[0] * v[2] - v[1] * v[1]);
    const double x = (v[3] * v[2] - v[4] * v[1]) * scale, y = (v[4] * v[0] - v[3] * v[1]) * scale;
    at.x += x;
    at.y += y;
    return x * x + y * y > 1e-16;
}

__host__ __device__ inline double2 island_position(const double2 *beacons, const double *ranges)
{
    double2 at = { 50, 50 };
    bool moves = true;
    for (int round = 0; round < 12 && moves; round++) {
        IslandSums sums = {};
        for (int k = 0; k < ISLAND_BEACONS; k++)
            island_add(sums, at, beacons[k], ranges[k]);
        moves = island_step(sums, at);
    }
    return at;
}

__global__ void island_ship_thread_kernel(const double *ranges, double2 *out)
{
    const int ship = blockIdx.x * blockDim.x + threadIdx.x;
    if (ship < ISLAND_SHIPS)
        out[ship] = island_position(island_beacons, ranges + ship * ISLAND_BEACONS);
}

__global__ void island_ship_lanes_kernel(const double *ranges, double2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, ship = i / 4, part = i % 4;
    const uint32_t four = 15u << (threadIdx.x & 28);
    double2 at = { 50, 50 };
    bool moves = true;
    for (int round = 0; round < 12 && moves; round++) {
        IslandSums sums = {};
        for (int k = part; k < ISLAND_BEACONS; k += 4)
            island_add(sums, at, island_beacons[k], ranges[ship * ISLAND_BEACONS + k]);
        for (double &sum : sums.v) {
            sum += __shfl_xor_sync(four, sum, 1);
            sum += __shfl_xor_sync(four, sum, 2);
        }
        moves = island_step(sums, at);
    }
    if (part == 0)
        out[ship] = at;
}

static void island_ships(Run &run, bool lanes)
{
    const std::vector<float> v = floats(2 * ISLAND_SHIPS, 22012, 5, 95);
    const std::vector<float> w = floats(2 * ISLAND_BEACONS, 22013, 0, 100);
    const std::vector<float> errors = floats(ISLAND_SHIPS * ISLAND_BEACONS, 22014, -0.3f, 0.3f);
    std::vector<double2> beacons;
    std::vector<double> ranges;
    for (int k = 0; k < ISLAND_BEACONS; k++)
        beacons.push_back({ w[2 * k], w[2 * k + 1] });
    for (int i = 0; i < ISLAND_SHIPS * ISLAND_BEACONS; i++) {
        const double2 beacon = beacons[i % ISLAND_BEACONS];
        const int ship = i / ISLAND_BEACONS;
        ranges.push_back(hypot(v[2 * ship] - beacon.x, v[2 * ship + 1] - beacon.y) + errors[i]);
    }
    CHECK(cudaMemcpyToSymbol(island_beacons, beacons.data(), sizeof island_beacons));
    const double *from = run.upload(ranges);
    double2 *to = run.zeros<double2>(ISLAND_SHIPS);
    run.measure([=] {
        if (lanes)
            island_ship_lanes_kernel<<<ISLAND_SHIPS / 64, 256>>>(from, to);
        else
            island_ship_thread_kernel<<<blocks_for(ISLAND_SHIPS, 128), 128>>>(from, to);
    });
    const std::vector<double2> got = run.output(to, ISLAND_SHIPS);
    for (int i = 0; i < ISLAND_SHIPS; i += 3) {
        const double2 wanted = island_position(beacons.data(), &ranges[i * ISLAND_BEACONS]);
        run.expect(got[i].x, wanted.x, 1e-6);
        run.expect(got[i].y, wanted.y, 1e-6);
    }
}

static void island_ship_thread(Run &run)
{
    island_ships(run, false);
}

static void island_ship_lanes(Run &run)
{
    island_ships(run, true);
}

// ---- How far water gets into caves of 32 x 32 places, a row of bits per lane. Winding caves take
// many steps and come in groups: warps take caves in turn, or draw tickets ----

enum { ISLAND_CAVES = 6000, ISLAND_CAVE_BLOCKS = 264 };

__host__ __device__ inline uint32_t island_wet(uint32_t open, uint32_t up, uint32_t own,
                                               uint32_t down)
{
    return open & (own | own << 1 | own >> 1 | up | down);
}

// Water enters at the lowest open place of the first row. x: steps, y: wet places.
__device__ inline int2 island_fill(uint32_t open)
{
    const int lane = threadIdx.x % 32;
    uint32_t water = lane ? 0 : open & -open;
    int steps = 0;
    bool rises = true;
    while (rises) {
        const uint32_t up = __shfl_up_sync(~0u, water, 1), down = __shfl_down_sync(~0u, water, 1);
        const uint32_t next = island_wet(open, lane ? up : 0, water, lane < 31 ? down : 0);
        rises = __any_sync(~0u, next != water);
        water = next;
        steps++;
    }
    return { steps, (int) __reduce_add_sync(~0u, __popc(water)) };
}

__global__ void island_caves_turns_kernel(const uint32_t *caves, int2 *out, int *)
{
    const int warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < ISLAND_CAVES; i += warps) {
        const int2 filled = island_fill(caves[i * 32 + lane]);
        if (lane == 0)
            out[i] = filled;
    }
}

__global__ void island_caves_tickets_kernel(const uint32_t *caves, int2 *out, int *next)
{
    const int lane = threadIdx.x % 32;
    for (;;) {
        int i = 0;
        if (lane == 0)
            i = atomicAdd(next, 1);
        i = __shfl_sync(~0u, i, 0);
        if (i >= ISLAND_CAVES)
            return;
        const int2 filled = island_fill(caves[i * 32 + lane]);
        if (lane == 0)
            out[i] = filled;
    }
}

// A winding cave is one corridor that turns at each end.
static std::vector<uint32_t> island_caves()
{
    const std::vector<uint32_t> v = words(ISLAND_CAVES * 64, 22015);
    std::vector<uint32_t> caves(ISLAND_CAVES * 32);
    for (int i = 0; i < (int) caves.size(); i++) {
        const int row = i % 32;
        const uint32_t wall = row % 4 == 1 ? 1u << 31 : 1u;
        const bool winding = v[i / 512] % 17 == 0;
        caves[i] = winding ? (row % 2 ? wall : ~0u) : v[2 * i] | v[2 * i + 1];
    }
    return caves;
}

static int2 island_fill_host(const uint32_t *open)
{
    uint32_t water[34] = {}, next[32]; // a dry row above, and one below
    int steps = 0, wet = 0;
    bool rises = true;
    water[1] = open[0] & -open[0];
    for (; rises; steps++) {
        rises = false;
        for (int row = 0; row < 32; row++) {
            next[row] = island_wet(open[row], water[row], water[row + 1], water[row + 2]);
            rises |= next[row] != water[row + 1];
        }
        std::copy(next, next + 32, water + 1);
    }
    for (const uint32_t row : next)
        wet += __builtin_popcount(row);
    return { steps, wet };
}

static void island_caves_filled(Run &run, void (*kernel)(const uint32_t *, int2 *, int *))
{
    const std::vector<uint32_t> caves = island_caves();
    const uint32_t *from = run.upload(caves);
    int2 *to = run.zeros<int2>(ISLAND_CAVES);
    int *next = run.zeros<int>(1);
    run.measure([=] { kernel<<<ISLAND_CAVE_BLOCKS, 128>>>(from, to, next); },
                [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    const std::vector<int2> got = run.output(to, ISLAND_CAVES);
    for (int i = 0; i < ISLAND_CAVES; i += 3) {
        const int2 wanted = island_fill_host(&caves[i * 32]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void island_caves_turns(Run &run)
{
    island_caves_filled(run, island_caves_turns_kernel);
}

static void island_caves_tickets(Run &run)
{
    island_caves_filled(run, island_caves_tickets_kernel);
}

#endif
