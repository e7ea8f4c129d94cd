// lighthouses.cuh - lighthouses: flashing characters, lenses, spells of fog, sites for new lights.
#ifndef BLIND_LIGHTHOUSES_CUH
#define BLIND_LIGHTHOUSES_CUH

#include "blind.cuh"

// ---- Which light is it? The character of 32 half seconds, turned by any phase, that differs least
// from what a ship observed: compared byte by byte, or as bits of a word ----

enum { LIGHTHOUSE_SEEN = 2048, LIGHTHOUSE_LIGHTS = 64, LIGHTHOUSE_PERIOD = 32 };

// Least different first, then by light and phase.
__host__ __device__ inline int lighthouse_order(int different, int light, int phase)
{
    return (different * LIGHTHOUSE_LIGHTS + light) * LIGHTHOUSE_PERIOD + phase;
}

// Four observations per block, a thread per observation and light.
__global__ void lighthouse_flash_bytes_kernel(const unsigned char *seen,
                                              const unsigned char *lights, int *best)
{
    __shared__ unsigned char observed[4][LIGHTHOUSE_PERIOD];
    __shared__ unsigned char known[LIGHTHOUSE_LIGHTS][LIGHTHOUSE_PERIOD + 4];
    const int light = threadIdx.x, mine = threadIdx.y;
    for (int k = mine; k < LIGHTHOUSE_PERIOD; k += 4)
        known[light][k] = lights[light * LIGHTHOUSE_PERIOD + k];
    if (light < LIGHTHOUSE_PERIOD)
        observed[mine][light] = seen[(blockIdx.x * 4 + mine) * LIGHTHOUSE_PERIOD + light];
    __syncthreads();
    int least = LIGHTHOUSE_PERIOD + 1, at = 0;
    for (int phase = 0; phase < LIGHTHOUSE_PERIOD; phase++) {
        int different = 0;
        for (int k = 0; k < LIGHTHOUSE_PERIOD; k++)
            different += observed[mine][k] != known[light][(k + phase) % LIGHTHOUSE_PERIOD];
        if (different < least) {
            least = different;
            at = phase;
        }
    }
    atomicMin(&best[blockIdx.x * 4 + mine], lighthouse_order(least, light, at));
}

__global__ void lighthouse_flash_bits_kernel(const unsigned char *seen, const unsigned char *lights,
                                             int *best)
{
    __shared__ unsigned known[LIGHTHOUSE_LIGHTS];
    const int light = threadIdx.x, mine = threadIdx.y, lane = threadIdx.x % 32;
    const int warp = mine * 2 + threadIdx.x / 32;
    for (int k = warp; k < LIGHTHOUSE_LIGHTS; k += 8) {
        const unsigned bits = __ballot_sync(~0u, lights[k * LIGHTHOUSE_PERIOD + lane]);
        if (lane == 0)
            known[k] = bits;
    }
    const unsigned observed =
        __ballot_sync(~0u, seen[(blockIdx.x * 4 + mine) * LIGHTHOUSE_PERIOD + lane]);
    __syncthreads();
    int least = LIGHTHOUSE_PERIOD + 1, at = 0;
    for (int phase = 0; phase < LIGHTHOUSE_PERIOD; phase++) {
        const unsigned turned = __funnelshift_r(known[light], known[light], phase);
        const int different = __popc(observed ^ turned);
        if (different < least) {
            least = different;
            at = phase;
        }
    }
    atomicMin(&best[blockIdx.x * 4 + mine], lighthouse_order(least, light, at));
}

// Observations are of a light, with one of 16 half seconds wrong.
static void lighthouse_flash(Run &run,
                             void (*kernel)(const unsigned char *, const unsigned char *, int *))
{
    const int size = LIGHTHOUSE_PERIOD;
    const std::vector<uint32_t> characters = words(LIGHTHOUSE_LIGHTS, 23580);
    const std::vector<int> of = integers(LIGHTHOUSE_SEEN, LIGHTHOUSE_LIGHTS * size, 23581);
    const std::vector<int> faults = integers((size_t) LIGHTHOUSE_SEEN * size, 16, 23582);
    std::vector<unsigned char> lights(LIGHTHOUSE_LIGHTS * size), seen(faults.size());
    for (int i = 0; i < LIGHTHOUSE_LIGHTS * size; i++)
        lights[i] = characters[i / size] >> i % size & 1;
    for (size_t i = 0; i < seen.size(); i++) {
        const int turned = of[i / size] + (int) i;
        seen[i] = lights[of[i / size] / size * size + turned % size] ^ (faults[i] == 0);
    }
    const unsigned char *ds = run.upload(seen), *dl = run.upload(lights);
    int *to = run.zeros<int>(LIGHTHOUSE_SEEN);
    run.measure([=] { kernel<<<LIGHTHOUSE_SEEN / 4, dim3(LIGHTHOUSE_LIGHTS, 4)>>>(ds, dl, to); },
                [=] { CHECK(cudaMemset(to, 0x7f, LIGHTHOUSE_SEEN * sizeof(int))); });
    run.expect_all(
        run.output(to, LIGHTHOUSE_SEEN),
        [&](size_t i) {
            int best = 1 << 30;
            for (int light = 0; light < LIGHTHOUSE_LIGHTS; light++)
                for (int phase = 0; phase < size; phase++) {
                    int different = 0;
                    for (int k = 0; k < size; k++)
                        different +=
                            seen[i * size + k] != lights[light * size + (k + phase) % size];
                    best = std::min(best, lighthouse_order(different, light, phase));
                }
            return best;
        },
        0, 17);
}

