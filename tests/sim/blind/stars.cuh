// stars.cuh - catalogues of stars: the same star in two of them, periods, diagrams, angles.
#ifndef BLIND_STARS_CUH
#define BLIND_STARS_CUH

#include <cuda_fp16.h>

#include "blind.cuh"

// ---- The catalogue's star that is next to each observed one: all of them, or zones of height ----

enum { STAR_SEEN = 6000, STAR_KNOWN = 8192, STAR_ZONES = 256, STAR_BLOCK = 64 };

// A direction is a unit vector; the catalogue is sorted by z.
struct StarMatch {
    const float4 *seen, *known;
    const int *zones;
    int2 *out;
};

__host__ __device__ inline float star_apart(float4 a, float4 b)
{
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return fmaf(x, x, fmaf(y, y, z * z));
}

__host__ __device__ inline int star_zone(float z)
{
    const int zone = (int) ((z + 1) * (STAR_ZONES / 2));
    return zone < 0 ? 0 : zone > STAR_ZONES - 1 ? STAR_ZONES - 1 : zone;
}

__global__ void star_all_kernel(StarMatch m)
{
    __shared__ float4 tile[STAR_BLOCK];
    const int i = blockIdx.x * STAR_BLOCK + threadIdx.x;
    const float4 mine = m.seen[i < STAR_SEEN ? i : 0];
    float best = 4;
    int at = -1;
    for (int first = 0; first < STAR_KNOWN; first += STAR_BLOCK) {
        tile[threadIdx.x] = m.known[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < STAR_BLOCK; k++) {
            const float apart = star_apart(mine, tile[k]);
            if (apart < best) {
                best = apart;
                at = first + k;
            }
        }
        __syncthreads();
    }
    if (i < STAR_SEEN)
        m.out[i] = make_int2(at, __float_as_int(best));
}

// Both are the same star if they are less than 0.01 apart: their zones are neighbours, or equal.
__global__ void star_zones_kernel(StarMatch m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= STAR_SEEN)
        return;
    const float4 mine = m.seen[i];
    const int first = m.zones[star_zone(mine.z - 0.01f)];
    const int last = m.zones[star_zone(mine.z + 0.01f) + 1];
    float best = 4;
    int at = -1;
    for (int k = first; k < last; k++) {
        const float apart = star_apart(mine, m.known[k]);
        if (apart < best) {
            best = apart;
            at = k;
        }
    }
    m.out[i] = make_int2(at, __float_as_int(best));
}

static std::vector<float4> star_catalogue()
{
    const std::vector<float> v = floats(3 * STAR_KNOWN, 19120);
    std::vector<float4> known(STAR_KNOWN);
    for (int i = 0; i < STAR_KNOWN; i++) {
        const double turn = 3.14159265358979 * v[3 * i], z = v[3 * i + 1], r = sqrt(1 - z * z);
        known[i] = { (float) (r * cos(turn)), (float) (r * sin(turn)), (float) z, v[3 * i + 2] };
    }
    std::sort(known.begin(), known.end(),
              [](const float4 &a, const float4 &b) { return a.z < b.z; });
    return known;
}

// Known stars that have moved a little.
static std::vector<float4> star_observed(const std::vector<float4> &known)
{
    const std::vector<float> moves = floats(3 * STAR_SEEN, 19121, -1e-3f, 1e-3f);
    const std::vector<int> which = integers(STAR_SEEN, STAR_KNOWN, 19122);
    std::vector<float4> seen(STAR_SEEN);
    for (int i = 0; i < STAR_SEEN; i++) {
        const float4 s = known[which[i]];
        const float x = s.x + moves[3 * i], y = s.y + moves[3 * i + 1], z = s.z + moves[3 * i + 2];
        const float size = sqrtf(x * x + y * y + z * z);
        seen[i] = { x / size, y / size, z / size, s.w };
    }
    return seen;
}

