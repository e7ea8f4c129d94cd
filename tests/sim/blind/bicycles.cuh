// bicycles.cuh - bicycles: the power of rides, wheels to true, docks of rented bicycles,
// slipstreams.
#ifndef BLIND_BICYCLES_CUH
#define BLIND_BICYCLES_CUH

#include "blind.cuh"

// ---- The weighted power of rides: the mean of the fourth powers of half a minute's mean. A few
// rides are long. A block per ride: in turns, or by tickets ----

enum { BICYCLE_RIDES = 700, BICYCLE_RIDE_BLOCKS = 96, BICYCLE_SPAN = 30 };

__host__ __device__ inline unsigned long long bicycle_effort(const unsigned short *watts, int at)
{
    int sum = 0;
    for (int k = max(at - BICYCLE_SPAN + 1, 0); k <= at; k++)
        sum += watts[k];
    const unsigned long long mean = sum / BICYCLE_SPAN;
    return mean * mean * mean * mean;
}

__device__ inline void bicycle_ride(const unsigned short *watts, int seconds, float *out)
{
    __shared__ unsigned long long sums[8];
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < seconds; i += blockDim.x)
        sum += bicycle_effort(watts, i);
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            sum += sums[k];
        *out = sqrtf(sqrtf((float) (sum / seconds)));
    }
    __syncthreads();
}

__global__ void bicycle_power_turns_kernel(const unsigned short *watts, const int *first,
                                           float *out, int *)
{
    for (int i = blockIdx.x; i < BICYCLE_RIDES; i += gridDim.x)
        bicycle_ride(watts + first[i], first[i + 1] - first[i], &out[i]);
}

__global__ void bicycle_power_tickets_kernel(const unsigned short *watts, const int *first,
                                             float *out, int *next)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 1);
        __syncthreads();
        const int i = ticket;
        if (i >= BICYCLE_RIDES)
            return;
        bicycle_ride(watts + first[i], first[i + 1] - first[i], &out[i]);
    }
}

static void bicycle_power(Run &run, bool tickets)
{
    const std::vector<int> draws = integers(BICYCLE_RIDES, 3000, 24000);
    std::vector<int> first(1, 0);
    for (int i = 0; i < BICYCLE_RIDES; i++)
        first.push_back(first[i] + 600 + draws[i] + (draws[i] % 23 ? 0 : 20000));
    const std::vector<int> draw = integers(first.back(), 400, 24001);
    const std::vector<unsigned short> watts(draw.begin(), draw.end());
    const unsigned short *from = run.upload(watts);
    const int *df = run.upload(first);
    float *to = run.zeros<float>(BICYCLE_RIDES);
    int *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                bicycle_power_tickets_kernel<<<BICYCLE_RIDE_BLOCKS, 256>>>(from, df, to, next);
            else
                bicycle_power_turns_kernel<<<BICYCLE_RIDE_BLOCKS, 256>>>(from, df, to, next);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    const std::vector<float> got = run.output(to, BICYCLE_RIDES);
    for (int i = 0; i < BICYCLE_RIDES; i++) {
        const int seconds = first[i + 1] - first[i];
        unsigned long long sum = 0;
        for (int k = 0; k < seconds; k++)
            sum += bicycle_effort(&watts[first[i]], k);
        run.expect(got[i], pow((double) (sum / seconds), 0.25), 1e-5);
    }
}

static void bicycle_power_turns(Run &run)
{
    bicycle_power(run, false);
}

static void bicycle_power_tickets(Run &run)
{
    bicycle_power(run, true);
}

// ---- Wheels of 32 spokes are trued: each spoke is turned by what it and four neighbours lack,
// until all are right. Neighbours by shared memory, or by shuffles ----

enum { BICYCLE_WHEELS = 4096, BICYCLE_ROUNDS = 60 };

__host__ __device__ inline float bicycle_lack(float target, float own, float near, float far)
{
    return target - (0.5f * own + 0.2f * near + 0.05f * far);
}

