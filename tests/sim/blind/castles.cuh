// castles.cuh - castles: walls under siege, arches, ways out of dungeons, banners in rooms.
#ifndef BLIND_CASTLES_CUH
#define BLIND_CASTLES_CUH

#include "blind.cuh"

// ---- The damage of each stone of a long wall by many shots: a warp per shot adds to the stones,
// or a thread per stone looks for the shots nearby, which are in order ----

enum { CASTLE_STONES = 262144, CASTLE_SHOTS = 20000, CASTLE_REACH = 200 };

// A shot: x: place, y: radius, z: force.
__host__ __device__ inline int castle_damage(int4 shot, int stone)
{
    const int apart = abs(stone - shot.x);
    return apart > shot.y ? 0 : shot.z * (shot.y - apart + 1) / 16;
}

__global__ void castle_siege_scatter_kernel(const int4 *shots, int *damage)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int4 shot = shots[i];
    const int end = min(shot.x + shot.y, CASTLE_STONES - 1);
    for (int stone = max(shot.x - shot.y, 0) + threadIdx.x % 32; stone <= end; stone += 32)
        atomicAdd(&damage[stone], castle_damage(shot, stone));
}

__global__ void castle_siege_gather_kernel(const int4 *shots, int *damage)
{
    const int stone = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = CASTLE_SHOTS, sum = 0;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (shots[middle].x < stone - CASTLE_REACH)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < CASTLE_SHOTS && shots[low].x <= stone + CASTLE_REACH; low++)
        sum += castle_damage(shots[low], stone);
    damage[stone] = sum;
}

static void castle_siege(Run &run, bool gather)
{
    std::vector<int> places = integers(CASTLE_SHOTS, CASTLE_STONES, 24100);
    const std::vector<int> draws = integers(CASTLE_SHOTS, CASTLE_REACH, 24101);
    std::sort(places.begin(), places.end());
    std::vector<int4> shots(CASTLE_SHOTS);
    for (int i = 0; i < CASTLE_SHOTS; i++)
        shots[i] = { places[i], 1 + draws[i], 5 + draws[i] * 7 % 60, 0 };
    const int4 *from = run.upload(shots);
    int *to = run.zeros<int>(CASTLE_STONES);
    run.measure(
        [=] {
            if (gather)
                castle_siege_gather_kernel<<<CASTLE_STONES / 256, 256>>>(from, to);
            else
                castle_siege_scatter_kernel<<<CASTLE_SHOTS / 8, 256>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, CASTLE_STONES * sizeof(int))); });
    std::vector<int> wanted(CASTLE_STONES);
    for (const int4 &shot : shots)
        for (int k = std::max(shot.x - shot.y, 0);
             k <= std::min(shot.x + shot.y, CASTLE_STONES - 1); k++)
            wanted[k] += castle_damage(shot, k);
    run.expect_all(
        run.output(to, CASTLE_STONES), [&](size_t i) { return wanted[i]; }, 0);
}

static void castle_siege_scatter(Run &run)
{
    castle_siege(run, false);
}

static void castle_siege_gather(Run &run)
{
    castle_siege(run, true);
}

// ---- The shape of arches that hang like chains, from width and height, in doubles: by bisection,
// or by Newton's method ----

enum { CASTLE_ARCHES = 32768 };

// The shape u solves (cosh u - 1) / u = slope.
__global__ void castle_arch_bisect_kernel(const double *slopes, double *shapes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double slope = slopes[i];
    double low = 0, high = 8;
    while (high - low > 1e-11) {
        const double middle = 0.5 * (low + high);
        if (cosh(middle) - 1 < slope * middle)
            low = middle;
        else
            high = middle;
    }
    shapes[i] = 0.5 * (low + high);
}

// Begins above the root, and comes down to it.
__global__ void castle_arch_newton_kernel(const double *slopes, double *shapes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double slope = slopes[i];
    double u = slope < 2 ? 2 * slope : 2 * log(2 * slope) + 2, step = 1;
    for (int k = 0; k < 40 && step > 1e-9; k++) {
        const double grown = exp(u), shrunk = 1 / grown;
        step = (0.5 * (grown + shrunk) - 1 - slope * u) / (0.5 * (grown - shrunk) - slope);
        u -= step;
    }
    shapes[i] = u;
}

