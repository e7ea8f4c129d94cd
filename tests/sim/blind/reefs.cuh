// reefs.cuh - coral reefs: species that overgrow each other, schools of fish, samples of species,
// the extent of colonies.
#ifndef BLIND_REEFS_CUH
#define BLIND_REEFS_CUH

#include "blind.cuh"

// ---- Six species, each of which overgrows the one before if two of eight neighbours belong to it:
// a thread per cell, or four cells in the bytes of a word ----

enum { REEF_SIDE = 2048, REEF_KINDS = 6 };

__host__ __device__ inline uint8_t reef_next_kind(const uint8_t *cells, int x, int y)
{
    const int kind = cells[y * REEF_SIDE + x], rival = kind + 1 < REEF_KINDS ? kind + 1 : 0;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            count +=
                cells[((y + dy) & (REEF_SIDE - 1)) * REEF_SIDE + ((x + dx) & (REEF_SIDE - 1))] ==
                rival;
    return count >= 2 ? rival : kind;
}

__global__ void reef_overgrow_bytes_kernel(const uint8_t *cells, uint8_t *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * REEF_SIDE + x] = reef_next_kind(cells, x, y);
}

// Rivals in a row, per byte: the cell to the left, the cell and the one to the right.
__device__ inline uint32_t reef_rivals(const uint32_t *row, int x, uint32_t rivals)
{
    const int last = REEF_SIDE / 4 - 1;
    const uint32_t here = row[x], left = row[(x - 1) & last], right = row[(x + 1) & last];
    const uint32_t one = 0x01010101;
    return (__vcmpeq4(__funnelshift_l(left, here, 8), rivals) & one) +
           (__vcmpeq4(here, rivals) & one) +
           (__vcmpeq4(__funnelshift_r(here, right, 8), rivals) & one);
}

__global__ void reef_overgrow_words_kernel(const uint32_t *cells, uint32_t *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, width = REEF_SIDE / 4;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const uint32_t kinds = cells[y * width + x];
    uint32_t rivals = kinds + 0x01010101, count = 0;
    rivals &= ~__vcmpeq4(rivals, REEF_KINDS * 0x01010101);
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
        count += reef_rivals(cells + ((y + dy) & (REEF_SIDE - 1)) * width, x, rivals);
    const uint32_t taken = __vcmpgeu4(count, 0x02020202);
    out[y * width + x] = (rivals & taken) | (kinds & ~taken);
}

static void reef_overgrow(Run &run, bool by_words)
{
    const size_t n = (size_t) REEF_SIDE * REEF_SIDE;
    const std::vector<int> draws = integers(n, REEF_KINDS, 22540);
    const std::vector<uint8_t> cells(draws.begin(), draws.end());
    const uint8_t *from = run.upload(cells);
    uint8_t *to = run.zeros<uint8_t>(n);
    run.measure([=] {
        const dim3 block(32, 8);
        if (by_words)
            reef_overgrow_words_kernel<<<dim3(REEF_SIDE / 128, REEF_SIDE / 8), block>>>(
                (const uint32_t *) from, (uint32_t *) to);
        else
            reef_overgrow_bytes_kernel<<<dim3(REEF_SIDE / 32, REEF_SIDE / 8), block>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return reef_next_kind(cells.data(), i % REEF_SIDE, i / REEF_SIDE); }, 0, 3);
}

static void reef_overgrow_bytes(Run &run)
{
    reef_overgrow(run, false);
}

static void reef_overgrow_words(Run &run)
{
    reef_overgrow(run, true);
}

// ---- Fish that turn to where their neighbours swim: a thread per fish, or a warp. Fish are sorted
// by cell of the reef, and half of them are in a few dense schools ----

enum { REEF_FISH = 24576, REEF_CELLS = 64, REEF_CELL = 1024, REEF_SCHOOLS = 12 };

// A fish: position and velocity. The sum: velocities of fish nearby, and their number.
__host__ __device__ inline void reef_meet(int4 fish, int4 other, int3 &sum)
{
    const int dx = fish.x - other.x, dy = fish.y - other.y;
    if (dx * dx + dy * dy < REEF_CELL * REEF_CELL) {
        sum.x += other.z;
        sum.y += other.w;
        sum.z++;
    }
}

// All fish in the cells around, from `first` on in steps. The cells of a row follow each other.
__host__ __device__ inline int3 reef_school(const int *starts, const int4 *fish, int4 mine,
                                            int first, int step)
{
    const int x = mine.x / REEF_CELL, y = mine.y / REEF_CELL;
    const int left = x > 0 ? x - 1 : 0, right = x + 1 < REEF_CELLS ? x + 1 : x;
    int3 sum = { 0, 0, 0 };
    for (int row = y > 0 ? y - 1 : 0; row <= y + 1 && row < REEF_CELLS; row++) {
        const int end = starts[row * REEF_CELLS + right + 1];
        for (int i = starts[row * REEF_CELLS + left] + first; i < end; i += step)
            reef_meet(mine, fish[i], sum);
    }
    return sum;
}