__global__ void bicycle_spokes_shared_kernel(const float *targets, const float *spokes, float *out)
{
    __shared__ float all[4][32];
    float *wheel = all[threadIdx.x / 32];
    const int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    const float target = targets[i / 32];
    float own = spokes[i];
    for (int round = 0; round < BICYCLE_ROUNDS; round++) {
        wheel[lane] = own;
        __syncwarp();
        const float near = wheel[(lane + 1) % 32] + wheel[(lane + 31) % 32];
        const float far = wheel[(lane + 2) % 32] + wheel[(lane + 30) % 32];
        __syncwarp();
        const float lack = bicycle_lack(target, own, near, far);
        if (!__any_sync(~0u, fabsf(lack) > 0.05f))
            break;
        own += 0.8f * lack;
    }
    out[i] = own;
}

__global__ void bicycle_spokes_shuffles_kernel(const float *targets, const float *spokes,
                                               float *out)
{
    const int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    const float target = targets[i / 32];
    float own = spokes[i];
    for (int round = 0; round < BICYCLE_ROUNDS; round++) {
        const float near = __shfl_sync(~0u, own, lane + 1) + __shfl_sync(~0u, own, lane + 31);
        const float far = __shfl_sync(~0u, own, lane + 2) + __shfl_sync(~0u, own, lane + 30);
        const float lack = bicycle_lack(target, own, near, far);
        if (!__any_sync(~0u, fabsf(lack) > 0.05f))
            break;
        own += 0.8f * lack;
    }
    out[i] = own;
}

static void bicycle_true(float target, float *wheel)
{
    for (int round = 0; round < BICYCLE_ROUNDS; round++) {
        float lack[32], worst = 0;
        for (int k = 0; k < 32; k++) {
            lack[k] = bicycle_lack(target, wheel[k], wheel[(k + 1) % 32] + wheel[(k + 31) % 32],
                                   wheel[(k + 2) % 32] + wheel[(k + 30) % 32]);
            worst = std::max(worst, fabsf(lack[k]));
        }
        if (worst <= 0.05f)
            return;
        for (int k = 0; k < 32; k++)
            wheel[k] += 0.8f * lack[k];
    }
}

static void bicycle_spokes(Run &run, void (*kernel)(const float *, const float *, float *))
{
    const int count = BICYCLE_WHEELS * 32;
    const std::vector<float> targets = floats(BICYCLE_WHEELS, 24010, 90, 120);
    std::vector<float> spokes = floats(count, 24011, 60, 140);
    const float *dt = run.upload(targets), *from = run.upload(spokes);
    float *to = run.zeros<float>(count);
    run.measure([=] { kernel<<<BICYCLE_WHEELS / 4, 128>>>(dt, from, to); });
    for (int i = 0; i < BICYCLE_WHEELS; i++)
        bicycle_true(targets[i], &spokes[i * 32]);
    run.expect_all(
        run.output(to, count), [&](size_t i) { return spokes[i]; }, 5e-3);
}

static void bicycle_spokes_shared(Run &run)
{
    bicycle_spokes(run, bicycle_spokes_shared_kernel);
}

static void bicycle_spokes_shuffles(Run &run)
{
    bicycle_spokes(run, bicycle_spokes_shuffles_kernel);
}

// ---- How many riders find no bicycle or no free dock in a week: a thread per station, whose
// changes per quarter of an hour lie together, or those of all stations at one time do ----

enum { BICYCLE_STATIONS = 16384, BICYCLE_QUARTERS = 672 };

// x: riders without a bicycle, y: without a dock. `step` lies between two times.
__host__ __device__ inline int2 bicycle_week(const signed char *changes, int step, int docks)
{
    int2 refused = { 0, 0 };
    int here = docks / 2;
    for (int t = 0; t < BICYCLE_QUARTERS; t++) {
        here += changes[t * step];
        refused.x += max(-here, 0);
        refused.y += max(here - docks, 0);
        here = min(max(here, 0), docks);
    }
    return refused;
}

__global__ void bicycle_docks_strided_kernel(const signed char *changes, const int *docks,
                                             int2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = bicycle_week(changes + i * BICYCLE_QUARTERS, 1, docks[i]);
}

__global__ void bicycle_docks_coalesced_kernel(const signed char *changes, const int *docks,
                                               int2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = bicycle_week(changes + i, BICYCLE_STATIONS, docks[i]);
}

