// routes.cuh - ways through maps: cheapest paths, distances to depots, loads of trucks.
#ifndef BLIND_ROUTES_CUH
#define BLIND_ROUTES_CUH

#include "blind.cuh"

// ---- Cheapest paths from the corner of small maps: one thread per cell, or a warp that sweeps
// ----

enum { MAP_COUNT = 140, MAP_SIDE = 32, MAP_CELLS = MAP_SIDE * MAP_SIDE, MAP_FAR = 1 << 28 };

// All cells are relaxed from their neighbours until none improves. `tolls`: to enter a cell.
__global__ void routes_map_cells_kernel(const int *tolls, int *out)
{
    __shared__ int costs[2][MAP_SIDE + 2][MAP_SIDE + 2];
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    const int cell = blockIdx.x * MAP_CELLS + threadIdx.y * MAP_SIDE + threadIdx.x;
    int *all = &costs[0][0][0];
    for (int i = threadIdx.y * MAP_SIDE + threadIdx.x; i < 2 * (MAP_SIDE + 2) * (MAP_SIDE + 2);
         i += MAP_CELLS)
        all[i] = MAP_FAR;
    __syncthreads();
    if (x == 1 && y == 1)
        costs[0][1][1] = 0;
    __syncthreads();
    const int toll = tolls[cell];
    int from = 0, better;
    do {
        const int(*c)[MAP_SIDE + 2] = costs[from];
        const int way = min(min(c[y - 1][x], c[y + 1][x]), min(c[y][x - 1], c[y][x + 1])) + toll;
        const int old = c[y][x];
        costs[1 - from][y][x] = min(old, way);
        from = 1 - from;
        better = __syncthreads_or(way < old);
    } while (better);
    out[cell] = costs[from][y][x];
}

// Lane x holds the cell of column x. `paid` is the sum of tolls up to the cell.
__device__ inline int routes_along_row(int cost, int paid, int toll)
{
    int right = cost - paid, left = cost + paid - toll;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        right = min(right, __shfl_up_sync(~0u, right, d));
        left = min(left, __shfl_down_sync(~0u, left, d));
    }
    return min(right + paid, left - paid + toll);
}

// The rows are swept down and up, until no cell improves.
__global__ void routes_map_sweeps_kernel(const int *tolls, int *out)
{
    __shared__ int costs[MAP_SIDE][MAP_SIDE], paid[MAP_SIDE][MAP_SIDE];
    const int x = threadIdx.x;
    const int *mine = tolls + blockIdx.x * MAP_CELLS;
    for (int y = 0; y < MAP_SIDE; y++) {
        int sum = mine[y * MAP_SIDE + x];
        for (int d = 1; d < 32; d *= 2) {
            const int before = __shfl_up_sync(~0u, sum, d);
            sum += x >= d ? before : 0;
        }
        paid[y][x] = sum;
        costs[y][x] = x || y ? MAP_FAR : 0;
    }
    bool better;
    do {
        better = false;
        int above = MAP_FAR;
        for (int step = 0; step < 2 * MAP_SIDE; step++) {
            const int y = step < MAP_SIDE ? step : 2 * MAP_SIDE - 1 - step;
            const int toll = mine[y * MAP_SIDE + x], old = costs[y][x];
            above = routes_along_row(min(old, above + toll), paid[y][x], toll);
            better |= above < old;
            costs[y][x] = above;
        }
    } while (__any_sync(~0u, better));
    for (int y = 0; y < MAP_SIDE; y++)
        out[blockIdx.x * MAP_CELLS + y * MAP_SIDE + x] = costs[y][x];
}

static std::vector<int> routes_map_costs(const int *tolls)
{
    std::vector<int> costs(MAP_CELLS, MAP_FAR);
    costs[0] = 0;
    for (bool better = true; better;) {
        better = false;
        for (int i = 0; i < MAP_CELLS; i++) {
            const int x = i % MAP_SIDE, y = i / MAP_SIDE;
            int least = MAP_FAR;
            least = std::min(least, x ? costs[i - 1] : MAP_FAR);
            least = std::min(least, x < MAP_SIDE - 1 ? costs[i + 1] : MAP_FAR);
            least = std::min(least, y ? costs[i - MAP_SIDE] : MAP_FAR);
            least = std::min(least, y < MAP_SIDE - 1 ? costs[i + MAP_SIDE] : MAP_FAR);
            better |= least + tolls[i] < costs[i];
            costs[i] = std::min(costs[i], least + tolls[i]);
        }
    }
    return costs;
}