static void lighthouse_flash_bytes(Run &run)
{
    lighthouse_flash(run, lighthouse_flash_bytes_kernel);
}

static void lighthouse_flash_bits(Run &run)
{
    lighthouse_flash(run, lighthouse_flash_bits_kernel);
}

// ---- Rays of the lamp through the surfaces of a lens: one ray per thread, or four ----

enum { LIGHTHOUSE_RAYS = 1 << 20, LIGHTHOUSE_SURFACES = 6 };

// A surface: curvature, ratio of refraction, distance to the next one.
__constant__ float4 lighthouse_lens[LIGHTHOUSE_SURFACES];

// A ray: height, and direction.
template <class T>
__host__ __device__ inline void lighthouse_refract(float4 surface, T &height, T &dx, T &dy)
{
    const T tilt = height * surface.x, length = 1 / sqrt(1 + tilt * tilt);
    const T nx = length, ny = tilt * length;
    const T cosine = dx * nx + dy * ny;
    const T rest = 1 - surface.y * surface.y * (1 - cosine * cosine);
    const T factor = sqrt(rest > 0 ? rest : T(0)) - surface.y * cosine;
    dx = surface.y * dx + factor * nx;
    dy = surface.y * dy + factor * ny;
    height += surface.z * dy / dx;
}

__global__ void lighthouse_lens_one_kernel(const float2 *rays, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float height = rays[i].x, dy = rays[i].y, dx = sqrtf(1 - dy * dy);
    for (int k = 0; k < LIGHTHOUSE_SURFACES; k++)
        lighthouse_refract(lighthouse_lens[k], height, dx, dy);
    out[i] = make_float2(height, atan2f(dy, dx));
}

