// junctions.cuh - traffic: cars on ring roads, queues at signals, flows of trips, green waves.
#ifndef BLIND_JUNCTIONS_CUH
#define BLIND_JUNCTIONS_CUH

#include "blind.cuh"

__host__ __device__ inline uint32_t junction_random(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// ---- Cars that follow each other on ring roads: a kernel per second, or a block per road ----

enum { RING_ROADS = 2400, RING_CARS = 96, RING_CELLS = 512, RING_SECONDS = 16 };

// Speeds up, keeps its distance to the car in front, and dawdles now and then. The value has the
// cell above 8 bits of speed.
__host__ __device__ inline int ring_move(int car, int front, uint32_t id, int second)
{
    const int cell = car >> 8, speed = car & 255;
    int gap = (front >> 8) - cell - 1;
    if (gap < 0)
        gap += RING_CELLS;
    int next = speed < 5 ? speed + 1 : 5;
    if (next > gap)
        next = gap;
    if (next > 0 && junction_random(id * 64 + second) % 4 == 0)
        next--;
    return (cell + next) % RING_CELLS << 8 | next;
}

__global__ void ring_second_kernel(const int *in, int *out, int second)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, road = i / RING_CARS;
    if (road >= RING_ROADS)
        return;
    const int front = road * RING_CARS + (i + 1) % RING_CARS;
    out[i] = ring_move(in[i], in[front], i, second);
}

__global__ void ring_road_kernel(const int *in, int *out)
{
    __shared__ int cars[RING_CARS];
    const int k = threadIdx.x, i = blockIdx.x * RING_CARS + k;
    int mine = in[i];
    for (int second = 0; second < RING_SECONDS; second++) {
        cars[k] = mine;
        __syncthreads();
        mine = ring_move(mine, cars[(k + 1) % RING_CARS], i, second);
        __syncthreads();
    }
    out[i] = mine;
}

static std::vector<int> ring_cars()
{
    const std::vector<int> v = integers(RING_ROADS * RING_CARS, 5, 16840);
    std::vector<int> cars(v.size());
    for (size_t i = 0; i < v.size(); i++)
        cars[i] = ((int) (i % RING_CARS) * 5 + v[i]) << 8 | v[i] % 3;
    return cars;
}

static std::vector<int> ring_host(std::vector<int> cars)
{
    std::vector<int> next(cars.size());
    for (int second = 0; second < RING_SECONDS; second++) {
        for (int i = 0; i < (int) cars.size(); i++)
            next[i] = ring_move(cars[i], cars[i / RING_CARS * RING_CARS + (i + 1) % RING_CARS], i,
                                second);
        cars.swap(next);
    }
    return cars;
}

static void ring(Run &run, bool roads)
{
    const std::vector<int> cars = ring_cars(), wanted = ring_host(cars);
    const int n = RING_ROADS * RING_CARS;
    const int *from = run.upload(cars);
    int *a = run.zeros<int>(n), *b = run.zeros<int>(n);
    run.measure([=] {
        if (roads) {
            ring_road_kernel<<<RING_ROADS, RING_CARS>>>(from, b);
            return;
        }
        const int *in = from;
        for (int second = 0; second < RING_SECONDS; second++) {
            int *out = second % 2 ? b : a;
            ring_second_kernel<<<blocks_for(n, 256), 256>>>(in, out, second);
            in = out;
        }
    });
    run.expect_all(
        run.output(b, n), [&](size_t i) { return wanted[i]; }, 0, 11);
}

static void junction_cars_seconds(Run &run)
{
    ring(run, false);
}

static void junction_cars_roads(Run &run)
{
    ring(run, true);
}

// ---- Queues at signals that switch by demand: a thread per junction, or one per approach ----

enum { SIGNALS = 10240, SIGNAL_SECONDS = 180, SIGNAL_GREEN = 25 };

