// theatres.cuh - stages and halls: echoes, lines of sight, seats of parties, cues of a script.
#ifndef BLIND_THEATRES_CUH
#define BLIND_THEATRES_CUH

#include "blind.cuh"

// ---- A recording with the echoes of a hall: one sample per thread, or four that share what they
// load ----

enum { THEATRE_SAMPLES = 270336, THEATRE_ECHOES = 512, THEATRE_PLAIN = 256, THEATRE_FOUR = 128 };

__global__ void theatre_echo_plain_kernel(const float *recording, const float *echoes, float *out)
{
    __shared__ float sound[THEATRE_PLAIN + THEATRE_ECHOES], taps[THEATRE_ECHOES];
    const int first = blockIdx.x * THEATRE_PLAIN;
    for (int i = threadIdx.x; i < THEATRE_PLAIN + THEATRE_ECHOES; i += blockDim.x)
        sound[i] = recording[first + i];
    for (int i = threadIdx.x; i < THEATRE_ECHOES; i += blockDim.x)
        taps[i] = echoes[i];
    __syncthreads();
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < THEATRE_ECHOES; k++)
        sum += taps[k] * sound[threadIdx.x + k];
    out[first + threadIdx.x] = sum;
}

__global__ void theatre_echo_four_kernel(const float4 *recording, const float4 *echoes, float4 *out)
{
    __shared__ float4 sound[THEATRE_FOUR + THEATRE_ECHOES / 4], taps[THEATRE_ECHOES / 4];
    const int first = blockIdx.x * THEATRE_FOUR;
    for (int i = threadIdx.x; i < THEATRE_FOUR + THEATRE_ECHOES / 4; i += blockDim.x)
        sound[i] = recording[first + i];
    for (int i = threadIdx.x; i < THEATRE_ECHOES / 4; i += blockDim.x)
        taps[i] = echoes[i];
    __syncthreads();
    float4 sum = { 0, 0, 0, 0 }, now = sound[threadIdx.x];
#pragma unroll 4
    for (int k = 0; k < THEATRE_ECHOES / 4; k++) {
        const float4 t = taps[k], next = sound[threadIdx.x + k + 1];
        sum.x += t.x * now.x + t.y * now.y + t.z * now.z + t.w * now.w;
        sum.y += t.x * now.y + t.y * now.z + t.z * now.w + t.w * next.x;
        sum.z += t.x * now.z + t.y * now.w + t.z * next.x + t.w * next.y;
        sum.w += t.x * now.w + t.y * next.x + t.z * next.y + t.w * next.z;
        now = next;
    }
    out[first + threadIdx.x] = sum;
}

static void theatre_echo(Run &run, bool four)
{
    const std::vector<float> recording = floats(THEATRE_SAMPLES + THEATRE_ECHOES, 20710);
    std::vector<float> echoes = floats(THEATRE_ECHOES, 20711);
    for (int k = 0; k < THEATRE_ECHOES; k++)
        echoes[k] *= expf(-0.01f * (THEATRE_ECHOES - k));
    const float *dr = run.upload(recording), *de = run.upload(echoes);
    float *to = run.zeros<float>(THEATRE_SAMPLES);
    run.measure([=] {
        if (four)
            theatre_echo_four_kernel<<<THEATRE_SAMPLES / THEATRE_FOUR / 4, THEATRE_FOUR>>>(
                (const float4 *) dr, (const float4 *) de, (float4 *) to);
        else
            theatre_echo_plain_kernel<<<THEATRE_SAMPLES / THEATRE_PLAIN, THEATRE_PLAIN>>>(dr, de,
                                                                                          to);
    });
    run.expect_all(
        run.output(to, THEATRE_SAMPLES),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < THEATRE_ECHOES; k++)
                sum += (double) echoes[k] * recording[i + k];
            return sum;
        },
        1e-3, 17);
}

static void theatre_echo_plain(Run &run)
{
    theatre_echo(run, false);
}

static void theatre_echo_four(Run &run)
{
    theatre_echo(run, true);
}

// ---- How far one sees from each seat in each direction, on a plan with pillars: step by step, or
// in jumps as long as the place is clear ----

enum { THEATRE_PLAN = 1024, THEATRE_VIEWERS = 800, THEATRE_VIEWS = 64 };

// Positions are in cells, with 16 bits behind the point. No direction is longer than a cell.
__host__ __device__ inline int theatre_cell(int2 at)
{
    return (at.y >> 16) * THEATRE_PLAN + (at.x >> 16);
}