static void castle_arch(Run &run, void (*kernel)(const double *, double *))
{
    const std::vector<float> draws = floats(CASTLE_ARCHES, 24110, 0.1f, 30);
    const std::vector<double> slopes(draws.begin(), draws.end());
    const double *from = run.upload(slopes);
    double *to = run.zeros<double>(CASTLE_ARCHES);
    run.measure([=] { kernel<<<CASTLE_ARCHES / 128, 128>>>(from, to); });
    const std::vector<double> got = run.output(to, CASTLE_ARCHES);
    for (int i = 0; i < CASTLE_ARCHES; i++)
        run.expect((cosh(got[i]) - 1) / got[i], slopes[i], 1e-8);
}

static void castle_arch_bisect(Run &run)
{
    castle_arch(run, castle_arch_bisect_kernel);
}

static void castle_arch_newton(Run &run)
{
    castle_arch(run, castle_arch_newton_kernel);
}

// ---- Dungeons of 32 x 32 places: how far the farthest place is from the gate, and how many places
// can be reached. A block per dungeon with a thread per place, or a warp with a row of bits per
// lane ----

enum { CASTLE_DUNGEONS = 128 };

__global__ void castle_dungeon_block_kernel(const unsigned *rows, int2 *out)
{
    __shared__ unsigned char reached[34][34];
    const int x = threadIdx.x, y = threadIdx.y;
    for (int i = y * 32 + x; i < 34 * 34; i += 1024)
        reached[i / 34][i % 34] = 0;
    const bool open = rows[blockIdx.x * 32 + y] >> x & 1;
    __syncthreads();
    bool here = x == 0 && y == 0;
    reached[y + 1][x + 1] = here;
    __syncthreads();
    int rounds = 0;
    for (;; rounds++) {
        const bool next = open && (here || reached[y][x + 1] || reached[y + 2][x + 1] ||
                                   reached[y + 1][x] || reached[y + 1][x + 2]);
        if (!__syncthreads_or(next != here))
            break;
        here = next;
        reached[y + 1][x + 1] = here;
        __syncthreads();
    }
    const int count = __syncthreads_count(here);
    if (x == 0 && y == 0)
        out[blockIdx.x] = make_int2(rounds, count);
}

__global__ void castle_dungeon_warp_kernel(const unsigned *rows, int2 *out)
{
    const int dungeon = blockIdx.x, lane = threadIdx.x;
    const unsigned open = rows[dungeon * 32 + lane];
    unsigned here = lane == 0 ? 1 : 0;
    int rounds = 0;
    for (;; rounds++) {
        unsigned above = __shfl_up_sync(~0u, here, 1), below = __shfl_down_sync(~0u, here, 1);
        above = lane ? above : 0;
        below = lane < 31 ? below : 0;
        const unsigned next = (here | here << 1 | here >> 1 | above | below) & open;
        if (!__any_sync(~0u, next != here))
            break;
        here = next;
    }
    const int count = __reduce_add_sync(~0u, __popc(here));
    if (lane == 0)
        out[dungeon] = make_int2(rounds, count);
}

// Walls across with one gap each, and single stones in the corridors.
static std::vector<unsigned> castle_plans()
{
    const std::vector<uint32_t> v = words(CASTLE_DUNGEONS * 32, 24120);
    std::vector<unsigned> rows(v.size());
    for (size_t i = 0; i < v.size(); i++) {
        const int row = i % 32, side = row / 4 % 2 ? v[i] % 8 : 24 + v[i] % 8;
        rows[i] = row % 4 == 3 ? 1u << side : ~(1u << (v[i] >> 8) % 32);
        if (row == 0)
            rows[i] |= 1;
    }
    return rows;
}

static int2 castle_explore(const unsigned *rows)
{
    unsigned here[34] = {}, next[34] = {};
    int2 found = { 0, 0 };
    here[1] = 1;
    for (;; found.x++) {
        bool more = false;
        for (int y = 1; y <= 32; y++) {
            next[y] =
                (here[y] | here[y] << 1 | here[y] >> 1 | here[y - 1] | here[y + 1]) & rows[y - 1];
            more |= next[y] != here[y];
        }
        if (!more)
            break;
        std::copy(next, next + 34, here);
    }
    for (int i = 0; i < 32 * 32; i++)
        found.y += here[1 + i / 32] >> i % 32 & 1;
    return found;
}

