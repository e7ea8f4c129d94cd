// stadiums.cuh - ways to exits, seasons of a league, flights of balls, queues at gates.
#ifndef BLIND_STADIUMS_CUH
#define BLIND_STADIUMS_CUH

#include "blind.cuh"

// ---- How far the seats of a section are from its exits, around what blocks the way, step by step:
// a block per section, with a thread per seat, or a warp, with a lane per row of bits ----

enum { STADIUM_SECTIONS = 640, STADIUM_SIDE = 32 };

// The sum of all reached seats' distances, and the steps until no seat is new.
__global__ void stadium_exits_seats_kernel(const uint32_t *open, const uint32_t *exits, int2 *out)
{
    __shared__ int steps[STADIUM_SIDE + 2][STADIUM_SIDE + 2], sum;
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x * STADIUM_SIDE + y;
    for (int i = y * STADIUM_SIDE + x; i < (STADIUM_SIDE + 2) * (STADIUM_SIDE + 2);
         i += STADIUM_SIDE * STADIUM_SIDE)
        (&steps[0][0])[i] = -1;
    if (x == 0 && y == 0)
        sum = 0;
    __syncthreads();
    const bool is_open = open[row] >> x & 1;
    int own = exits[row] >> x & 1 ? 0 : -1, step = 0;
    bool is_new = own == 0;
    while (__syncthreads_or(is_new)) {
        if (is_new)
            steps[y + 1][x + 1] = own;
        __syncthreads();
        is_new = is_open && own < 0 &&
                 (steps[y][x + 1] == step || steps[y + 2][x + 1] == step ||
                  steps[y + 1][x] == step || steps[y + 1][x + 2] == step);
        step++;
        if (is_new)
            own = step;
    }
    own = __reduce_add_sync(~0u, max(own, 0));
    if (x == 0)
        atomicAdd(&sum, own);
    __syncthreads();
    if (x == 0 && y == 0)
        out[blockIdx.x] = { sum, step };
}

__global__ void stadium_exits_bits_kernel(const uint32_t *open, const uint32_t *exits, int2 *out)
{
    const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < STADIUM_SECTIONS; i += warps) {
        uint32_t left = open[i * STADIUM_SIDE + lane], now = exits[i * STADIUM_SIDE + lane];
        int sum = 0, step = 0;
        while (__any_sync(~0u, now)) {
            sum += step * __popc(now);
            left &= ~now;
            const uint32_t above = __shfl_up_sync(~0u, now, 1);
            const uint32_t below = __shfl_down_sync(~0u, now, 1);
            now = (now << 1 | now >> 1 | (lane ? above : 0) | (lane < 31 ? below : 0)) & left;
            step++;
        }
        sum = __reduce_add_sync(~0u, sum);
        if (!lane)
            out[i] = { sum, step };
    }
}

static int2 stadium_exits_host(const uint32_t *open, const uint32_t *exits)
{
    uint32_t left[STADIUM_SIDE], now[STADIUM_SIDE + 2] = {}, next[STADIUM_SIDE + 2] = {};
    int2 result = { 0, 0 };
    bool any = true;
    for (int y = 0; y < STADIUM_SIDE; y++) {
        left[y] = open[y];
        now[y + 1] = exits[y];
    }
    for (; any; result.y += any) {
        any = false;
        for (int y = 0; y < STADIUM_SIDE; y++) {
            const uint32_t own = now[y + 1];
            any |= own != 0;
            result.x += result.y * __builtin_popcount(own);
            left[y] &= ~own;
            next[y + 1] = (own << 1 | own >> 1 | now[y] | now[y + 2]) & left[y];
        }
        std::copy(next, next + STADIUM_SIDE + 2, now);
    }
    return result;
}