__host__ __device__ inline int signal_arrivals(uint32_t id, int second, int busy)
{
    return (int) (junction_random(id * 256 + second) % 100) < busy;
}

// Two cars per second pass. A signal switches when the queue is empty or its time is up.
__host__ __device__ inline int signal_serve(int queue)
{
    return queue > 2 ? queue - 2 : 0;
}

// The sum of the queues over all seconds.
__host__ __device__ inline int signal_wait(const int *busy, int i)
{
    int queue[4] = { 0, 0, 0, 0 }, phase = 0, green = 0, wait = 0;
    for (int second = 0; second < SIGNAL_SECONDS; second++) {
        for (int k = 0; k < 4; k++)
            queue[k] += signal_arrivals(i * 4 + k, second, busy[i * 4 + k]);
        queue[phase] = signal_serve(queue[phase]);
        if (queue[phase] == 0 || ++green == SIGNAL_GREEN) {
            phase = (phase + 1) % 4;
            green = 0;
        }
        for (int k = 0; k < 4; k++)
            wait += queue[k];
    }
    return wait;
}

__global__ void signal_thread_kernel(const int *busy, int *waits)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SIGNALS)
        waits[i] = signal_wait(busy, i);
}

__global__ void signal_lanes_kernel(const int *busy, int *waits)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % 4;
    const int mine = busy[i];
    int queue = 0, phase = 0, green = 0, wait = 0;
    for (int second = 0; second < SIGNAL_SECONDS; second++) {
        queue += signal_arrivals(i, second, mine);
        if (k == phase)
            queue = signal_serve(queue);
        green++;
        if (__shfl_sync(~0u, queue, phase, 4) == 0 || green == SIGNAL_GREEN) {
            phase = (phase + 1) % 4;
            green = 0;
        }
        wait += queue;
    }
    wait += __shfl_xor_sync(~0u, wait, 1);
    wait += __shfl_xor_sync(~0u, wait, 2);
    if (k == 0)
        waits[i / 4] = wait;
}

static void signals_at_junctions(Run &run, bool lanes)
{
    std::vector<int> busy = integers(4 * SIGNALS, 60, 16841);
    const int *from = run.upload(busy);
    int *to = run.zeros<int>(SIGNALS);
    run.measure([=] {
        if (lanes)
            signal_lanes_kernel<<<4 * SIGNALS / 128, 128>>>(from, to);
        else
            signal_thread_kernel<<<blocks_for(SIGNALS, 128), 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, SIGNALS), [&](size_t i) { return signal_wait(busy.data(), (int) i); }, 0,
        17);
}

static void junction_signal_thread(Run &run)
{
    signals_at_junctions(run, false);
}

static void junction_signal_lanes(Run &run)
{
    signals_at_junctions(run, true);
}

// ---- Flows of trips east, then south: each segment is counted, or the ends only, then sums ----

enum { TRAFFIC_SIDE = 640, TRAFFIC_TRIPS = 150000 };

struct TrafficTrip {
    short x, y, east, south;
};

__global__ void traffic_segments_kernel(const TrafficTrip *trips, int *east, int *south)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TRAFFIC_TRIPS)
        return;
    const TrafficTrip t = trips[i];
    for (int k = 0; k < t.east; k++)
        atomicAdd(&east[t.y * TRAFFIC_SIDE + t.x + k], 1);
    for (int k = 0; k < t.south; k++)
        atomicAdd(&south[(t.y + k) * TRAFFIC_SIDE + t.x + t.east], 1);
}

__global__ void traffic_ends_kernel(const TrafficTrip *trips, int *east, int *south)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TRAFFIC_TRIPS)
        return;
    const TrafficTrip t = trips[i];
    const int turn = t.y * TRAFFIC_SIDE + t.x + t.east;
    atomicAdd(&east[t.y * TRAFFIC_SIDE + t.x], 1);
    atomicAdd(&east[turn], -1);
    atomicAdd(&south[turn], 1);
    atomicAdd(&south[turn + t.south * TRAFFIC_SIDE], -1);
}

