// airports.cuh - airports: gates for flights, noise at houses, boarding, pictures of bags.
#ifndef BLIND_AIRPORTS_CUH
#define BLIND_AIRPORTS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- The first free gate for each flight of a day, a lane per gate: warps take each 528th day, or
// draw tickets. A few days are much busier ----

enum { AIRPORT_DAYS = 4000, AIRPORT_GATES = 32, AIRPORT_GATE_BLOCKS = 132 };

// Flights lie as arrival and departure, in the order of arrivals. The gate is -1 if all are taken.
__device__ inline void airport_gates_of(const int *starts, const int2 *flights, int day, int *gates)
{
    const int lane = threadIdx.x % 32, end = starts[day + 1];
    int taken_until = 0;
    for (int first = starts[day]; first < end; first += 32) {
        const int2 own = first + lane < end ? flights[first + lane] : make_int2(0, 0);
        int gate = -1;
        for (int k = 0; k < min(32, end - first); k++) {
            const int arrival = __shfl_sync(~0u, own.x, k), departure = __shfl_sync(~0u, own.y, k);
            const int chosen = __ffs(__ballot_sync(~0u, taken_until <= arrival)) - 1;
            if (lane == chosen)
                taken_until = departure;
            if (lane == k)
                gate = chosen;
        }
        if (first + lane < end)
            gates[first + lane] = gate;
    }
}

__global__ void airport_gates_shares_kernel(const int *starts, const int2 *flights, int *gates,
                                            int *)
{
    const int warps = gridDim.x * blockDim.x / 32;
    for (int day = (blockIdx.x * blockDim.x + threadIdx.x) / 32; day < AIRPORT_DAYS; day += warps)
        airport_gates_of(starts, flights, day, gates);
}

__global__ void airport_gates_tickets_kernel(const int *starts, const int2 *flights, int *gates,
                                             int *tickets)
{
    for (;;) {
        int day = 0;
        if (threadIdx.x % 32 == 0)
            day = atomicAdd(tickets, 1);
        day = __shfl_sync(~0u, day, 0);
        if (day >= AIRPORT_DAYS)
            return;
        airport_gates_of(starts, flights, day, gates);
    }
}

static void airport_gates_host(const int2 *flights, int count, int *gates)
{
    int taken_until[AIRPORT_GATES] = {};
    for (int i = 0; i < count; i++) {
        int gate = 0;
        while (gate < AIRPORT_GATES && taken_until[gate] > flights[i].x)
            gate++;
        if (gate < AIRPORT_GATES)
            taken_until[gate] = flights[i].y;
        gates[i] = gate < AIRPORT_GATES ? gate : -1;
    }
}

static std::vector<int2> airport_flights(const std::vector<int> &starts)
{
    const std::vector<int> stays = integers(starts.back(), 90, 23001);
    std::vector<int> arrivals = integers(starts.back(), 1440, 23002);
    std::vector<int2> flights(starts.back());
    for (int day = 0; day < AIRPORT_DAYS; day++)
        std::sort(arrivals.begin() + starts[day], arrivals.begin() + starts[day + 1]);
    for (size_t i = 0; i < flights.size(); i++)
        flights[i] = { arrivals[i], arrivals[i] + 30 + stays[i] };
    return flights;
}

static void airport_gates(Run &run, bool by_tickets)
{
    const std::vector<int> draws = integers(AIRPORT_DAYS, 1000, 23000);
    std::vector<int> starts(1, 0);
    for (int day = 0; day < AIRPORT_DAYS; day++)
        starts.push_back(starts[day] +
                         (draws[day] < 20 ? 900 + 30 * draws[day] : 30 + draws[day] / 8));
    const std::vector<int2> flights = airport_flights(starts);
    const int *ds = run.upload(starts);
    const int2 *df = run.upload(flights);
    int *to = run.zeros<int>(flights.size()), *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                airport_gates_tickets_kernel<<<AIRPORT_GATE_BLOCKS, 128>>>(ds, df, to, tickets);
            else
                airport_gates_shares_kernel<<<AIRPORT_GATE_BLOCKS, 128>>>(ds, df, to, tickets);
        },
        [=] { CHECK(cudaMemset(tickets, 0, sizeof(int))); });
    std::vector<int> gates(flights.size());
    for (int day = 0; day < AIRPORT_DAYS; day++)
        airport_gates_host(&flights[starts[day]], starts[day + 1] - starts[day],
                           &gates[starts[day]]);
    run.expect_all(
        run.output(to, gates.size()), [&](size_t i) { return gates[i]; }, 0);
}