static void stadium_exits(Run &run, bool bits)
{
    const int rows = STADIUM_SECTIONS * STADIUM_SIDE;
    const std::vector<uint32_t> v = words(rows, 21580), w = words(rows, 21581);
    const std::vector<int> draws = integers(STADIUM_SECTIONS * 2, 1024, 21582);
    std::vector<uint32_t> open(rows), exits(rows);
    for (int i = 0; i < rows; i++)
        open[i] = v[i] | w[i];
    for (int i = 0; i < STADIUM_SECTIONS * 2; i++) { // two exits
        const int row = i / 2 * STADIUM_SIDE + draws[i] / 32;
        exits[row] |= 1u << draws[i] % 32;
        open[row] |= exits[row];
    }
    const uint32_t *dopen = run.upload(open), *dexits = run.upload(exits);
    int2 *to = run.zeros<int2>(STADIUM_SECTIONS);
    run.measure([=] {
        if (bits)
            stadium_exits_bits_kernel<<<40, 128>>>(dopen, dexits, to);
        else
            stadium_exits_seats_kernel<<<STADIUM_SECTIONS, dim3(STADIUM_SIDE, STADIUM_SIDE)>>>(
                dopen, dexits, to);
    });
    const std::vector<int2> got = run.output(to, STADIUM_SECTIONS);
    for (int i = 0; i < STADIUM_SECTIONS; i++) {
        const int2 wanted = stadium_exits_host(&open[i * STADIUM_SIDE], &exits[i * STADIUM_SIDE]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void stadium_exits_seats(Run &run)
{
    stadium_exits(run, false);
}

static void stadium_exits_bits(Run &run)
{
    stadium_exits(run, true);
}

// ---- How often each team wins a league, in random seasons: points in a local array, or in shared
// memory ----

enum { STADIUM_SEASONS = 65536, STADIUM_TEAMS = 18 };
enum { STADIUM_MATCHES = STADIUM_TEAMS * (STADIUM_TEAMS - 1), STADIUM_LEAGUE = 128 };

__constant__ uchar2 stadium_fixtures[STADIUM_MATCHES];
__constant__ int stadium_strengths[STADIUM_TEAMS];

// The points of team k are at points[k * stride].
__host__ __device__ inline int stadium_champion(int season, const uchar2 *fixtures,
                                                const int *strengths, int *points, int stride)
{
    uint32_t seed = 2654435769u * (season + 1);
    for (int k = 0; k < STADIUM_TEAMS; k++)
        points[k * stride] = 0;
    for (int k = 0; k < STADIUM_MATCHES; k++) {
        const int home = fixtures[k].x, away = fixtures[k].y;
        seed = seed * 1664525u + 1013904223u;
        const int luck = (int) (seed >> 22) - strengths[home] + strengths[away];
        if (luck < 450)
            points[home * stride] += 3;
        else if (luck >= 700)
            points[away * stride] += 3;
        else {
            points[home * stride]++;
            points[away * stride]++;
        }
    }
    int best = 0;
    for (int k = 1; k < STADIUM_TEAMS; k++)
        if (points[k * stride] > points[best * stride])
            best = k;
    return best;
}

__device__ inline void stadium_count(int best, int *wins)
{
    __shared__ int counts[STADIUM_TEAMS];
    if (threadIdx.x < STADIUM_TEAMS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[best], 1);
    __syncthreads();
    if (threadIdx.x < STADIUM_TEAMS)
        atomicAdd(&wins[threadIdx.x], counts[threadIdx.x]);
}

__global__ void stadium_season_local_kernel(int *wins)
{
    int points[STADIUM_TEAMS];
    const int season = blockIdx.x * blockDim.x + threadIdx.x;
    stadium_count(stadium_champion(season, stadium_fixtures, stadium_strengths, points, 1), wins);
}

__global__ void stadium_season_shared_kernel(int *wins)
{
    __shared__ int points[STADIUM_TEAMS * STADIUM_LEAGUE];
    const int season = blockIdx.x * blockDim.x + threadIdx.x;
    stadium_count(stadium_champion(season, stadium_fixtures, stadium_strengths,
                                   points + threadIdx.x, STADIUM_LEAGUE),
                  wins);
}

static void stadium_season(Run &run, void (*kernel)(int *))
{
    std::vector<int> strengths = integers(STADIUM_TEAMS, 250, 21584);
    const std::vector<uint32_t> draws = words(STADIUM_MATCHES, 21585);
    std::vector<uchar2> fixtures;
    for (int i = 0; i < STADIUM_TEAMS; i++)
        for (int k = 0; k < STADIUM_TEAMS; k++)
            if (i != k)
                fixtures.push_back({ (unsigned char) i, (unsigned char) k });
    for (int i = STADIUM_MATCHES - 1; i; i--)
        std::swap(fixtures[i], fixtures[draws[i] % (i + 1)]);
    CHECK(cudaMemcpyToSymbol(stadium_fixtures, fixtures.data(), sizeof stadium_fixtures));
    CHECK(cudaMemcpyToSymbol(stadium_strengths, strengths.data(), sizeof stadium_strengths));
    int *to = run.zeros<int>(STADIUM_TEAMS);
    run.measure([=] { kernel<<<STADIUM_SEASONS / STADIUM_LEAGUE, STADIUM_LEAGUE>>>(to); },
                [=] { CHECK(cudaMemset(to, 0, STADIUM_TEAMS * sizeof(int))); });
    int wins[STADIUM_TEAMS] = {}, points[STADIUM_TEAMS];
    for (int i = 0; i < STADIUM_SEASONS; i++)
        wins[stadium_champion(i, fixtures.data(), strengths.data(), points, 1)]++;
    run.expect_all(
        run.output(to, STADIUM_TEAMS), [&](size_t i) { return wins[i]; }, 0);
}

static void stadium_season_local(Run &run)
{
    stadium_season(run, stadium_season_local_kernel);
}

static void stadium_season_shared(Run &run)
{
    stadium_season(run, stadium_season_shared_kernel);
}

// ---- Where balls land, with drag and spin, by midpoint steps: in doubles or in floats. Kicks are
// sorted by how steep they are, so that the last blocks take the most steps ----

enum { STADIUM_KICKS = 32768 };

template <class T> struct StadiumBall {
    T x, y, z, vx, vy, vz;

    __host__ __device__ void step(const StadiumBall &slope, T time, StadiumBall &to) const
    {
        const T spin = slope.x, drag = T(0.012);
        const T pace = drag * sqrt(vx * vx + vy * vy + vz * vz);
        to.x += time * vx;
        to.y += time * vy;
        to.z += time * vz;
        to.vx += time * (spin * vy - pace * vx);
        to.vy += time * (-spin * vx - pace * vy);
        to.vz += time * (-T(9.81) - pace * vz);
    }
};

// A kick: the velocity and the spin.
template <class T> __host__ __device__ inline float2 stadium_land(float4 kick)
{
    const T time = T(0.01);
    const StadiumBall<T> spin = { T(kick.w), 0, 0, 0, 0, 0 };
    StadiumBall<T> ball = { 0, 0, T(0.11), T(kick.x), T(kick.y), T(kick.z) }, before = ball;
    for (int k = 0; k < 2000 && ball.z > 0; k++) {
        StadiumBall<T> half = ball;
        before = ball;
        ball.step(spin, time / 2, half);
        half.step(spin, time, ball);
    }
    const T part = before.z / (before.z - ball.z);
    return { (float) (before.x + part * (ball.x - before.x)),
             (float) (before.y + part * (ball.y - before.y)) };
}

template <class T> __global__ void stadium_ball_kernel(const float4 *kicks, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = stadium_land<T>(kicks[i]);
}

static void stadium_ball(Run &run, void (*kernel)(const float4 *, float2 *))
{
    const std::vector<float> draws = floats(STADIUM_KICKS * 3, 21586, 0, 1);
    std::vector<float> steep = floats(STADIUM_KICKS, 21587, 0, 1);
    std::sort(steep.begin(), steep.end());
    std::vector<float4> kicks(STADIUM_KICKS);
    for (int i = 0; i < STADIUM_KICKS; i++)
        kicks[i] = { 8 + 20 * draws[i * 3], 6 * draws[i * 3 + 1] - 3, 1 + 22 * steep[i] * steep[i],
                     0.6f * draws[i * 3 + 2] - 0.3f };
    const float4 *from = run.upload(kicks);
    float2 *to = run.zeros<float2>(STADIUM_KICKS);
    run.measure([=] { kernel<<<STADIUM_KICKS / 128, 128>>>(from, to); });
    const std::vector<float2> got = run.output(to, STADIUM_KICKS);
    for (int i = 0; i < STADIUM_KICKS; i += 7) {
        const float2 wanted = stadium_land<double>(kicks[i]);
        run.expect(got[i].x, wanted.x, 1e-3);
        run.expect(got[i].y, wanted.y, 1e-3);
    }
}

static void stadium_ball_double(Run &run)
{
    stadium_ball(run, stadium_ball_kernel<double>);
}

static void stadium_ball_float(Run &run)
{
    stadium_ball(run, stadium_ball_kernel<float>);
}

// ---- How long fans wait in all at each gate, by scans of queues. A few gates have long queues:
// blocks take every 330th gate, or draw tickets ----

enum { STADIUM_GATES = 1980, STADIUM_STEWARDS = 330, STADIUM_WARPS = 4 };

// What fans do to a time t at which a gate gets free: max(t + busy, end).
struct StadiumQueue {
    int busy, end;

    __device__ StadiumQueue then(StadiumQueue next) const
    {
        return { busy + next.busy, max(end + next.busy, next.end) };
    }
};

// Fans 0 to `lane`.
__device__ inline StadiumQueue stadium_scan(StadiumQueue own, int lane)
{
    for (int d = 1; d < 32; d *= 2) {
        const StadiumQueue before = { __shfl_up_sync(~0u, own.busy, d),
                                      __shfl_up_sync(~0u, own.end, d) };
        if (lane >= d)
            own = before.then(own);
    }
    return own;
}

// A fan: arrival, and how long the gate takes.
__device__ inline void stadium_gate(const int *starts, const int2 *fans, int gate, uint32_t *out)
{
    __shared__ StadiumQueue warps[STADIUM_WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int now = 0;
    uint32_t wait = 0;
    for (int first = starts[gate]; first < starts[gate + 1]; first += blockDim.x) {
        const int i = first + threadIdx.x;
        const int2 fan = i < starts[gate + 1] ? fans[i] : int2{ 0, 0 };
        const StadiumQueue own = stadium_scan({ fan.y, fan.x + fan.y }, lane);
        __syncthreads();
        if (lane == 31)
            warps[warp] = own;
        __syncthreads();
        int mine = now;
        for (int k = 0; k < STADIUM_WARPS; k++) {
            if (k == warp)
                mine = max(now + own.busy, own.end);
            now = max(now + warps[k].busy, warps[k].end);
        }
        if (i < starts[gate + 1])
            wait += mine - fan.x - fan.y;
    }
    wait = __reduce_add_sync(~0u, wait);
    if (!lane)
        atomicAdd(&out[gate], wait);
}

__global__ void stadium_gate_turns_kernel(const int *starts, const int2 *fans, uint32_t *out, int *)
{
    for (int gate = blockIdx.x; gate < STADIUM_GATES; gate += gridDim.x)
        stadium_gate(starts, fans, gate, out);
}

__global__ void stadium_gate_tickets_kernel(const int *starts, const int2 *fans, uint32_t *out,
                                            int *next)
{
    __shared__ int drawn;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            drawn = atomicAdd(next, 1);
        __syncthreads();
        if (drawn >= STADIUM_GATES)
            return;
        stadium_gate(starts, fans, drawn, out);
    }
}

static void stadium_gates(Run &run, bool tickets)
{
    const std::vector<int> draws = integers(STADIUM_GATES, 2000, 21588);
    std::vector<int> starts(1, 0);
    std::vector<int2> fans;
    for (int i = 0; i < STADIUM_GATES; i++)
        starts.push_back(starts[i] + (draws[i] < 40 ? 4000 + draws[i] * 160 : 30 + draws[i] / 6));
    const std::vector<int> between = integers(starts.back(), 32, 21589);
    const std::vector<int> service = integers(starts.back(), 30, 21590);
    std::vector<uint32_t> waits(STADIUM_GATES);
    for (int i = 0; i < STADIUM_GATES; i++)
        for (int k = starts[i], arrival = 0, now = 0; k < starts[i + 1]; k++) {
            arrival += between[k];
            fans.push_back({ arrival, 1 + service[k] });
            now = std::max(now, arrival);
            waits[i] += now - arrival;
            now += 1 + service[k];
        }
    const int *ds = run.upload(starts);
    const int2 *df = run.upload(fans);
    uint32_t *to = run.zeros<uint32_t>(STADIUM_GATES);
    int *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                stadium_gate_tickets_kernel<<<STADIUM_STEWARDS, 128>>>(ds, df, to, next);
            else
                stadium_gate_turns_kernel<<<STADIUM_STEWARDS, 128>>>(ds, df, to, next);
        },
        [=] {
            CHECK(cudaMemset(to, 0, STADIUM_GATES * sizeof(uint32_t)));
            CHECK(cudaMemset(next, 0, sizeof(int)));
        });
    run.expect_all(
        run.output(to, STADIUM_GATES), [&](size_t i) { return waits[i]; }, 0);
}

static void stadium_gate_turns(Run &run)
{
    stadium_gates(run, false);
}

static void stadium_gate_tickets(Run &run)
{
    stadium_gates(run, true);
}

#endif