// One warp per row: sums of 32 values at a time.
__global__ void traffic_rows_kernel(int *east)
{
    const int y = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    int before = 0;
    for (int x = lane; x < TRAFFIC_SIDE; x += 32) {
        int sum = east[y * TRAFFIC_SIDE + x];
        for (int d = 1; d < 32; d *= 2) {
            const int other = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? other : 0;
        }
        sum += before;
        east[y * TRAFFIC_SIDE + x] = sum;
        before = __shfl_sync(~0u, sum, 31);
    }
}

// One thread per column.
__global__ void traffic_columns_kernel(int *south)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int y = 0; y < TRAFFIC_SIDE; y++) {
        sum += south[y * TRAFFIC_SIDE + x];
        south[y * TRAFFIC_SIDE + x] = sum;
    }
}

// More trips begin near the middle of the town.
static std::vector<TrafficTrip> traffic_trips()
{
    const std::vector<int> v = integers(6 * TRAFFIC_TRIPS, 260, 16842);
    std::vector<TrafficTrip> trips(TRAFFIC_TRIPS);
    for (int i = 0; i < TRAFFIC_TRIPS; i++) {
        const int *r = &v[6 * i];
        trips[i] = { (short) (r[0] + r[1]), (short) (r[2] + r[3]), (short) (1 + r[4] / 3),
                     (short) (1 + r[5] / 3) };
    }
    return trips;
}

static void traffic(Run &run, bool ends)
{
    const std::vector<TrafficTrip> trips = traffic_trips();
    const int n = TRAFFIC_SIDE * TRAFFIC_SIDE;
    std::vector<int> wanted(2 * n);
    for (const TrafficTrip &t : trips) {
        for (int k = 0; k < t.east; k++)
            wanted[t.y * TRAFFIC_SIDE + t.x + k]++;
        for (int k = 0; k < t.south; k++)
            wanted[n + (t.y + k) * TRAFFIC_SIDE + t.x + t.east]++;
    }
    const TrafficTrip *from = run.upload(trips);
    int *east = run.zeros<int>(2 * n), *south = east + n;
    run.measure(
        [=] {
            if (!ends) {
                traffic_segments_kernel<<<blocks_for(TRAFFIC_TRIPS, 256), 256>>>(from, east, south);
                return;
            }
            traffic_ends_kernel<<<blocks_for(TRAFFIC_TRIPS, 256), 256>>>(from, east, south);
            traffic_rows_kernel<<<TRAFFIC_SIDE / 4, dim3(32, 4)>>>(east);
            traffic_columns_kernel<<<TRAFFIC_SIDE / 32, 32>>>(south);
        },
        [=] { CHECK(cudaMemset(east, 0, 2 * n * sizeof(int))); });
    run.expect_all(
        run.output(east, 2 * n), [&](size_t i) { return wanted[i]; }, 0, 7);
}

static void junction_flow_segments(Run &run)
{
    traffic(run, false);
}

static void junction_flow_ends(Run &run)
{
    traffic(run, true);
}

// ---- Offsets of the signals along a street: the best are chained in shared memory or a warp ----

enum { WAVE_STREETS = 700, WAVE_SIGNALS = 12, WAVE_CYCLE = 64 };

// 64 threads: one per offset of the present signal.
__global__ void wave_block_kernel(const float *costs, const float *delays, float *out)
{
    __shared__ float best[WAVE_CYCLE], delay[WAVE_CYCLE];
    const int o = threadIdx.x;
    const float *cost = costs + (size_t) blockIdx.x * WAVE_SIGNALS * WAVE_CYCLE;
    delay[o] = delays[o];
    best[o] = cost[o];
    __syncthreads();
    for (int s = 1; s < WAVE_SIGNALS; s++) {
        float least = 1e30f;
        for (int p = 0; p < WAVE_CYCLE; p++)
            least = fminf(least, best[p] + delay[(o - p) & (WAVE_CYCLE - 1)]);
        __syncthreads();
        best[o] = least + cost[s * WAVE_CYCLE + o];
        __syncthreads();
    }
    out[blockIdx.x * WAVE_CYCLE + o] = best[o];
}