// Some maps have walls, which cost much more.
static void routes_map(Run &run, void (*kernel)(const int *, int *), dim3 block)
{
    std::vector<int> tolls = integers(MAP_COUNT * MAP_CELLS, 20, 16300);
    for (int i = 0; i < MAP_COUNT * MAP_CELLS; i++)
        tolls[i] += mix(i + 16301) % 1000 < i / MAP_CELLS * 2 ? 300 : 1;
    const int *from = run.upload(tolls);
    int *to = run.zeros<int>(tolls.size());
    run.measure([=] { kernel<<<MAP_COUNT, block>>>(from, to); });
    const std::vector<int> got = run.output(to, tolls.size());
    for (int map = 0; map < MAP_COUNT; map += 9) {
        const std::vector<int> costs = routes_map_costs(&tolls[map * MAP_CELLS]);
        for (int i = 0; i < MAP_CELLS; i++)
            run.expect(got[map * MAP_CELLS + i], costs[i], 0);
    }
}

static void routes_map_cells(Run &run)
{
    routes_map(run, routes_map_cells_kernel, dim3(MAP_SIDE, MAP_SIDE));
}

static void routes_map_sweeps(Run &run)
{
    routes_map(run, routes_map_sweeps_kernel, dim3(32));
}

// ---- Distances to depots after 24 steps: one kernel per step, or 4 steps in shared memory ----

enum { FLOOD_SIDE = 480, FLOOD_STEPS = 24, FLOOD_CORE = 24, FLOOD_REGION = 32 };
enum { FLOOD_CELLS = FLOOD_SIDE * FLOOD_SIDE, FLOOD_FAR = 1 << 28 };

__global__ void routes_flood_step_kernel(const int *tolls, const int *old, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * FLOOD_SIDE + x;
    int least = old[i] - tolls[i];
    if (x > 0)
        least = min(least, old[i - 1]);
    if (x < FLOOD_SIDE - 1)
        least = min(least, old[i + 1]);
    if (y > 0)
        least = min(least, old[i - FLOOD_SIDE]);
    if (y < FLOOD_SIDE - 1)
        least = min(least, old[i + FLOOD_SIDE]);
    out[i] = least + tolls[i];
}

// After four steps, the core of each region of 32 x 32 cells is right, and is written.
__global__ void routes_flood_tiles_kernel(const int *tolls, const int *old, int *out)
{
    __shared__ int costs[2][FLOOD_REGION][FLOOD_REGION + 1];
    const int edge = (FLOOD_REGION - FLOOD_CORE) / 2, tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * FLOOD_CORE + tx - edge, y = blockIdx.y * FLOOD_CORE + ty - edge;
    const bool inside = x >= 0 && y >= 0 && x < FLOOD_SIDE && y < FLOOD_SIDE;
    const int i = y * FLOOD_SIDE + x;
    const int toll = inside ? tolls[i] : FLOOD_FAR;
    int cost = inside ? old[i] : FLOOD_FAR;
    for (int step = 0; step < edge; step++) {
        int(*c)[FLOOD_REGION + 1] = costs[step & 1];
        c[ty][tx] = cost;
        __syncthreads();
        const int left = c[ty][max(tx - 1, 0)], right = c[ty][min(tx + 1, FLOOD_REGION - 1)];
        const int up = c[max(ty - 1, 0)][tx], down = c[min(ty + 1, FLOOD_REGION - 1)][tx];
        cost = min(cost, min(min(left, right), min(up, down)) + toll);
    }
    const bool core = tx >= edge && ty >= edge && tx < edge + FLOOD_CORE && ty < edge + FLOOD_CORE;
    if (core)
        out[i] = cost;
}

static void routes_flood_launch(bool tiles, const int *tolls, int *costs[2])
{
    const dim3 tiled(FLOOD_SIDE / FLOOD_CORE, FLOOD_SIDE / FLOOD_CORE);
    const dim3 plain(FLOOD_SIDE / 32, FLOOD_SIDE / 8);
    const int steps = tiles ? (FLOOD_REGION - FLOOD_CORE) / 2 : 1;
    for (int k = 0; k < FLOOD_STEPS / steps; k++)
        if (tiles)
            routes_flood_tiles_kernel<<<tiled, dim3(FLOOD_REGION, FLOOD_REGION)>>>(
                tolls, costs[k % 2], costs[1 - k % 2]);
        else
            routes_flood_step_kernel<<<plain, dim3(32, 8)>>>(tolls, costs[k % 2], costs[1 - k % 2]);
}