__global__ void lighthouse_lens_four_kernel(const float2 *rays, float2 *out)
{
    const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    float height[4], dx[4], dy[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const float2 ray = rays[first + r * blockDim.x];
        height[r] = ray.x;
        dy[r] = ray.y;
        dx[r] = sqrtf(1 - ray.y * ray.y);
    }
    for (int k = 0; k < LIGHTHOUSE_SURFACES; k++) {
        const float4 surface = lighthouse_lens[k];
#pragma unroll
        for (int r = 0; r < 4; r++)
            lighthouse_refract(surface, height[r], dx[r], dy[r]);
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
        out[first + r * blockDim.x] = make_float2(height[r], atan2f(dy[r], dx[r]));
}

static void lighthouse_rays(Run &run, bool four)
{
    const std::vector<float4> lens = { { 0.10f, 0.66f, 0.20f, 0 }, { -0.30f, 1.52f, 0.50f, 0 },
                                       { 0.20f, 0.66f, 0.15f, 0 }, { -0.25f, 1.52f, 0.40f, 0 },
                                       { 0.05f, 0.63f, 0.30f, 0 }, { -0.15f, 1.58f, 0.10f, 0 } };
    const std::vector<float> draws = floats((size_t) 2 * LIGHTHOUSE_RAYS, 23590);
    std::vector<float2> rays(LIGHTHOUSE_RAYS);
    for (int i = 0; i < LIGHTHOUSE_RAYS; i++)
        rays[i] = { 0.5f * draws[2 * i], 0.3f * draws[2 * i + 1] };
    CHECK(cudaMemcpyToSymbol(lighthouse_lens, lens.data(), sizeof lighthouse_lens));
    const float2 *from = run.upload(rays);
    float2 *to = run.zeros<float2>(LIGHTHOUSE_RAYS);
    run.measure([=] {
        if (four)
            lighthouse_lens_four_kernel<<<LIGHTHOUSE_RAYS / 1024, 256>>>(from, to);
        else
            lighthouse_lens_one_kernel<<<LIGHTHOUSE_RAYS / 256, 256>>>(from, to);
    });
    const std::vector<float2> got = run.output(to, LIGHTHOUSE_RAYS);
    for (int i = 0; i < LIGHTHOUSE_RAYS; i += 13) {
        double height = rays[i].x, dy = rays[i].y, dx = sqrt(1 - dy * dy);
        for (int k = 0; k < LIGHTHOUSE_SURFACES; k++)
            lighthouse_refract(lens[k], height, dx, dy);
        run.expect(got[i].x, height, 1e-3);
        run.expect(got[i].y, atan2(dy, dx), 1e-3);
    }
}

static void lighthouse_lens_one(Run &run)
{
    lighthouse_rays(run, false);
}

static void lighthouse_lens_four(Run &run)
{
    lighthouse_rays(run, true);
}

// ---- The longest spell of fog in each station's log of visibilities: a warp or a block per
// station. A few logs are much longer than the others ----

enum { LIGHTHOUSE_STATIONS = 1200, LIGHTHOUSE_PIECE = 512, LIGHTHOUSE_FOG = 225 };

// Of a stretch of the log: foggy hours at its beginning and end, the longest spell, and its hours.
struct lighthouse_spell {
    int begin, end, longest, hours;
};

__host__ __device__ inline lighthouse_spell lighthouse_join(lighthouse_spell a, lighthouse_spell b)
{
    const int middle = a.end + b.begin, longest = a.longest > b.longest ? a.longest : b.longest;
    return { a.begin == a.hours ? a.hours + b.begin : a.begin,
             b.end == b.hours ? a.end + b.hours : b.end, middle > longest ? middle : longest,
             a.hours + b.hours };
}

// A piece of 512 hours, of which each lane takes 16. The result is lane 0's.
__device__ inline lighthouse_spell lighthouse_piece(const uint4 *piece)
{
    const uint4 hours = piece[threadIdx.x % 32];
    const unsigned parts[4] = { hours.x, hours.y, hours.z, hours.w };
    lighthouse_spell spell = { 0, 0, 0, 0 };
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const int foggy = (parts[k / 4] >> k % 4 * 8 & 255) < LIGHTHOUSE_FOG;
        spell = lighthouse_join(spell, { foggy, foggy, foggy, 1 });
    }
    for (int step = 1; step < 32; step *= 2) {
        lighthouse_spell next;
        next.begin = __shfl_down_sync(~0u, spell.begin, step);
        next.end = __shfl_down_sync(~0u, spell.end, step);
        next.longest = __shfl_down_sync(~0u, spell.longest, step);
        next.hours = __shfl_down_sync(~0u, spell.hours, step);
        spell = lighthouse_join(spell, next);
    }
    return spell;
}

__global__ void lighthouse_fog_warp_kernel(const uint4 *log, const int *pieces, int *longest)
{
    const int station = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    lighthouse_spell all = { 0, 0, 0, 0 };
    for (int k = pieces[station]; k < pieces[station + 1]; k++)
        all = lighthouse_join(all, lighthouse_piece(log + k * (LIGHTHOUSE_PIECE / 16)));
    if (threadIdx.x % 32 == 0)
        longest[station] = all.longest;
}

__global__ void lighthouse_fog_block_kernel(const uint4 *log, const int *pieces, int *longest)
{
    __shared__ lighthouse_spell spells[8];
    const int station = blockIdx.x, warp = threadIdx.x / 32;
    const int begin = pieces[station], count = pieces[station + 1] - begin;
    lighthouse_spell mine = { 0, 0, 0, 0 };
    // Each warp takes an eighth of the log.
    for (int k = warp * count / 8; k < (warp + 1) * count / 8; k++)
        mine = lighthouse_join(mine, lighthouse_piece(log + (begin + k) * (LIGHTHOUSE_PIECE / 16)));
    if (threadIdx.x % 32 == 0)
        spells[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            mine = lighthouse_join(mine, spells[k]);
        longest[station] = mine.longest;
    }
}