__host__ __device__ inline float2 reef_turned(int4 fish, int3 sum)
{
    const float part = 0.2f / sum.z;
    return { 0.8f * fish.z + part * sum.x, 0.8f * fish.w + part * sum.y };
}

__global__ void reef_school_thread_kernel(const int *starts, const int4 *fish, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int4 mine = fish[i];
    out[i] = reef_turned(mine, reef_school(starts, fish, mine, 0, 1));
}

__global__ void reef_school_warp_kernel(const int *starts, const int4 *fish, float2 *out)
{
    const int lane = threadIdx.x % 32, i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int4 mine = fish[i];
    int3 sum = reef_school(starts, fish, mine, lane, 32);
    sum.x = __reduce_add_sync(~0u, sum.x);
    sum.y = __reduce_add_sync(~0u, sum.y);
    sum.z = __reduce_add_sync(~0u, sum.z);
    if (lane == 0)
        out[i] = reef_turned(mine, sum);
}

static int reef_cell(int4 fish)
{
    return fish.y / REEF_CELL * REEF_CELLS + fish.x / REEF_CELL;
}

static std::vector<int4> reef_sorted_fish()
{
    const std::vector<int> draws = integers(REEF_FISH * 4, 65536, 22550);
    const std::vector<int> schools = integers(REEF_SCHOOLS * 2, 60000, 22551);
    std::vector<int4> fish(REEF_FISH);
    for (int i = 0; i < REEF_FISH; i++) {
        fish[i] = { draws[i * 4], draws[i * 4 + 1], draws[i * 4 + 2] % 401 - 200,
                    draws[i * 4 + 3] % 401 - 200 };
        if (i % 2) {
            const int school = i / 2 % REEF_SCHOOLS;
            fish[i].x = schools[school * 2] + fish[i].x / 16;
            fish[i].y = schools[school * 2 + 1] + fish[i].y / 16;
        }
    }
    std::stable_sort(fish.begin(), fish.end(),
                     [](int4 a, int4 b) { return reef_cell(a) < reef_cell(b); });
    return fish;
}

static void reef_schools(Run &run, bool warp)
{
    const std::vector<int4> fish = reef_sorted_fish();
    std::vector<int> starts(REEF_CELLS * REEF_CELLS + 1, 0);
    for (const int4 one : fish)
        starts[reef_cell(one) + 1]++;
    for (int i = 0; i < REEF_CELLS * REEF_CELLS; i++)
        starts[i + 1] += starts[i];
    const int *ds = run.upload(starts);
    const int4 *df = run.upload(fish);
    float2 *to = run.zeros<float2>(REEF_FISH);
    run.measure([=] {
        if (warp)
            reef_school_warp_kernel<<<REEF_FISH / 8, 256>>>(ds, df, to);
        else
            reef_school_thread_kernel<<<REEF_FISH / 128, 128>>>(ds, df, to);
    });
    const std::vector<float2> got = run.output(to, REEF_FISH);
    for (int i = 0; i < REEF_FISH; i += 3) {
        const float2 wanted =
            reef_turned(fish[i], reef_school(starts.data(), fish.data(), fish[i], 0, 1));
        run.expect(got[i].x, wanted.x, 1e-5);
        run.expect(got[i].y, wanted.y, 1e-5);
    }
}

static void reef_school_thread(Run &run)
{
    reef_schools(run, false);
}

static void reef_school_warp(Run &run)
{
    reef_schools(run, true);
}

// ---- How many species smaller samples of a site would have had (rarefaction): factorials by
// lgamma, or from a table of their logarithms ----

enum { REEF_SITES = 2000, REEF_SPECIES = 32, REEF_SAMPLES = 16, REEF_MOST = 4096 };

__constant__ int reef_sizes[REEF_SAMPLES];

struct ReefGamma {
    __host__ __device__ double operator()(int n) const
    {
        return lgamma(n + 1.0);
    }
};

struct ReefTable {
    const double *logs;

    __device__ double operator()(int n) const
    {
        return logs[n];
    }
};

// A species is missed with the probability of samples without it by all samples.
template <class Factorial>
__host__ __device__ inline double reef_expected(const int *counts, int total, int sample,
                                                Factorial log_of)
{
    const double all = log_of(total) - log_of(total - sample);
    double sum = 0;
    for (int k = 0; k < REEF_SPECIES; k++) {
        const int others = total - counts[k];
        sum += 1;
        if (others >= sample)
            sum -= exp(log_of(others) - log_of(others - sample) - all);
    }
    return sum;
}

template <class Factorial>
__global__ void reef_rarefy_kernel(const int *counts, const int *totals, Factorial log_of,
                                   double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, site = i / REEF_SAMPLES;
    out[i] = reef_expected(counts + site * REEF_SPECIES, totals[site], reef_sizes[i % REEF_SAMPLES],
                           log_of);
}

