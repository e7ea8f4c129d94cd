// harbours.cuh - harbours: tides, stacks of containers, cranes, the nearest port.
#ifndef BLIND_HARBOURS_CUH
#define BLIND_HARBOURS_CUH

#include "blind.cuh"

// ---- The water level over time as a sum of tides: a cosine per tide and time, or 16 times per
// thread, from one to the next by a rotation ----

enum { HARBOUR_TIMES = 1 << 19, HARBOUR_TIDES = 20, HARBOUR_EACH = 16 };

// A tide: amplitude, angle per time, first angle.
__constant__ float4 harbour_tides[HARBOUR_TIDES];

__global__ void harbour_tide_cosines_kernel(float *levels)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < HARBOUR_TIDES; k++)
        sum += harbour_tides[k].x * cosf(harbour_tides[k].y * i + harbour_tides[k].z);
    levels[i] = sum;
}

__global__ void harbour_tide_turned_kernel(float *levels)
{
    const int first = blockIdx.x * blockDim.x * HARBOUR_EACH + threadIdx.x;
    float sums[HARBOUR_EACH] = {};
    for (int k = 0; k < HARBOUR_TIDES; k++) {
        float s, c, turn_s, turn_c;
        sincosf(harbour_tides[k].y * first + harbour_tides[k].z, &s, &c);
        sincosf(harbour_tides[k].y * blockDim.x, &turn_s, &turn_c);
#pragma unroll
        for (int j = 0; j < HARBOUR_EACH; j++) {
            sums[j] += harbour_tides[k].x * c;
            const float turned = c * turn_c - s * turn_s;
            s = s * turn_c + c * turn_s;
            c = turned;
        }
    }
#pragma unroll
    for (int j = 0; j < HARBOUR_EACH; j++)
        levels[first + j * blockDim.x] = sums[j];
}

static void harbour_tide(Run &run, bool turned)
{
    const std::vector<float> draws = floats(HARBOUR_TIDES * 3, 24520, 0, 1);
    std::vector<float4> tides(HARBOUR_TIDES);
    for (int k = 0; k < HARBOUR_TIDES; k++)
        tides[k] = { 0.02f + draws[k * 3] / (k + 1), 0.0002f + 0.005f * draws[k * 3 + 1],
                     6.28f * draws[k * 3 + 2], 0 };
    CHECK(cudaMemcpyToSymbol(harbour_tides, tides.data(), sizeof harbour_tides));
    float *to = run.zeros<float>(HARBOUR_TIMES);
    run.measure([=] {
        if (turned)
            harbour_tide_turned_kernel<<<HARBOUR_TIMES / 256 / HARBOUR_EACH, 256>>>(to);
        else
            harbour_tide_cosines_kernel<<<HARBOUR_TIMES / 256, 256>>>(to);
    });
    run.expect_all(
        run.output(to, HARBOUR_TIMES),
        [&](size_t i) {
            double sum = 0;
            for (const float4 &tide : tides)
                sum += tide.x * cos((double) tide.y * i + tide.z);
            return sum;
        },
        3e-3, 13);
}

static void harbour_tide_cosines(Run &run)
{
    harbour_tide(run, false);
}

static void harbour_tide_turned(Run &run)
{
    harbour_tide(run, true);
}

// ---- Containers that stand in the way of a lower one, which leaves earlier: a stack per thread,
// byte by byte, or four stacks at once in the bytes of a word ----

enum { HARBOUR_STACKS = 1 << 21, HARBOUR_TIERS = 9 };

// The days on which containers leave lie by tier from below, then by stack.
__host__ __device__ inline int harbour_blocked(const unsigned char *days, int stack)
{
    int earliest = 255, blocked = 0;
    for (int tier = 0; tier < HARBOUR_TIERS; tier++) {
        const int day = days[(size_t) tier * HARBOUR_STACKS + stack];
        blocked += day > earliest;
        earliest = day < earliest ? day : earliest;
    }
    return blocked;
}

__global__ void harbour_stack_bytes_kernel(const unsigned char *days, unsigned char *out)
{
    const int stack = blockIdx.x * blockDim.x + threadIdx.x;
    out[stack] = (unsigned char) harbour_blocked(days, stack);
}