static void bicycle_docks(Run &run, bool coalesced)
{
    const std::vector<int> draws = integers(BICYCLE_STATIONS * BICYCLE_QUARTERS, 15, 24020);
    const std::vector<int> docks = integers(BICYCLE_STATIONS, 50, 24021);
    std::vector<signed char> changes(draws.size()), turned(draws.size());
    for (int i = 0; i < BICYCLE_STATIONS; i++)
        for (int t = 0; t < BICYCLE_QUARTERS; t++)
            turned[t * BICYCLE_STATIONS + i] = changes[i * BICYCLE_QUARTERS + t] =
                (signed char) (draws[i * BICYCLE_QUARTERS + t] - 7);
    const signed char *from = run.upload(coalesced ? turned : changes);
    const int *dd = run.upload(docks);
    int2 *to = run.zeros<int2>(BICYCLE_STATIONS);
    run.measure([=] {
        if (coalesced)
            bicycle_docks_coalesced_kernel<<<BICYCLE_STATIONS / 128, 128>>>(from, dd, to);
        else
            bicycle_docks_strided_kernel<<<BICYCLE_STATIONS / 128, 128>>>(from, dd, to);
    });
    const std::vector<int2> got = run.output(to, BICYCLE_STATIONS);
    for (int i = 0; i < BICYCLE_STATIONS; i++) {
        const int2 wanted = bicycle_week(&changes[i * BICYCLE_QUARTERS], 1, docks[i]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void bicycle_docks_strided(Run &run)
{
    bicycle_docks(run, false);
}

static void bicycle_docks_coalesced(Run &run)
{
    bicycle_docks(run, true);
}

// ---- The best slipstream of each rider of a race: all riders tried, in tiles, or only the next
// ones on the road, as the riders are in order. Half of them are in one crowd ----

enum { BICYCLE_RIDERS = 8192, BICYCLE_WAKE = 30 };

// x: along the road, y: across it.
__host__ __device__ inline float bicycle_shelter(float2 own, float2 other)
{
    const float ahead = other.x - own.x, aside = fabsf(other.y - own.y);
    if (ahead <= 0 || ahead >= BICYCLE_WAKE)
        return 0;
    return (1 - ahead / BICYCLE_WAKE) / (1 + aside * aside * (8 + ahead));
}

__global__ void bicycle_draft_all_kernel(const float2 *riders, float *out)
{
    __shared__ float2 tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 own = riders[i];
    float best = 0;
    for (int first = 0; first < BICYCLE_RIDERS; first += 128) {
        tile[threadIdx.x] = riders[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++)
            best = fmaxf(best, bicycle_shelter(own, tile[k]));
        __syncthreads();
    }
    out[i] = best;
}

__global__ void bicycle_draft_near_kernel(const float2 *riders, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 own = riders[i];
    float best = 0;
    for (int k = i + 1; k < BICYCLE_RIDERS; k++) {
        const float2 other = riders[k];
        if (other.x - own.x >= BICYCLE_WAKE)
            break;
        best = fmaxf(best, bicycle_shelter(own, other));
    }
    out[i] = best;
}

static void bicycle_draft(Run &run, void (*kernel)(const float2 *, float *))
{
    std::vector<float> along = floats(BICYCLE_RIDERS, 24030, 0, 2000);
    const std::vector<float> across = floats(BICYCLE_RIDERS, 24031, 0, 8);
    for (int i = 0; i < BICYCLE_RIDERS; i += 2)
        along[i] = 1200 + along[i] / 10;
    std::sort(along.begin(), along.end());
    std::vector<float2> riders(BICYCLE_RIDERS);
    for (int i = 0; i < BICYCLE_RIDERS; i++)
        riders[i] = { along[i], across[i] };
    const float2 *from = run.upload(riders);
    float *to = run.zeros<float>(BICYCLE_RIDERS);
    run.measure([=] { kernel<<<BICYCLE_RIDERS / 128, 128>>>(from, to); });
    run.expect_all(
        run.output(to, BICYCLE_RIDERS),
        [&](size_t i) {
            float best = 0;
            for (const float2 &other : riders)
                best = std::max(best, bicycle_shelter(riders[i], other));
            return best;
        },
        1e-5, 7);
}

static void bicycle_draft_all(Run &run)
{
    bicycle_draft(run, bicycle_draft_all_kernel);
}

static void bicycle_draft_near(Run &run)
{
    bicycle_draft(run, bicycle_draft_near_kernel);
}

#endif