static void star_match(Run &run, bool zones)
{
    const std::vector<float4> known = star_catalogue(), seen = star_observed(known);
    std::vector<int> starts(STAR_ZONES + 1);
    for (const float4 &s : known)
        starts[star_zone(s.z) + 1]++;
    for (int k = 0; k < STAR_ZONES; k++)
        starts[k + 1] += starts[k];
    const StarMatch m = { run.upload(seen), run.upload(known), run.upload(starts),
                          run.zeros<int2>(STAR_SEEN) };
    const int blocks = blocks_for(STAR_SEEN, STAR_BLOCK);
    run.measure([=] {
        if (zones)
            star_zones_kernel<<<blocks, STAR_BLOCK>>>(m);
        else
            star_all_kernel<<<blocks, STAR_BLOCK>>>(m);
    });
    const std::vector<int2> got = run.output(m.out, STAR_SEEN);
    for (int i = 0; i < STAR_SEEN; i += 5) {
        int best = 0;
        for (int k = 1; k < STAR_KNOWN; k++)
            if (star_apart(seen[i], known[k]) < star_apart(seen[i], known[best]))
                best = k;
        run.expect(got[i].x, best, 0);
    }
}

static void star_match_all(Run &run)
{
    star_match(run, false);
}

static void star_match_zones(Run &run)
{
    star_match(run, true);
}

// ---- Trial periods of a variable star: a thread with local bins, or a block with shared ones ----

enum { PERIODS = 8192, PERIOD_SAMPLES = 1900, PERIOD_BINS = 16 };

// Times are ticks, rates are parts of 2^32 turns per tick: a product's high bits are the phase.
__host__ __device__ inline uint32_t period_rate(int period)
{
    return 150000u + 61u * (uint32_t) period;
}

__host__ __device__ inline int period_bin(uint32_t tick, uint32_t rate)
{
    return (int) (tick * rate >> 28);
}

// How much the bins' means differ: large for the right period.
__host__ __device__ inline double period_score(int sum, int count)
{
    return count ? (double) sum * sum / count : 0;
}

__global__ void period_thread_kernel(const uint32_t *ticks, const int *lights, double *scores)
{
    const int period = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t rate = period_rate(period);
    int sums[PERIOD_BINS] = {}, counts[PERIOD_BINS] = {};
    for (int k = 0; k < PERIOD_SAMPLES; k++) {
        const int bin = period_bin(ticks[k], rate);
        sums[bin] += lights[k];
        counts[bin]++;
    }
    double score = 0;
    for (int bin = 0; bin < PERIOD_BINS; bin++)
        score += period_score(sums[bin], counts[bin]);
    scores[period] = score;
}

__global__ void period_block_kernel(const uint32_t *ticks, const int *lights, double *scores)
{
    __shared__ int sums[PERIOD_BINS], counts[PERIOD_BINS];
    const uint32_t rate = period_rate(blockIdx.x);
    if (threadIdx.x < PERIOD_BINS)
        sums[threadIdx.x] = counts[threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < PERIOD_SAMPLES; k += blockDim.x) {
        const int bin = period_bin(ticks[k], rate);
        atomicAdd(&sums[bin], lights[k]);
        atomicAdd(&counts[bin], 1);
    }
    __syncthreads();
    if (threadIdx.x >= PERIOD_BINS)
        return;
    double score = period_score(sums[threadIdx.x], counts[threadIdx.x]);
    for (int d = PERIOD_BINS / 2; d; d /= 2)
        score += __shfl_xor_sync((1u << PERIOD_BINS) - 1, score, d);
    if (threadIdx.x == 0)
        scores[blockIdx.x] = score;
}

// The star pulses at the rate of one of the trials.
static void period_samples(std::vector<uint32_t> &ticks, std::vector<int> &lights)
{
    const std::vector<int> waits = integers(PERIOD_SAMPLES, 1800, 19123);
    const std::vector<int> noise = integers(PERIOD_SAMPLES, 300, 19124);
    uint32_t now = 0;
    for (int k = 0; k < PERIOD_SAMPLES; k++) {
        ticks.push_back(now += 1 + waits[k]);
        const double turn = (now * period_rate(PERIODS / 3)) * 0x1p-32;
        lights.push_back((int) (400 * sin(2 * 3.14159265358979 * turn)) + noise[k] - 150);
    }
}