// A lane has the offsets `lane` and `lane` + 32.
__global__ void wave_warp_kernel(const float *costs, const float *delays, float *out)
{
    __shared__ float delay[WAVE_CYCLE];
    const int lane = threadIdx.x % 32, street = blockIdx.x * blockDim.x / 32 + threadIdx.x / 32;
    const float *cost = costs + (size_t) street * WAVE_SIGNALS * WAVE_CYCLE;
    if (threadIdx.x < WAVE_CYCLE)
        delay[threadIdx.x] = delays[threadIdx.x];
    __syncthreads();
    float a = cost[lane], b = cost[lane + 32];
    for (int s = 1; s < WAVE_SIGNALS; s++) {
        float least_a = 1e30f, least_b = 1e30f;
        for (int p = 0; p < 32; p++) {
            const float from_a = __shfl_sync(~0u, a, p), from_b = __shfl_sync(~0u, b, p);
            const float near = delay[(lane - p) & (WAVE_CYCLE - 1)];
            const float far = delay[(lane - p + 32) & (WAVE_CYCLE - 1)];
            least_a = fminf(least_a, fminf(from_a + near, from_b + far));
            least_b = fminf(least_b, fminf(from_a + far, from_b + near));
        }
        a = least_a + cost[s * WAVE_CYCLE + lane];
        b = least_b + cost[s * WAVE_CYCLE + lane + 32];
    }
    out[street * WAVE_CYCLE + lane] = a;
    out[street * WAVE_CYCLE + lane + 32] = b;
}

static std::vector<float> wave_host(const float *cost, const std::vector<float> &delays)
{
    std::vector<float> best(cost, cost + WAVE_CYCLE), next(WAVE_CYCLE);
    for (int s = 1; s < WAVE_SIGNALS; s++) {
        for (int o = 0; o < WAVE_CYCLE; o++) {
            float least = 1e30f;
            for (int p = 0; p < WAVE_CYCLE; p++)
                least = std::min(least, best[p] + delays[(o - p) & (WAVE_CYCLE - 1)]);
            next[o] = least + cost[s * WAVE_CYCLE + o];
        }
        best.swap(next);
    }
    return best;
}

static void wave(Run &run, bool warps)
{
    const int size = WAVE_SIGNALS * WAVE_CYCLE;
    const std::vector<float> costs = floats(WAVE_STREETS * size, 16843, 0, 20);
    const std::vector<float> delays = floats(WAVE_CYCLE, 16844, 0, 9);
    const float *dc = run.upload(costs), *dd = run.upload(delays);
    float *to = run.zeros<float>(WAVE_STREETS * WAVE_CYCLE);
    run.measure([=] {
        if (warps)
            wave_warp_kernel<<<WAVE_STREETS / 2, 64>>>(dc, dd, to);
        else
            wave_block_kernel<<<WAVE_STREETS, WAVE_CYCLE>>>(dc, dd, to);
    });
    const std::vector<float> got = run.output(to, WAVE_STREETS * WAVE_CYCLE);
    for (int street = 0; street < WAVE_STREETS; street += 13) {
        const std::vector<float> wanted = wave_host(&costs[street * size], delays);
        for (int o = 0; o < WAVE_CYCLE; o++)
            run.expect(got[street * WAVE_CYCLE + o], wanted[o], 1e-4);
    }
}

static void junction_wave_block(Run &run)
{
    wave(run, false);
}

static void junction_wave_warp(Run &run)
{
    wave(run, true);
}

#endif