static std::vector<int> routes_flood_host(const std::vector<int> &tolls, std::vector<int> costs)
{
    for (int step = 0; step < FLOOD_STEPS; step++) {
        const std::vector<int> old = costs;
        for (int i = 0; i < FLOOD_CELLS; i++) {
            const int x = i % FLOOD_SIDE, y = i / FLOOD_SIDE;
            int least = FLOOD_FAR;
            least = std::min(least, x ? old[i - 1] : FLOOD_FAR);
            least = std::min(least, x < FLOOD_SIDE - 1 ? old[i + 1] : FLOOD_FAR);
            least = std::min(least, y ? old[i - FLOOD_SIDE] : FLOOD_FAR);
            least = std::min(least, y < FLOOD_SIDE - 1 ? old[i + FLOOD_SIDE] : FLOOD_FAR);
            costs[i] = std::min(old[i], least + tolls[i]);
        }
    }
    return costs;
}

// Each step count is even, so that the result is in the first array.
static void routes_flood(Run &run, bool tiles)
{
    std::vector<int> tolls = integers(FLOOD_CELLS, 9, 16302), start(FLOOD_CELLS, FLOOD_FAR);
    for (int &toll : tolls)
        toll++;
    for (int i = 0; i < FLOOD_CELLS; i++)
        if (mix(i + 16303) % 700 == 0)
            start[i] = 0;
    const int *dt = run.upload(tolls), *ds = run.upload(start);
    int *costs[2] = { run.zeros<int>(FLOOD_CELLS), run.zeros<int>(FLOOD_CELLS) };
    run.measure([&] { routes_flood_launch(tiles, dt, costs); },
                [&] {
                    const size_t size = FLOOD_CELLS * sizeof(int);
                    CHECK(cudaMemcpy(costs[0], ds, size, cudaMemcpyDeviceToDevice));
                });
    const std::vector<int> wanted = routes_flood_host(tolls, start);
    run.expect_all(
        run.output(costs[0], FLOOD_CELLS), [&](size_t i) { return wanted[i]; }, 0, 11);
}

static void routes_flood_steps(Run &run)
{
    routes_flood(run, false);
}

static void routes_flood_tiles(Run &run)
{
    routes_flood(run, true);
}

// ---- The best load of each truck, by a table of capacities: one block per truck, or one thread
// ----

enum { TRUCKS = 3520, TRUCK_ROOM = 256, TRUCK_ITEMS = 32 };

// An item of a truck: weight and value. The value of the best load of each capacity is written.
__global__ void routes_load_block_kernel(const int2 *items, const int *counts, int *out)
{
    __shared__ int best[2][TRUCK_ROOM];
    const int truck = blockIdx.x, room = threadIdx.x, count = counts[truck];
    int mine = 0;
    for (int k = 0; k < count; k++) {
        const int2 item = items[truck * TRUCK_ITEMS + k];
        best[k & 1][room] = mine;
        __syncthreads();
        if (room >= item.x)
            mine = max(mine, best[k & 1][room - item.x] + item.y);
    }
    out[truck * TRUCK_ROOM + room] = mine;
}

// The values of all trucks for one capacity are stored together.
__global__ void routes_load_thread_kernel(const int2 *items, const int *counts, int *out)
{
    const int truck = blockIdx.x * blockDim.x + threadIdx.x, count = counts[truck];
    int *best = out + truck;
    for (int room = 0; room < TRUCK_ROOM; room++)
        best[room * TRUCKS] = 0;
    for (int k = 0; k < count; k++) {
        const int2 item = items[truck * TRUCK_ITEMS + k];
        for (int room = TRUCK_ROOM - 1; room >= item.x; room--) {
            const int with = best[(room - item.x) * TRUCKS] + item.y;
            if (with > best[room * TRUCKS])
                best[room * TRUCKS] = with;
        }
    }
}

static std::vector<int> routes_best_load(const int2 *items, int count)
{
    std::vector<int> best(TRUCK_ROOM, 0);
    for (int k = 0; k < count; k++)
        for (int room = TRUCK_ROOM - 1; room >= items[k].x; room--)
            best[room] = std::max(best[room], best[room - items[k].x] + items[k].y);
    return best;
}

static void routes_load(Run &run, bool blocks)
{
    const std::vector<uint32_t> random = words(TRUCKS * TRUCK_ITEMS, 16304);
    std::vector<int> counts = integers(TRUCKS, TRUCK_ITEMS - 7, 16305);
    std::vector<int2> items;
    for (int &count : counts)
        count += 8;
    for (uint32_t r : random)
        items.push_back(make_int2(4 + r % 60, 1 + (r >> 16) % 100));
    const int2 *di = run.upload(items);
    const int *dc = run.upload(counts);
    int *to = run.zeros<int>(TRUCKS * TRUCK_ROOM);
    run.measure([=] {
        if (blocks)
            routes_load_block_kernel<<<TRUCKS, TRUCK_ROOM>>>(di, dc, to);
        else
            routes_load_thread_kernel<<<TRUCKS / 64, 64>>>(di, dc, to);
    });
    const std::vector<int> got = run.output(to, TRUCKS * TRUCK_ROOM);
    for (int truck = 0; truck < TRUCKS; truck += 23) {
        const std::vector<int> best = routes_best_load(&items[truck * TRUCK_ITEMS], counts[truck]);
        for (int room = 0; room < TRUCK_ROOM; room++)
            run.expect(got[blocks ? truck * TRUCK_ROOM + room : room * TRUCKS + truck], best[room],
                       0);
    }
}