// The plan has walls around it.
__host__ __device__ inline int theatre_steps(const unsigned char *clear, int2 at, int2 direction)
{
    int steps = 0;
    while (clear[theatre_cell(at)]) {
        at.x += direction.x;
        at.y += direction.y;
        steps++;
    }
    return steps;
}

__global__ void theatre_sight_steps_kernel(const unsigned char *clear, const int2 *viewers,
                                           const int2 *directions, int *out)
{
    const int2 at = viewers[blockIdx.x], direction = directions[threadIdx.x];
    out[blockIdx.x * THEATRE_VIEWS + threadIdx.x] = theatre_steps(clear, at, direction);
}

__global__ void theatre_sight_jumps_kernel(const unsigned char *clear, const int2 *viewers,
                                           const int2 *directions, int *out)
{
    const int2 at = viewers[blockIdx.x], direction = directions[threadIdx.x];
    int steps = 0;
    // As many steps as cells to the next pillar cannot go past it.
    for (int jump = clear[theatre_cell(at)]; jump;) {
        steps += jump;
        jump = clear[theatre_cell({ at.x + steps * direction.x, at.y + steps * direction.y })];
    }
    out[blockIdx.x * THEATRE_VIEWS + threadIdx.x] = steps;
}

// Per cell, the distance to the next pillar or wall: the larger of rows and columns.
static std::vector<unsigned char> theatre_plan()
{
    const int n = THEATRE_PLAN;
    const std::vector<int> draws = integers(900, n, 20720);
    std::vector<unsigned char> clear(n * n, 255);
    for (int p = 0; p < 300; p++) {
        const int size = 2 + draws[p * 3 + 2] % 14;
        for (int y = draws[p * 3]; y < std::min(draws[p * 3] + size, n); y++)
            for (int x = draws[p * 3 + 1]; x < std::min(draws[p * 3 + 1] + size, n); x++)
                clear[y * n + x] = 0;
    }
    for (int i = 0; i < n; i++)
        clear[i] = clear[(n - 1) * n + i] = clear[i * n] = clear[i * n + n - 1] = 0;
    const auto lower = [&](int at, int other) {
        clear[at] = (unsigned char) std::min<int>(clear[at], clear[other] + 1);
    };
    for (int turn = 0; turn < 2; turn++)
        for (int i = n + 1; i < n * n - n - 1; i++) {
            const int at = turn ? n * n - 1 - i : i, back = turn ? 1 : -1;
            if (at % n == 0 || at % n == n - 1)
                continue;
            lower(at, at + back);
            for (int k = -1; k <= 1; k++)
                lower(at, at + back * n + k);
        }
    return clear;
}

static void theatre_sight(Run &run, bool jumps)
{
    const std::vector<unsigned char> clear = theatre_plan();
    const std::vector<int> draws = integers(THEATRE_VIEWERS * 2, (THEATRE_PLAN - 2) << 16, 20721);
    std::vector<int2> viewers, directions;
    for (int v = 0; v < THEATRE_VIEWERS; v++)
        viewers.push_back({ draws[v * 2] + 65536, draws[v * 2 + 1] + 65536 });
    for (int d = 0; d < THEATRE_VIEWS; d++)
        directions.push_back(
            { (int) (65000 * cos(d * 0.0981748)), (int) (65000 * sin(d * 0.0981748)) });
    const unsigned char *plan = run.upload(clear);
    const int2 *dv = run.upload(viewers), *dd = run.upload(directions);
    int *to = run.zeros<int>(THEATRE_VIEWERS * THEATRE_VIEWS);
    run.measure([=] {
        if (jumps)
            theatre_sight_jumps_kernel<<<THEATRE_VIEWERS, THEATRE_VIEWS>>>(plan, dv, dd, to);
        else
            theatre_sight_steps_kernel<<<THEATRE_VIEWERS, THEATRE_VIEWS>>>(plan, dv, dd, to);
    });
    run.expect_all(
        run.output(to, THEATRE_VIEWERS * THEATRE_VIEWS),
        [&](size_t i) {
            return theatre_steps(clear.data(), viewers[i / THEATRE_VIEWS],
                                 directions[i % THEATRE_VIEWS]);
        },
        0);
}

static void theatre_sight_steps(Run &run)
{
    theatre_sight(run, false);
}

static void theatre_sight_jumps(Run &run)
{
    theatre_sight(run, true);
}

// ---- Seats next to each other for each party, in the first row that has them: a thread per
// performance, or a warp. Few performances are popular ----

enum { THEATRE_NIGHTS = 6000, THEATRE_ROWS = 64 };