static void castle_dungeon(Run &run, bool warp)
{
    const std::vector<unsigned> rows = castle_plans();
    const unsigned *from = run.upload(rows);
    int2 *to = run.zeros<int2>(CASTLE_DUNGEONS);
    run.measure([=] {
        if (warp)
            castle_dungeon_warp_kernel<<<CASTLE_DUNGEONS, 32>>>(from, to);
        else
            castle_dungeon_block_kernel<<<CASTLE_DUNGEONS, dim3(32, 32)>>>(from, to);
    });
    const std::vector<int2> got = run.output(to, CASTLE_DUNGEONS);
    for (int i = 0; i < CASTLE_DUNGEONS; i++) {
        const int2 wanted = castle_explore(&rows[i * 32]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void castle_dungeon_block(Run &run)
{
    castle_dungeon(run, false);
}

static void castle_dungeon_warp(Run &run)
{
    castle_dungeon(run, true);
}

// ---- In how many ways banners of three colours can hang in a castle, if rooms with a door between
// them differ: a block per castle, a thread per choice in the first four rooms. Large castles come
// together. Equal shares of castles, or tickets ----

enum { CASTLE_COURTS = 1200, CASTLE_ROOMS = 16, CASTLE_COURT_BLOCKS = 264, CASTLE_CHOICES = 81 };

// doors[d]: which of the rooms before room d have a door to it.
__host__ __device__ inline int castle_ways(const unsigned *doors, int rooms, int choice)
{
    unsigned hung[3] = {};
    int colours[CASTLE_ROOMS], ways = 0, d;
    for (d = 0; d < 4; d++, choice /= 3) {
        if (hung[choice % 3] & doors[d])
            return 0;
        hung[choice % 3] |= 1u << d;
    }
    colours[d] = -1;
    while (d >= 4) {
        if (colours[d] >= 0)
            hung[colours[d]] &= ~(1u << d);
        if (++colours[d] == 3) {
            d--;
            continue;
        }
        if (hung[colours[d]] & doors[d])
            continue;
        if (d == rooms - 1) {
            ways++;
            continue;
        }
        hung[colours[d]] |= 1u << d;
        colours[++d] = -1;
    }
    return ways;
}

__device__ inline void castle_court(const unsigned *doors, int rooms, int *out)
{
    __shared__ unsigned copy[CASTLE_ROOMS];
    __shared__ int sum;
    if (threadIdx.x < CASTLE_ROOMS)
        copy[threadIdx.x] = doors[threadIdx.x];
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (threadIdx.x < CASTLE_CHOICES)
        atomicAdd(&sum, castle_ways(copy, rooms, threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum;
}

__global__ void castle_banners_shares_kernel(const unsigned *doors, const int *rooms, int *out,
                                             int *)
{
    const int share = (CASTLE_COURTS + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
    for (int i = first; i < min(first + share, CASTLE_COURTS); i++)
        castle_court(doors + i * CASTLE_ROOMS, rooms[i], &out[i]);
}

__global__ void castle_banners_tickets_kernel(const unsigned *doors, const int *rooms, int *out,
                                              int *next)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 1);
        __syncthreads();
        const int i = ticket;
        if (i >= CASTLE_COURTS)
            return;
        castle_court(doors + i * CASTLE_ROOMS, rooms[i], &out[i]);
    }
}

static void castle_banners(Run &run, bool tickets)
{
    const std::vector<uint32_t> v = words(CASTLE_COURTS * CASTLE_ROOMS, 24130);
    std::vector<unsigned> doors(v.size());
    std::vector<int> rooms(CASTLE_COURTS);
    for (int i = 0; i < CASTLE_COURTS; i++) {
        rooms[i] = (v[i / 8] >> 5) % 10 ? 8 + v[i] % 3 : 12;
        for (int d = 1; d < CASTLE_ROOMS; d++) {
            const uint32_t draw = v[i * CASTLE_ROOMS + d];
            doors[i * CASTLE_ROOMS + d] = 1u << draw % d | (draw >> 8) % 3 / 2 << (draw >> 16) % d;
        }
    }
    const unsigned *from = run.upload(doors);
    const int *dr = run.upload(rooms);
    int *to = run.zeros<int>(CASTLE_COURTS), *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                castle_banners_tickets_kernel<<<CASTLE_COURT_BLOCKS, 96>>>(from, dr, to, next);
            else
                castle_banners_shares_kernel<<<CASTLE_COURT_BLOCKS, 96>>>(from, dr, to, next);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, CASTLE_COURTS),
        [&](size_t i) {
            int ways = 0;
            for (int choice = 0; choice < CASTLE_CHOICES; choice++)
                ways += castle_ways(&doors[i * CASTLE_ROOMS], rooms[i], choice);
            return ways;
        },
        0);
}

static void castle_banners_shares(Run &run)
{
    castle_banners(run, false);
}

static void castle_banners_tickets(Run &run)
{
    castle_banners(run, true);
}

#endif