static void routes_load_block(Run &run)
{
    routes_load(run, true);
}

static void routes_load_thread(Run &run)
{
    routes_load(run, false);
}

// ---- The eight nearest depots of each customer: a sorted list in registers, or a heap ----

enum { NEAR_CUSTOMERS = 17408, NEAR_DEPOTS = 250, NEAR_KEPT = 8 };

// The square of the distance, then the depot's number: all keys differ.
__host__ __device__ inline uint32_t routes_near_key(int2 a, int2 b, int depot)
{
    const int dx = a.x - b.x, dy = a.y - b.y;
    return (uint32_t) (dx * dx + dy * dy) << 8 | depot;
}

// Each value of the list keeps the smaller key and passes the other one on.
struct NearList {
    uint32_t keys[NEAR_KEPT];

    __device__ bool accepts(uint32_t key) const
    {
        return key < keys[NEAR_KEPT - 1];
    }

    __device__ void insert(uint32_t key)
    {
#pragma unroll
        for (int k = 0; k < NEAR_KEPT; k++) {
            const uint32_t low = min(keys[k], key);
            key = max(keys[k], key);
            keys[k] = low;
        }
    }
};

// The greatest key is at the root; a new key replaces it and sinks.
struct NearHeap {
    uint32_t keys[NEAR_KEPT];

    __device__ bool accepts(uint32_t key) const
    {
        return key < keys[0];
    }

    __device__ void insert(uint32_t key)
    {
        int at = 0;
        for (int child = 1; child < NEAR_KEPT; child = 2 * at + 1) {
            if (child + 1 < NEAR_KEPT && keys[child + 1] > keys[child])
                child++;
            if (keys[child] <= key)
                break;
            keys[at] = keys[child];
            at = child;
        }
        keys[at] = key;
    }
};

template <class Kept>
__global__ void routes_near_kernel(const int2 *customers, const int2 *depots, uint32_t *out)
{
    __shared__ int2 all[NEAR_DEPOTS];
    for (int k = threadIdx.x; k < NEAR_DEPOTS; k += blockDim.x)
        all[k] = depots[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int2 mine = customers[i];
    Kept kept;
    for (int k = 0; k < NEAR_KEPT; k++)
        kept.keys[k] = ~0u;
    for (int k = 0; k < NEAR_DEPOTS; k++) {
        const uint32_t key = routes_near_key(mine, all[k], k);
        if (kept.accepts(key))
            kept.insert(key);
    }
    for (int k = 0; k < NEAR_KEPT; k++)
        out[k * NEAR_CUSTOMERS + i] = kept.keys[k];
}

static std::vector<int2> routes_places(int count, uint32_t seed)
{
    std::vector<int2> places;
    for (uint32_t r : words(count, seed))
        places.push_back(make_int2((int) (r % 1000), (int) ((r >> 12) % 1000)));
    return places;
}

template <class Kept> static void routes_near(Run &run)
{
    const std::vector<int2> customers = routes_places(NEAR_CUSTOMERS, 16306);
    const std::vector<int2> depots = routes_places(NEAR_DEPOTS, 16307);
    const int2 *dc = run.upload(customers), *dd = run.upload(depots);
    uint32_t *to = run.zeros<uint32_t>(NEAR_CUSTOMERS * NEAR_KEPT);
    run.measure([=] { routes_near_kernel<Kept><<<NEAR_CUSTOMERS / 64, 64>>>(dc, dd, to); });
    const std::vector<uint32_t> got = run.output(to, NEAR_CUSTOMERS * NEAR_KEPT);
    for (int i = 0; i < NEAR_CUSTOMERS; i += 71) {
        std::vector<uint32_t> keys, found;
        for (int k = 0; k < NEAR_DEPOTS; k++)
            keys.push_back(routes_near_key(customers[i], depots[k], k));
        for (int k = 0; k < NEAR_KEPT; k++)
            found.push_back(got[k * NEAR_CUSTOMERS + i]);
        std::sort(keys.begin(), keys.end());
        std::sort(found.begin(), found.end());
        for (int k = 0; k < NEAR_KEPT; k++)
            run.expect(found[k], keys[k], 0);
    }
}

static void routes_near_list(Run &run)
{
    routes_near<NearList>(run);
}

static void routes_near_heap(Run &run)
{
    routes_near<NearHeap>(run);
}

#endif