static void airport_gates_shares(Run &run)
{
    airport_gates(run, false);
}

static void airport_gates_tickets(Run &run)
{
    airport_gates(run, true);
}

// ---- The noise of all departures at houses: the loss over the distance computed, or interpolated
// in a table in shared memory ----

enum { AIRPORT_HOUSES = 25600, AIRPORT_DEPARTURES = 256, AIRPORT_LOSSES = 2048 };

// How much of the power arrives over a distance in metres.
template <class T> __host__ __device__ inline T airport_loss(T distance)
{
    return pow(T(10), T(-0.1) * (20 * log10(distance) + T(0.005) * distance));
}

struct AirportFormula {
    __device__ float operator()(float distance) const
    {
        return exp10f(-0.1f * (20 * log10f(distance) + 0.005f * distance));
    }
};

// An entry per 8 m.
struct AirportTable {
    const float *losses;

    __device__ float operator()(float distance) const
    {
        const float place = fminf(distance * 0.125f, AIRPORT_LOSSES - 2);
        const int at = (int) place;
        return losses[at] + (place - at) * (losses[at + 1] - losses[at]);
    }
};

// A departure: x, y, height and power.
template <class Loss>
__device__ inline float airport_level(const float4 *departures, float2 house, Loss loss)
{
    float sum = 0;
    for (int k = 0; k < AIRPORT_DEPARTURES; k++) {
        const float4 d = departures[k];
        const float x = d.x - house.x, y = d.y - house.y;
        sum += d.w * loss(sqrtf(x * x + y * y + d.z * d.z));
    }
    return 10 * log10f(sum);
}

__global__ void airport_noise_formula_kernel(const float4 *departures, const float *,
                                             const float2 *houses, float *levels)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    levels[i] = airport_level(departures, houses[i], AirportFormula());
}