// The first of `party` free seats, or 64.
__host__ __device__ inline int theatre_fit(unsigned long long row, int party)
{
    unsigned long long fits = row;
    for (int k = 1; k < party; k++)
        fits &= row >> k;
#ifdef __CUDA_ARCH__
    return fits ? __ffsll((long long) fits) - 1 : 64;
#else
    return fits ? __builtin_ctzll(fits) : 64;
#endif
}

__host__ __device__ inline unsigned long long theatre_take(int seat, int party)
{
    return ((1ull << party) - 1) << seat;
}

// The place of each party is row * 64 + seat, or -1. `rows` are `stride` words apart.
__host__ __device__ inline void theatre_night(unsigned long long *rows, int stride,
                                              const unsigned char *parties, int count, short *out)
{
    for (int r = 0; r < THEATRE_ROWS; r++)
        rows[r * stride] = ~0ull;
    for (int i = 0; i < count; i++) {
        const int party = parties[i];
        int r = 0, seat = 64;
        for (; r < THEATRE_ROWS; r++)
            if ((seat = theatre_fit(rows[r * stride], party)) < 64)
                break;
        out[i] = (short) (seat < 64 ? r * 64 + seat : -1);
        if (seat < 64)
            rows[r * stride] &= ~theatre_take(seat, party);
    }
}

__global__ void theatre_seats_thread_kernel(const int *starts, const unsigned char *parties,
                                            short *out)
{
    __shared__ unsigned long long rows[THEATRE_ROWS * 32];
    const int night = blockIdx.x * 32 + threadIdx.x;
    if (night < THEATRE_NIGHTS)
        theatre_night(rows + threadIdx.x, 32, parties + starts[night],
                      starts[night + 1] - starts[night], out + starts[night]);
}

__global__ void theatre_seats_warp_kernel(const int *starts, const unsigned char *parties,
                                          short *out)
{
    const int night = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (night >= THEATRE_NIGHTS)
        return;
    unsigned long long front = ~0ull, back = ~0ull; // rows `lane` and `lane` + 32
    for (int i = starts[night]; i < starts[night + 1]; i++) {
        const int party = parties[i];
        int seat = theatre_fit(front, party), row = lane;
        uint32_t found = __ballot_sync(~0u, seat < 64);
        const bool behind = !found;
        if (behind) {
            seat = theatre_fit(back, party);
            row += 32;
            found = __ballot_sync(~0u, seat < 64);
        }
        if (!found && lane == 0)
            out[i] = -1;
        if (!found || lane != __ffs((int) found) - 1)
            continue;
        out[i] = (short) (row * 64 + seat);
        (behind ? back : front) &= ~theatre_take(seat, party);
    }
}

static void theatre_seats(Run &run, bool warps)
{
    const std::vector<int> draws = integers(THEATRE_NIGHTS, 2000, 20730);
    std::vector<int> starts(1, 0);
    for (int n = 0; n < THEATRE_NIGHTS; n++)
        starts.push_back(starts[n] + (draws[n] < 50 ? 100 + draws[n] * 2 : 4 + draws[n] / 60));
    const int count = starts[THEATRE_NIGHTS];
    const std::vector<int> sizes = integers(count, 10, 20731);
    std::vector<unsigned char> parties(count);
    for (int i = 0; i < count; i++)
        parties[i] = (unsigned char) (1 + sizes[i]);
    const int *ds = run.upload(starts);
    const unsigned char *dp = run.upload(parties);
    short *to = run.zeros<short>(count);
    run.measure([=] {
        if (warps)
            theatre_seats_warp_kernel<<<blocks_for(THEATRE_NIGHTS * 32, 128), 128>>>(ds, dp, to);
        else
            theatre_seats_thread_kernel<<<blocks_for(THEATRE_NIGHTS, 32), 32>>>(ds, dp, to);
    });
    std::vector<short> wanted(count);
    for (int n = 0; n < THEATRE_NIGHTS; n++) {
        unsigned long long rows[THEATRE_ROWS];
        theatre_night(rows, 1, &parties[starts[n]], starts[n + 1] - starts[n], &wanted[starts[n]]);
    }
    run.expect_all(
        run.output(to, count), [&](size_t i) { return wanted[i]; }, 0);
}

static void theatre_seats_thread(Run &run)
{
    theatre_seats(run, false);
}

static void theatre_seats_warp(Run &run)
{
    theatre_seats(run, true);
}

// ---- What each line of a script recalls of the lines before it: a mean, weighted by likeness. A
// block takes a tile of lines, or an early and a late one, which is the same work for all ----

enum { THEATRE_LINES = 1024, THEATRE_SCRIPTS = 16, THEATRE_WIDTH = 16, THEATRE_TILE = 64 };

// A line as a vector.
struct TheatreLine {
    float4 v[THEATRE_WIDTH / 4];
};