static void star_period(Run &run, bool blocks)
{
    std::vector<uint32_t> ticks;
    std::vector<int> lights;
    period_samples(ticks, lights);
    const uint32_t *dt = run.upload(ticks);
    const int *dl = run.upload(lights);
    double *to = run.zeros<double>(PERIODS);
    run.measure([=] {
        if (blocks)
            period_block_kernel<<<PERIODS, 128>>>(dt, dl, to);
        else
            period_thread_kernel<<<PERIODS / 64, 64>>>(dt, dl, to);
    });
    run.expect_all(
        run.output(to, PERIODS),
        [&](size_t period) {
            int sums[PERIOD_BINS] = {}, counts[PERIOD_BINS] = {};
            for (int k = 0; k < PERIOD_SAMPLES; k++) {
                const int bin = period_bin(ticks[k], period_rate((int) period));
                sums[bin] += lights[k];
                counts[bin]++;
            }
            double score = 0;
            for (int bin = 0; bin < PERIOD_BINS; bin++)
                score += period_score(sums[bin], counts[bin]);
            return score;
        },
        1e-12, 13);
}

static void star_period_thread(Run &run)
{
    star_period(run, false);
}

static void star_period_block(Run &run)
{
    star_period(run, true);
}

// ---- Stars by colour and brightness: counts in global memory, or 64 KiB of each block ----

enum { DIAGRAM_STARS = 5 << 19, DIAGRAM_SIDE = 128, DIAGRAM_BINS = DIAGRAM_SIDE * DIAGRAM_SIDE };
enum { DIAGRAM_BLOCKS = 132, DIAGRAM_THREADS = 1024 };

// Colours and brightnesses are from 0 to 8.
__device__ inline int diagram_bin(__half2 star)
{
    const int2 at = make_int2((int) (__low2float(star) * 16), (int) (__high2float(star) * 16));
    return min(at.y, DIAGRAM_SIDE - 1) * DIAGRAM_SIDE + min(at.x, DIAGRAM_SIDE - 1);
}

__global__ void diagram_global_kernel(const __half2 *stars, int *counts)
{
    atomicAdd(&counts[diagram_bin(stars[blockIdx.x * blockDim.x + threadIdx.x])], 1);
}

__global__ void diagram_shared_kernel(const __half2 *stars, int *counts)
{
    extern __shared__ int diagram[];
    for (int k = threadIdx.x; k < DIAGRAM_BINS; k += blockDim.x)
        diagram[k] = 0;
    __syncthreads();
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < DIAGRAM_STARS; i += step)
        atomicAdd(&diagram[diagram_bin(stars[i])], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < DIAGRAM_BINS; k += blockDim.x)
        if (diagram[k])
            atomicAdd(&counts[k], diagram[k]);
}

// Most stars are near a curve; some are anywhere.
static std::vector<__half2> diagram_stars()
{
    const std::vector<uint32_t> v = words(DIAGRAM_STARS, 19125);
    std::vector<__half2> stars(DIAGRAM_STARS);
    for (int i = 0; i < DIAGRAM_STARS; i++) {
        const uint32_t w = v[i];
        const float colour = (w & 1023) / 128.0f,
                    spread = ((w >> 10 & 255) + (w >> 18 & 255)) / 512.0f;
        const float bright = w >> 26 ? colour * colour / 9 + spread : (w >> 10 & 1023) / 128.0f;
        stars[i] = __floats2half2_rn(colour, bright);
    }
    return stars;
}