__global__ void airport_noise_table_kernel(const float4 *departures, const float *losses,
                                           const float2 *houses, float *levels)
{
    __shared__ float copy[AIRPORT_LOSSES];
    for (int k = threadIdx.x; k < AIRPORT_LOSSES; k += blockDim.x)
        copy[k] = losses[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const AirportTable table = { copy };
    levels[i] = airport_level(departures, houses[i], table);
}

static double airport_level_host(const std::vector<float4> &departures, float2 house)
{
    double sum = 0;
    for (const float4 &d : departures) {
        const double x = (double) d.x - house.x, y = (double) d.y - house.y;
        sum += d.w * airport_loss(sqrt(x * x + y * y + (double) d.z * d.z));
    }
    return 10 * log10(sum);
}

static void airport_noise(Run &run, bool table)
{
    const std::vector<float> draws = floats(AIRPORT_DEPARTURES * 4, 23003, 0, 1);
    const std::vector<float> places = floats(AIRPORT_HOUSES * 2, 23004, -4500, 4500);
    std::vector<float4> departures(AIRPORT_DEPARTURES);
    for (int k = 0; k < AIRPORT_DEPARTURES; k++)
        departures[k] = { 9000 * draws[4 * k] - 4500, 2000 * draws[4 * k + 1] - 1000,
                          400 + 2000 * draws[4 * k + 2], 1e10f + 9e10f * draws[4 * k + 3] };
    std::vector<float2> houses(AIRPORT_HOUSES);
    for (int i = 0; i < AIRPORT_HOUSES; i++)
        houses[i] = { places[2 * i], places[2 * i + 1] };
    std::vector<float> losses(AIRPORT_LOSSES);
    for (int k = 0; k < AIRPORT_LOSSES; k++)
        losses[k] = (float) airport_loss(8.0 * (k ? k : 1));
    const float4 *dd = run.upload(departures);
    const float *dl = run.upload(losses);
    const float2 *dh = run.upload(houses);
    float *to = run.zeros<float>(AIRPORT_HOUSES);
    run.measure([=] {
        if (table)
            airport_noise_table_kernel<<<AIRPORT_HOUSES / 128, 128>>>(dd, dl, dh, to);
        else
            airport_noise_formula_kernel<<<AIRPORT_HOUSES / 128, 128>>>(dd, dl, dh, to);
    });
    run.expect_all(
        run.output(to, AIRPORT_HOUSES),
        [&](size_t i) { return airport_level_host(departures, houses[i]); }, 2e-4, 13);
}

static void airport_noise_formula(Run &run)
{
    airport_noise(run, false);
}

static void airport_noise_table(Run &run)
{
    airport_noise(run, true);
}

// ---- How long boarding takes, by the order of passengers: a thread per plane with the aisle in an
// array, or a warp per plane with a place in the aisle per lane ----

enum { AIRPORT_PLANES = 2048, AIRPORT_PASSENGERS = 64, AIRPORT_ROWS = 32 };

// A passenger in the aisle: the row, and above it how long the bag still takes; -1 for a free
// place. In a queue: 5 bits and 3 bits.
__host__ __device__ inline int airport_enter(uint8_t queued)
{
    return queued % AIRPORT_ROWS | (1 + queued / AIRPORT_ROWS) << 8;
}

// Who stands at the place `at` after a second, if the passenger does not walk to the next place.
__host__ __device__ inline int airport_wait(int passenger, int at)
{
    if (passenger < 0 || (passenger & 255) != at)
        return passenger;
    return passenger >= 512 ? passenger - 256 : -1;
}

// A passenger walks if the next place was free a second ago.
__host__ __device__ inline bool airport_walks(int passenger, int at, int next)
{
    return passenger >= 0 && (passenger & 255) != at && next < 0;
}

__host__ __device__ inline int airport_boarding(const uint8_t *queue)
{
    int aisle[AIRPORT_ROWS], queued = 0, seated = 0, seconds = 0;
    for (int at = 0; at < AIRPORT_ROWS; at++)
        aisle[at] = -1;
    for (; seated < AIRPORT_PASSENGERS; seconds++) {
        int next = 0; // the place behind, a second ago
        for (int at = AIRPORT_ROWS - 1; at >= 0; at--) {
            const int passenger = aisle[at];
            if (airport_walks(passenger, at, next)) {
                aisle[at + 1] = passenger;
                aisle[at] = -1;
            } else {
                aisle[at] = airport_wait(passenger, at);
                seated += passenger >= 0 && aisle[at] < 0;
            }
            next = passenger;
        }
        if (next < 0 && queued < AIRPORT_PASSENGERS)
            aisle[0] = airport_enter(queue[queued++]);
    }
    return seconds;
}

__global__ void airport_board_thread_kernel(const uint8_t *queues, int *seconds)
{
    const int plane = blockIdx.x * blockDim.x + threadIdx.x;
    seconds[plane] = airport_boarding(queues + plane * AIRPORT_PASSENGERS);
}

__global__ void airport_board_lanes_kernel(const uint8_t *queues, int *seconds)
{
    const int plane = (blockIdx.x * blockDim.x + threadIdx.x) / 32, at = threadIdx.x % 32;
    const uint8_t *queue = queues + plane * AIRPORT_PASSENGERS;
    int own = -1, queued = 0, second = 0;
    do {
        const int ahead = __shfl_down_sync(~0u, own, 1), behind = __shfl_up_sync(~0u, own, 1);
        const bool enters = at && own < 0 && airport_walks(behind, at - 1, own);
        const bool first_free = __shfl_sync(~0u, own, 0) < 0;
        if (enters)
            own = behind;
        else
            own = airport_walks(own, at, ahead) ? -1 : airport_wait(own, at);
        if (first_free && queued < AIRPORT_PASSENGERS) {
            if (at == 0)
                own = airport_enter(queue[queued]);
            queued++;
        }
        second++;
    } while (queued < AIRPORT_PASSENGERS || __any_sync(~0u, own >= 0));
    if (at == 0)
        seconds[plane] = second;
}

static void airport_board(Run &run, bool lanes)
{
    const std::vector<uint32_t> draws = words(AIRPORT_PLANES * AIRPORT_PASSENGERS, 23005);
    std::vector<uint8_t> queues(draws.size());
    for (size_t i = 0; i < draws.size(); i++)
        queues[i] = (uint8_t) (draws[i] >> 24);
    const uint8_t *from = run.upload(queues);
    int *to = run.zeros<int>(AIRPORT_PLANES);
    run.measure([=] {
        if (lanes)
            airport_board_lanes_kernel<<<AIRPORT_PLANES * 32 / 128, 128>>>(from, to);
        else
            airport_board_thread_kernel<<<AIRPORT_PLANES / 32, 32>>>(from, to);
    });
    run.expect_all(
        run.output(to, AIRPORT_PLANES),
        [&](size_t i) { return airport_boarding(&queues[i * AIRPORT_PASSENGERS]); }, 0, 3);
}

static void airport_board_thread(Run &run)
{
    airport_board(run, false);
}

static void airport_board_lanes(Run &run)
{
    airport_board(run, true);
}

// ---- Materials in bags from pictures at two energies, by a polynomial of both: in floats, or two
// pixels at once in half2 ----

enum { AIRPORT_PIXELS = 1 << 22, AIRPORT_DEGREE = 4 };

// By powers of the low energy, then of the high one.
__constant__ float airport_weights[AIRPORT_DEGREE][AIRPORT_DEGREE];
__constant__ half2 airport_half_weights[AIRPORT_DEGREE][AIRPORT_DEGREE];

template <class T, class Weights>
__host__ __device__ inline T airport_material(Weights weights, T low, T high)
{
    T sum = 0;
#pragma unroll
    for (int i = AIRPORT_DEGREE - 1; i >= 0; i--) {
        T row = weights[i][AIRPORT_DEGREE - 1];
#pragma unroll
        for (int k = AIRPORT_DEGREE - 2; k >= 0; k--)
            row = row * high + T(weights[i][k]);
        sum = sum * low + row;
    }
    return sum < 0 ? T(0) : sum;
}

__global__ void airport_bag_float_kernel(const half2 *lows, const half2 *highs, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 low = __half22float2(lows[i]), high = __half22float2(highs[i]);
    out[i] = __floats2half2_rn(airport_material<float>(airport_weights, low.x, high.x),
                               airport_material<float>(airport_weights, low.y, high.y));
}

__global__ void airport_bag_half2_kernel(const half2 *lows, const half2 *highs, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half2 low = lows[i], high = highs[i], zero = __float2half2_rn(0);
    half2 sum = zero;
#pragma unroll
    for (int row = AIRPORT_DEGREE - 1; row >= 0; row--) {
        half2 of_row = airport_half_weights[row][AIRPORT_DEGREE - 1];
#pragma unroll
        for (int k = AIRPORT_DEGREE - 2; k >= 0; k--)
            of_row = __hfma2(of_row, high, airport_half_weights[row][k]);
        sum = __hfma2(sum, low, of_row);
    }
    out[i] = __hmax2(sum, zero);
}

static std::vector<half> airport_halves(const std::vector<float> &from)
{
    std::vector<half> to(from.size());
    for (size_t i = 0; i < from.size(); i++)
        to[i] = __float2half(from[i]);
    return to;
}

static void airport_bag(Run &run, bool halves)
{
    const std::vector<half> lows = airport_halves(floats(AIRPORT_PIXELS, 23006, 0, 1));
    const std::vector<half> highs = airport_halves(floats(AIRPORT_PIXELS, 23007, 0, 1));
    const std::vector<float> draws = floats(AIRPORT_DEGREE * AIRPORT_DEGREE, 23008, -0.5f, 1);
    float weights[AIRPORT_DEGREE][AIRPORT_DEGREE];
    half2 half_weights[AIRPORT_DEGREE][AIRPORT_DEGREE];
    for (int i = 0; i < AIRPORT_DEGREE * AIRPORT_DEGREE; i++) {
        weights[i / AIRPORT_DEGREE][i % AIRPORT_DEGREE] = draws[i];
        half_weights[i / AIRPORT_DEGREE][i % AIRPORT_DEGREE] = __float2half2_rn(draws[i]);
    }
    CHECK(cudaMemcpyToSymbol(airport_weights, weights, sizeof weights));
    CHECK(cudaMemcpyToSymbol(airport_half_weights, half_weights, sizeof half_weights));
    const half2 *dl = (const half2 *) run.upload(lows), *dh = (const half2 *) run.upload(highs);
    half *to = run.zeros<half>(AIRPORT_PIXELS);
    run.measure([=] {
        if (halves)
            airport_bag_half2_kernel<<<AIRPORT_PIXELS / 2 / 256, 256>>>(dl, dh, (half2 *) to);
        else
            airport_bag_float_kernel<<<AIRPORT_PIXELS / 2 / 256, 256>>>(dl, dh, (half2 *) to);
    });
    const std::vector<half> got = run.output(to, AIRPORT_PIXELS);
    for (int i = 0; i < AIRPORT_PIXELS; i += 7)
        run.expect(__half2float(got[i]),
                   airport_material<double>(weights, __half2float(lows[i]), __half2float(highs[i])),
                   0.03);
}

static void airport_bag_float(Run &run)
{
    airport_bag(run, false);
}

static void airport_bag_half2(Run &run)
{
    airport_bag(run, true);
}

#endif