__device__ inline float theatre_dot(const TheatreLine &a, const TheatreLine &b)
{
    float sum = 0;
#pragma unroll
    for (int k = 0; k < THEATRE_WIDTH / 4; k++)
        sum +=
            a.v[k].x * b.v[k].x + a.v[k].y * b.v[k].y + a.v[k].z * b.v[k].z + a.v[k].w * b.v[k].w;
    return sum;
}

// sum = sum * keep + weight * line
__device__ inline void theatre_blend(TheatreLine &sum, float keep, float weight,
                                     const TheatreLine &line)
{
#pragma unroll
    for (int k = 0; k < THEATRE_WIDTH / 4; k++) {
        sum.v[k].x = sum.v[k].x * keep + weight * line.v[k].x;
        sum.v[k].y = sum.v[k].y * keep + weight * line.v[k].y;
        sum.v[k].z = sum.v[k].z * keep + weight * line.v[k].z;
        sum.v[k].w = sum.v[k].w * keep + weight * line.v[k].w;
    }
}

__device__ inline void theatre_recall(const TheatreLine *lines, TheatreLine *shared, int tile,
                                      TheatreLine *out)
{
    const int line = tile * THEATRE_TILE + threadIdx.x;
    const TheatreLine mine = lines[line];
    TheatreLine sum = {};
    float top = -1e30f, total = 0;
    for (int from = 0; from <= tile; from++) {
        __syncthreads();
        shared[threadIdx.x] = lines[from * THEATRE_TILE + threadIdx.x];
        __syncthreads();
        const int count = from == tile ? threadIdx.x + 1 : THEATRE_TILE;
        for (int k = 0; k < count; k++) {
            const float likeness = theatre_dot(mine, shared[k]) * 0.25f;
            const float above = fmaxf(top, likeness);
            const float keep = __expf(top - above), weight = __expf(likeness - above);
            theatre_blend(sum, keep, weight, shared[k]);
            total = total * keep + weight;
            top = above;
        }
    }
    const TheatreLine all = sum;
    sum = {};
    theatre_blend(sum, 0, 1 / total, all);
    out[line] = sum;
}

// blockIdx.y: the script.
__global__ void theatre_cues_tiles_kernel(const TheatreLine *lines, TheatreLine *out)
{
    __shared__ TheatreLine shared[THEATRE_TILE];
    const int script = blockIdx.y * THEATRE_LINES;
    theatre_recall(lines + script, shared, blockIdx.x, out + script);
}

__global__ void theatre_cues_folded_kernel(const TheatreLine *lines, TheatreLine *out)
{
    __shared__ TheatreLine shared[THEATRE_TILE];
    const int script = blockIdx.y * THEATRE_LINES, last = THEATRE_LINES / THEATRE_TILE - 1;
    theatre_recall(lines + script, shared, blockIdx.x, out + script);
    theatre_recall(lines + script, shared, last - blockIdx.x, out + script);
}

// Element `d` of what line `line` recalls.
static double theatre_host_cue(const float *script, int line, int d)
{
    double sum = 0, total = 0;
    for (int from = 0; from <= line; from++) {
        double likeness = 0;
        for (int k = 0; k < THEATRE_WIDTH; k++)
            likeness +=
                (double) script[line * THEATRE_WIDTH + k] * script[from * THEATRE_WIDTH + k];
        const double weight = exp(likeness * 0.25);
        sum += weight * script[from * THEATRE_WIDTH + d];
        total += weight;
    }
    return sum / total;
}

static void theatre_cues(Run &run, bool folded)
{
    const size_t script = (size_t) THEATRE_LINES * THEATRE_WIDTH, n = script * THEATRE_SCRIPTS;
    const std::vector<float> lines = floats(n, 20740, -1.5f, 1.5f);
    const TheatreLine *from = (const TheatreLine *) run.upload(lines);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        const int tiles = THEATRE_LINES / THEATRE_TILE;
        if (folded)
            theatre_cues_folded_kernel<<<dim3(tiles / 2, THEATRE_SCRIPTS), THEATRE_TILE>>>(
                from, (TheatreLine *) to);
        else
            theatre_cues_tiles_kernel<<<dim3(tiles, THEATRE_SCRIPTS), THEATRE_TILE>>>(
                from, (TheatreLine *) to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return theatre_host_cue(&lines[i / script * script], (int) (i % script / THEATRE_WIDTH),
                                    (int) (i % THEATRE_WIDTH));
        },
        1e-3, 197);
}

static void theatre_cues_tiles(Run &run)
{
    theatre_cues(run, false);
}

static void theatre_cues_folded(Run &run)
{
    theatre_cues(run, true);
}

#endif