static void lighthouse_fog(Run &run, bool blocks)
{
    const std::vector<int> sizes = integers(LIGHTHOUSE_STATIONS, 1000, 23600);
    std::vector<int> pieces(LIGHTHOUSE_STATIONS + 1);
    for (int i = 0; i < LIGHTHOUSE_STATIONS; i++)
        pieces[i + 1] = pieces[i] + (sizes[i] < 15 ? 120 : 3 + sizes[i] / 100);
    const size_t hours = (size_t) pieces.back() * LIGHTHOUSE_PIECE;
    const std::vector<uint32_t> draws = words(hours / 4, 23601);
    const unsigned char *log = (const unsigned char *) draws.data();
    const uint4 *from = (const uint4 *) run.upload(draws);
    const int *dp = run.upload(pieces);
    int *to = run.zeros<int>(LIGHTHOUSE_STATIONS);
    run.measure([=] {
        if (blocks)
            lighthouse_fog_block_kernel<<<LIGHTHOUSE_STATIONS, 256>>>(from, dp, to);
        else
            lighthouse_fog_warp_kernel<<<LIGHTHOUSE_STATIONS / 8, 256>>>(from, dp, to);
    });
    run.expect_all(
        run.output(to, LIGHTHOUSE_STATIONS),
        [&](size_t i) {
            int longest = 0, now = 0;
            for (int k = pieces[i] * LIGHTHOUSE_PIECE; k < pieces[i + 1] * LIGHTHOUSE_PIECE; k++) {
                now = log[k] < LIGHTHOUSE_FOG ? now + 1 : 0;
                longest = std::max(longest, now);
            }
            return longest;
        },
        0);
}

static void lighthouse_fog_warp(Run &run)
{
    lighthouse_fog(run, false);
}

static void lighthouse_fog_block(Run &run)
{
    lighthouse_fog(run, true);
}

// ---- The best site for one more light: how much of the dark sea each site would reach, as bits.
// A site's words lie next to each other, or the first words of all sites do ----

enum { LIGHTHOUSE_SITES = 16384, LIGHTHOUSE_SEA = 192 };

template <bool COLUMNS>
__global__ void lighthouse_sites_kernel(const unsigned *reach, const unsigned *dark, int *gains,
                                        int *best)
{
    __shared__ unsigned sea[LIGHTHOUSE_SEA];
    for (int k = threadIdx.x; k < LIGHTHOUSE_SEA; k += blockDim.x)
        sea[k] = dark[k];
    __syncthreads();
    const int site = blockIdx.x * blockDim.x + threadIdx.x;
    int gain = 0;
    for (int k = 0; k < LIGHTHOUSE_SEA; k++)
        gain += __popc(sea[k] &
                       reach[COLUMNS ? k * LIGHTHOUSE_SITES + site : site * LIGHTHOUSE_SEA + k]);
    gains[site] = gain;
    const int most = __reduce_max_sync(~0u, gain * LIGHTHOUSE_SITES + site);
    if (threadIdx.x % 32 == 0)
        atomicMax(best, most);
}

static void lighthouse_sites(Run &run, bool columns)
{
    const std::vector<uint32_t> draws = words((size_t) LIGHTHOUSE_SITES * LIGHTHOUSE_SEA, 23610);
    const std::vector<uint32_t> dark = words(LIGHTHOUSE_SEA, 23611);
    std::vector<uint32_t> reach(draws);
    if (columns)
        for (size_t i = 0; i < draws.size(); i++)
            reach[i % LIGHTHOUSE_SEA * LIGHTHOUSE_SITES + i / LIGHTHOUSE_SEA] = draws[i];
    const uint32_t *from = run.upload(reach), *dd = run.upload(dark);
    int *gains = run.zeros<int>(LIGHTHOUSE_SITES), *best = run.zeros<int>(1);
    run.measure(
        [=] {
            if (columns)
                lighthouse_sites_kernel<true>
                    <<<LIGHTHOUSE_SITES / 128, 128>>>(from, dd, gains, best);
            else
                lighthouse_sites_kernel<false>
                    <<<LIGHTHOUSE_SITES / 128, 128>>>(from, dd, gains, best);
        },
        [=] { CHECK(cudaMemset(best, 0, sizeof(int))); });
    int most = 0;
    const std::vector<int> got = run.output(gains, LIGHTHOUSE_SITES);
    for (int i = 0; i < LIGHTHOUSE_SITES; i++) {
        int gain = 0;
        for (int k = 0; k < LIGHTHOUSE_SEA; k++)
            gain += __builtin_popcount(dark[k] & draws[(size_t) i * LIGHTHOUSE_SEA + k]);
        run.expect(got[i], gain, 0);
        most = std::max(most, gain * LIGHTHOUSE_SITES + i);
    }
    run.expect(run.output(best, 1)[0], most, 0);
}

static void lighthouse_sites_rows(Run &run)
{
    lighthouse_sites(run, false);
}

static void lighthouse_sites_columns(Run &run)
{
    lighthouse_sites(run, true);
}

#endif