__global__ void harbour_stack_words_kernel(const unsigned *days, unsigned *out)
{
    const int stack = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned earliest = ~0u, blocked = 0;
    for (int tier = 0; tier < HARBOUR_TIERS; tier++) {
        const unsigned day = days[(size_t) tier * (HARBOUR_STACKS / 4) + stack];
        blocked += __vcmpgtu4(day, earliest) & 0x01010101u;
        earliest = __vminu4(day, earliest);
    }
    out[stack] = blocked;
}

static void harbour_stack(Run &run, bool packed)
{
    std::vector<unsigned char> days;
    for (uint32_t word : words((size_t) HARBOUR_STACKS * HARBOUR_TIERS, 24521))
        days.push_back((unsigned char) (word >> 9));
    const unsigned char *from = run.upload(days);
    unsigned char *to = run.zeros<unsigned char>(HARBOUR_STACKS);
    run.measure([=] {
        if (packed)
            harbour_stack_words_kernel<<<HARBOUR_STACKS / 4 / 256, 256>>>((const unsigned *) from,
                                                                          (unsigned *) to);
        else
            harbour_stack_bytes_kernel<<<HARBOUR_STACKS / 256, 256>>>(from, to);
    });
    run.expect_all(
        run.output(to, HARBOUR_STACKS),
        [&](size_t i) { return harbour_blocked(days.data(), (int) i); }, 0, 3);
}

static void harbour_stack_bytes(Run &run)
{
    harbour_stack(run, false);
}

static void harbour_stack_words(Run &run)
{
    harbour_stack(run, true);
}

// ---- How long the nearest of four cranes needs for the containers of each ship, of which a few
// are huge: a block per ship. Blocks take ships in turns, or draw tickets ----

enum { HARBOUR_SHIPS = 2400, HARBOUR_CRANE_BLOCKS = 120 };

__constant__ int harbour_cranes[4];

// A container: the row in the low byte, then the tier, then the weight.
__host__ __device__ inline int harbour_lift(unsigned container, const int *cranes)
{
    const int row = container & 255, tier = container >> 8 & 15, weight = container >> 12 & 255;
    int nearest = 255;
    for (int k = 0; k < 4; k++) {
        const int far = abs(row - cranes[k]);
        nearest = far < nearest ? far : nearest;
    }
    return 20 + 3 * nearest + tier * (weight > 100 ? 7 : 4);
}

__device__ inline void harbour_ship(const unsigned *containers, const int *first, int *out,
                                    int ship)
{
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    int time = 0;
    for (int i = first[ship] + threadIdx.x; i < first[ship + 1]; i += blockDim.x)
        time += harbour_lift(containers[i], harbour_cranes);
    time = __reduce_add_sync(~0u, time);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, time);
    __syncthreads();
    if (threadIdx.x == 0)
        out[ship] = total;
}

__global__ void harbour_cranes_turns_kernel(const unsigned *containers, const int *first, int *out,
                                            int *)
{
    for (int ship = blockIdx.x; ship < HARBOUR_SHIPS; ship += gridDim.x)
        harbour_ship(containers, first, out, ship);
}

__global__ void harbour_cranes_tickets_kernel(const unsigned *containers, const int *first,
                                              int *out, int *next)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 1);
        __syncthreads();
        const int ship = ticket;
        __syncthreads();
        if (ship >= HARBOUR_SHIPS)
            return;
        harbour_ship(containers, first, out, ship);
    }
}

static void harbour_crane(Run &run, void (*kernel)(const unsigned *, const int *, int *, int *))
{
    std::vector<int> first(1, 0);
    for (float draw : floats(HARBOUR_SHIPS, 24522, 0, 1))
        first.push_back(first.back() + 60 + (int) (20000 * powf(draw, 12)));
    const std::vector<uint32_t> containers = words(first.back(), 24523);
    const int cranes[4] = { 30, 95, 160, 225 };
    CHECK(cudaMemcpyToSymbol(harbour_cranes, cranes, sizeof cranes));
    const unsigned *dc = run.upload(containers);
    const int *df = run.upload(first);
    int *to = run.zeros<int>(HARBOUR_SHIPS), *next = run.zeros<int>(1);
    run.measure([=] { kernel<<<HARBOUR_CRANE_BLOCKS, 256>>>(dc, df, to, next); },
                [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, HARBOUR_SHIPS),
        [&](size_t ship) {
            int time = 0;
            for (int i = first[ship]; i < first[ship + 1]; i++)
                time += harbour_lift(containers[i], cranes);
            return time;
        },
        0);
}