static void star_diagram(Run &run, bool shared)
{
    const std::vector<__half2> stars = diagram_stars();
    std::vector<int> wanted(DIAGRAM_BINS);
    for (const __half2 &s : stars) {
        const int x = (int) (__low2float(s) * 16), y = (int) (__high2float(s) * 16);
        wanted[std::min(y, DIAGRAM_SIDE - 1) * DIAGRAM_SIDE + std::min(x, DIAGRAM_SIDE - 1)]++;
    }
    const __half2 *from = run.upload(stars);
    int *to = run.zeros<int>(DIAGRAM_BINS);
    const int bytes = DIAGRAM_BINS * sizeof(int);
    CHECK(cudaFuncSetAttribute(diagram_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes));
    run.measure(
        [=] {
            if (shared)
                diagram_shared_kernel<<<DIAGRAM_BLOCKS, DIAGRAM_THREADS, bytes>>>(from, to);
            else
                diagram_global_kernel<<<DIAGRAM_STARS / 256, 256>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, bytes)); });
    run.expect_all(
        run.output(to, DIAGRAM_BINS), [&](size_t i) { return wanted[i]; }, 0);
}

static void star_diagram_global(Run &run)
{
    star_diagram(run, false);
}

static void star_diagram_shared(Run &run)
{
    star_diagram(run, true);
}

// ---- Pairs of known stars with a measured angle between them: two binary searches, or an index
// by angle and a walk ----

enum { ANGLES = 400000, ANGLE_SEEN = 300000, ANGLE_CELLS = 1 << 17 };

__device__ inline int angle_lower(const float *angles, float limit)
{
    int low = 0, high = ANGLES;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (angles[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The first of the angles, and how many there are.
__global__ void angle_search_kernel(const float *angles, const int *, const float2 *seen, int2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ANGLE_SEEN)
        return;
    const int first = angle_lower(angles, seen[i].x);
    out[i] = make_int2(first, angle_lower(angles, seen[i].y) - first);
}

// Cells are powers of two: exact.
__host__ __device__ inline int angle_cell(float angle)
{
    return (int) (angle * ANGLE_CELLS);
}

__global__ void angle_index_kernel(const float *angles, const int *cells, const float2 *seen,
                                   int2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ANGLE_SEEN)
        return;
    const float2 range = seen[i];
    int first = cells[angle_cell(range.x)];
    while (first < ANGLES && angles[first] < range.x)
        first++;
    int last = first;
    while (last < ANGLES && angles[last] < range.y)
        last++;
    out[i] = make_int2(first, last - first);
}

// Large angles are more frequent than small ones.
static std::vector<float> angle_table()
{
    std::vector<float> angles = floats(ANGLES, 19126, 0, 1);
    for (float &a : angles)
        a = sqrtf(a);
    std::sort(angles.begin(), angles.end());
    return angles;
}

static void star_angles(Run &run, bool index)
{
    const std::vector<float> angles = angle_table(), v = floats(ANGLE_SEEN, 19127, 0.01f, 0.99f);
    std::vector<float2> seen(ANGLE_SEEN);
    for (int i = 0; i < ANGLE_SEEN; i++)
        seen[i] = { v[i] - 1e-5f, v[i] + 1e-5f };
    std::vector<int> cells(ANGLE_CELLS + 1);
    for (int k = 0, at = 0; k <= ANGLE_CELLS; k++) {
        while (at < ANGLES && angle_cell(angles[at]) < k)
            at++;
        cells[k] = at;
    }
    const float *from = run.upload(angles);
    const int *dc = run.upload(cells);
    const float2 *ds = run.upload(seen);
    int2 *to = run.zeros<int2>(ANGLE_SEEN);
    run.measure([=] {
        const auto kernel = index ? angle_index_kernel : angle_search_kernel;
        kernel<<<blocks_for(ANGLE_SEEN, 256), 256>>>(from, dc, ds, to);
    });
    const std::vector<int2> got = run.output(to, ANGLE_SEEN);
    for (int i = 0; i < ANGLE_SEEN; i += 7) {
        const auto first = std::lower_bound(angles.begin(), angles.end(), seen[i].x);
        run.expect(got[i].x, first - angles.begin(), 0);
        run.expect(got[i].y, std::lower_bound(first, angles.end(), seen[i].y) - first, 0);
    }
}

static void star_angles_search(Run &run)
{
    star_angles(run, false);
}

static void star_angles_index(Run &run)
{
    star_angles(run, true);
}

#endif