static void reef_rarefy(Run &run, bool table)
{
    const std::vector<float> draws = floats(REEF_SITES * REEF_SPECIES, 22560, 0, 1);
    std::vector<int> counts(draws.size()), totals(REEF_SITES, 0), sizes;
    for (size_t i = 0; i < draws.size(); i++) {
        counts[i] = 1 + (int) (120 * draws[i] * draws[i] * draws[i] * draws[i]);
        totals[i / REEF_SPECIES] += counts[i];
    }
    for (int k = 0; k < REEF_SAMPLES; k++)
        sizes.push_back(2 * (k + 1));
    CHECK(cudaMemcpyToSymbol(reef_sizes, sizes.data(), sizeof reef_sizes));
    std::vector<double> logs(REEF_MOST);
    for (int i = 0; i < REEF_MOST; i++)
        logs[i] = ReefGamma()(i);
    const int *dc = run.upload(counts), *dt = run.upload(totals);
    const ReefTable from_table = { run.upload(logs) };
    const int n = REEF_SITES * REEF_SAMPLES;
    double *to = run.zeros<double>(n);
    run.measure([=] {
        if (table)
            reef_rarefy_kernel<<<n / 128, 128>>>(dc, dt, from_table, to);
        else
            reef_rarefy_kernel<<<n / 128, 128>>>(dc, dt, ReefGamma(), to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const size_t site = i / REEF_SAMPLES;
            return reef_expected(&counts[site * REEF_SPECIES], totals[site],
                                 sizes[i % REEF_SAMPLES], ReefGamma());
        },
        1e-9, 3);
}

static void reef_rarefy_formula(Run &run)
{
    reef_rarefy(run, false);
}

static void reef_rarefy_table(Run &run)
{
    reef_rarefy(run, true);
}

// ---- The extent of colonies, the largest distance of two of their points: blocks take each 264th
// colony, or draw tickets. A few colonies are old and large ----

enum { REEF_COLONIES = 1500, REEF_DIVERS = 264 };

__host__ __device__ inline int reef_distance(short4 a, short4 b)
{
    const int x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

// The output is zero before.
__device__ inline void reef_extent_of(const int *starts, const short4 *points, int colony, int *out)
{
    const int end = starts[colony + 1];
    int largest = 0;
    for (int i = starts[colony] + threadIdx.x; i < end; i += blockDim.x) {
        const short4 point = points[i];
        for (int k = i + 1; k < end; k++)
            largest = max(largest, reef_distance(point, points[k]));
    }
    largest = __reduce_max_sync(~0u, largest);
    if (threadIdx.x % 32 == 0)
        atomicMax(&out[colony], largest);
}

__global__ void reef_extent_turns_kernel(const int *starts, const short4 *points, int *out, int *)
{
    for (int colony = blockIdx.x; colony < REEF_COLONIES; colony += gridDim.x)
        reef_extent_of(starts, points, colony, out);
}

__global__ void reef_extent_tickets_kernel(const int *starts, const short4 *points, int *out,
                                           int *tickets)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(tickets, 1);
        __syncthreads();
        const int colony = ticket;
        __syncthreads();
        if (colony >= REEF_COLONIES)
            return;
        reef_extent_of(starts, points, colony, out);
    }
}

static void reef_extent(Run &run, bool by_tickets)
{
    const std::vector<int> draws = integers(REEF_COLONIES, 1000, 22570);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < REEF_COLONIES; i++)
        starts.push_back(starts[i] + (draws[i] < 30 ? 800 + draws[i] * 20 : 20 + draws[i] / 6));
    const int n = starts[REEF_COLONIES];
    const std::vector<int> places = integers((size_t) n * 3, 4000, 22571);
    std::vector<short4> points(n);
    for (int i = 0; i < n; i++)
        points[i] = { (short) places[i * 3], (short) places[i * 3 + 1], (short) places[i * 3 + 2],
                      0 };
    const int *ds = run.upload(starts);
    const short4 *dp = run.upload(points);
    int *to = run.zeros<int>(REEF_COLONIES), *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                reef_extent_tickets_kernel<<<REEF_DIVERS, 128>>>(ds, dp, to, tickets);
            else
                reef_extent_turns_kernel<<<REEF_DIVERS, 128>>>(ds, dp, to, tickets);
        },
        [=] {
            CHECK(cudaMemset(to, 0, REEF_COLONIES * sizeof(int)));
            CHECK(cudaMemset(tickets, 0, sizeof(int)));
        });
    run.expect_all(
        run.output(to, REEF_COLONIES),
        [&](size_t colony) {
            int largest = 0;
            for (int i = starts[colony]; i < starts[colony + 1]; i++)
                for (int k = i + 1; k < starts[colony + 1]; k++)
                    largest = std::max(largest, reef_distance(points[i], points[k]));
            return largest;
        },
        0);
}

static void reef_extent_turns(Run &run)
{
    reef_extent(run, false);
}

static void reef_extent_tickets(Run &run)
{
    reef_extent(run, true);
}

#endif