static void harbour_cranes_turns(Run &run)
{
    harbour_crane(run, harbour_cranes_turns_kernel);
}

static void harbour_cranes_tickets(Run &run)
{
    harbour_crane(run, harbour_cranes_tickets_kernel);
}

// ---- The distance of ships from the nearest port, in doubles: by sines of angles, or by vectors
// of ports in shared memory ----

enum { HARBOUR_AT_SEA = 16896, HARBOUR_PORTS = 160 };

// x: latitude, y: longitude. The result is the square of half the chord.
__host__ __device__ inline double harbour_haversine(double2 a, double2 b)
{
    const double up = sin((a.x - b.x) / 2), along = sin((a.y - b.y) / 2);
    return up * up + cos(a.x) * cos(b.x) * along * along;
}

__host__ __device__ inline double harbour_kilometres(double half_square)
{
    return 2 * 6371.0 * asin(sqrt(half_square));
}

__device__ inline double3 harbour_vector(double2 place)
{
    return { cos(place.x) * cos(place.y), cos(place.x) * sin(place.y), sin(place.x) };
}

__global__ void harbour_nearest_sines_kernel(const double2 *ships, const double2 *ports,
                                             double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double least = 1;
    for (int k = 0; k < HARBOUR_PORTS; k++)
        least = fmin(least, harbour_haversine(ships[i], ports[k]));
    out[i] = harbour_kilometres(least);
}

__global__ void harbour_nearest_vectors_kernel(const double2 *ships, const double2 *ports,
                                               double *out)
{
    __shared__ double3 vectors[HARBOUR_PORTS];
    for (int k = threadIdx.x; k < HARBOUR_PORTS; k += blockDim.x)
        vectors[k] = harbour_vector(ports[k]);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double3 ship = harbour_vector(ships[i]);
    double least = 4;
    for (int k = 0; k < HARBOUR_PORTS; k++) {
        const double x = ship.x - vectors[k].x, y = ship.y - vectors[k].y,
                     z = ship.z - vectors[k].z;
        least = fmin(least, x * x + y * y + z * z);
    }
    out[i] = harbour_kilometres(least / 4);
}

static std::vector<double2> harbour_places(int count, uint32_t seed)
{
    const std::vector<float> draws = floats(count * 2, seed);
    std::vector<double2> places(count);
    for (int i = 0; i < count; i++)
        places[i] = { 1.2 * draws[i * 2], 3.14 * draws[i * 2 + 1] };
    return places;
}

static void harbour_nearest(Run &run, void (*kernel)(const double2 *, const double2 *, double *))
{
    const std::vector<double2> ships = harbour_places(HARBOUR_AT_SEA, 24524);
    const std::vector<double2> ports = harbour_places(HARBOUR_PORTS, 24525);
    const double2 *dships = run.upload(ships), *dports = run.upload(ports);
    double *to = run.zeros<double>(HARBOUR_AT_SEA);
    run.measure([=] { kernel<<<HARBOUR_AT_SEA / 64, 64>>>(dships, dports, to); });
    run.expect_all(
        run.output(to, HARBOUR_AT_SEA),
        [&](size_t i) {
            double least = 1;
            for (const double2 &port : ports)
                least = std::min(least, harbour_haversine(ships[i], port));
            return harbour_kilometres(least);
        },
        1e-6, 9);
}

static void harbour_nearest_sines(Run &run)
{
    harbour_nearest(run, harbour_nearest_sines_kernel);
}

static void harbour_nearest_vectors(Run &run)
{
    harbour_nearest(run, harbour_nearest_vectors_kernel);
}

#endif
