// deserts.cuh - deserts: grains that hop over dunes, mirages, ways between oases, green fields.
#ifndef BLIND_DESERTS_CUH
#define BLIND_DESERTS_CUH

#include "blind.cuh"

// ---- Grains that hop over dunes until they rest: warps take equal shares, or draw tickets for the
// next 32 grains. The grains are sorted by size, and fine ones hop longer ----

enum { DESERT_GRAINS = 61440, DESERT_DUNES = 4096, DESERT_MOST = 1500, DESERT_HOP_BLOCKS = 96 };

// Lengths are in 1/256 of a cell, speeds in 1/256 of a length.
struct DesertGrain {
    int x, z, vx, vz, steps;

    // False: the grain rests. `bounce` is what remains of the speed after a landing, of 256.
    __host__ __device__ bool step(const int *dunes, int bounce)
    {
        const int height = dunes[(x >> 8) % DESERT_DUNES];
        if (z <= height) {
            z = height + 1;
            vz = abs(vz) * bounce >> 8;
            vx = vx * bounce >> 8;
            if (vz < 2000 || steps == DESERT_MOST)
                return false;
        }
        vx += (40000 - vx) >> 5;
        vz -= 1500;
        x += vx >> 8;
        z += vz >> 8;
        steps++;
        return true;
    }
};

// The result: where the grain rests and after how many steps.
__host__ __device__ inline int2 desert_hop(const int *dunes, int2 grain)
{
    DesertGrain now = { grain.x, 3000, 0, 20000, 0 };
    while (now.step(dunes, grain.y))
        ;
    return { now.x, now.steps };
}

__global__ void desert_grain_shares_kernel(const int *dunes, const int2 *grains, int2 *rests, int *)
{
    const int warps = gridDim.x * blockDim.x / 32, share = DESERT_GRAINS / warps;
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * share;
    for (int i = first + threadIdx.x % 32; i < first + share; i += 32)
        rests[i] = desert_hop(dunes, grains[i]);
}

__global__ void desert_grain_tickets_kernel(const int *dunes, const int2 *grains, int2 *rests,
                                            int *tickets)
{
    const int lane = threadIdx.x % 32;
    for (;;) {
        int ticket = 0;
        if (lane == 0)
            ticket = atomicAdd(tickets, 1);
        const int i = __shfl_sync(~0u, ticket, 0) * 32 + lane;
        if (i >= DESERT_GRAINS) // a multiple of 32
            return;
        rests[i] = desert_hop(dunes, grains[i]);
    }
}

static void desert_grain(Run &run, bool by_tickets)
{
    std::vector<int> dunes(DESERT_DUNES), bounces = integers(DESERT_GRAINS, 110, 23300);
    for (int i = 0; i < DESERT_DUNES; i++)
        dunes[i] = 10 * abs(i % 200 - 100);
    std::sort(bounces.begin(), bounces.end());
    const std::vector<int> places = integers(DESERT_GRAINS, DESERT_DUNES << 8, 23301);
    std::vector<int2> grains(DESERT_GRAINS);
    for (int i = 0; i < DESERT_GRAINS; i++)
        grains[i] = { places[i], 130 + bounces[i] };
    const int *dd = run.upload(dunes);
    const int2 *dg = run.upload(grains);
    int2 *to = run.zeros<int2>(DESERT_GRAINS);
    int *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                desert_grain_tickets_kernel<<<DESERT_HOP_BLOCKS, 128>>>(dd, dg, to, tickets);
            else
                desert_grain_shares_kernel<<<DESERT_HOP_BLOCKS, 128>>>(dd, dg, to, tickets);
        },
        [=] { CHECK(cudaMemset(tickets, 0, sizeof(int))); });
    const std::vector<int2> got = run.output(to, DESERT_GRAINS);
    for (int i = 0; i < DESERT_GRAINS; i++) {
        const int2 wanted = desert_hop(dunes.data(), grains[i]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void desert_grain_shares(Run &run)
{
    desert_grain(run, false);
}

static void desert_grain_tickets(Run &run)
{
    desert_grain(run, true);
}

// ---- Rays of light that bend in hot air over sand, in steps: how each layer of air bends is in
// constant memory, or in shared memory ----

enum { DESERT_RAYS = 67584, DESERT_AIR = 256, DESERT_STEPS = 256 };

__constant__ float desert_bends[DESERT_AIR];

// A ray: height in metres and slope at the eye. The result: height at the end and highest height.
__host__ __device__ inline float2 desert_ray(const float *bends, float2 ray)
{
    float height = ray.x, slope = ray.y, highest = ray.x;
    for (int k = 0; k < DESERT_STEPS; k++) {
        const int layer = (int) (fminf(fmaxf(height, 0), 7.9f) * 32);
        slope += bends[layer];
        height += slope;
        highest = fmaxf(highest, height);
    }
    return { height, highest };
}

__global__ void desert_mirage_constant_kernel(const float *, const float2 *rays, float2 *ends)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ends[i] = desert_ray(desert_bends, rays[i]);
}

__global__ void desert_mirage_shared_kernel(const float *bends, const float2 *rays, float2 *ends)
{
    __shared__ float copy[DESERT_AIR];
    for (int k = threadIdx.x; k < DESERT_AIR; k += blockDim.x)
        copy[k] = bends[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ends[i] = desert_ray(copy, rays[i]);
}

static void desert_mirage(Run &run, bool shared)
{
    std::vector<float> bends(DESERT_AIR);
    for (int k = 0; k < DESERT_AIR; k++)
        bends[k] = 3e-4f / (1 + k * 0.1f);
    const std::vector<float> draws = floats(2 * DESERT_RAYS, 23302, 0, 1);
    std::vector<float2> rays(DESERT_RAYS);
    for (int i = 0; i < DESERT_RAYS; i++)
        rays[i] = { 0.2f + 3 * draws[2 * i], 0.01f - 0.03f * draws[2 * i + 1] };
    CHECK(cudaMemcpyToSymbol(desert_bends, bends.data(), sizeof desert_bends));
    const float *db = run.upload(bends);
    const float2 *dr = run.upload(rays);
    float2 *to = run.zeros<float2>(DESERT_RAYS);
    run.measure([=] {
        if (shared)
            desert_mirage_shared_kernel<<<DESERT_RAYS / 128, 128>>>(db, dr, to);
        else
            desert_mirage_constant_kernel<<<DESERT_RAYS / 128, 128>>>(db, dr, to);
    });
    const std::vector<float2> got = run.output(to, DESERT_RAYS);
    for (int i = 0; i < DESERT_RAYS; i += 7) {
        const float2 wanted = desert_ray(bends.data(), rays[i]);
        run.expect(got[i].x, wanted.x, 1e-2);
        run.expect(got[i].y, wanted.y, 1e-2);
    }
}

static void desert_mirage_constant(Run &run)
{
    desert_mirage(run, false);
}

static void desert_mirage_shared(Run &run)
{
    desert_mirage(run, true);
}

// ---- The shortest ways from the first oasis to the others, per map: a warp that settles the
// nearest oasis again and again, or a block that relaxes all ways until nothing changes ----

enum { DESERT_MAPS = 2000, DESERT_OASES = 64, DESERT_BLOCKED = 65535, DESERT_FAR = 1 << 24 };

__host__ __device__ inline int desert_way(int until, uint16_t way)
{
    return way == DESERT_BLOCKED ? DESERT_FAR : until + way;
}

// Oases are numbered by lane, then by half.
__global__ void desert_caravan_settle_kernel(const uint16_t *ways, int *out)
{
    const int map = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const uint16_t *of_map = ways + map * DESERT_OASES * DESERT_OASES;
    int distances[2] = { lane ? DESERT_FAR : 0, DESERT_FAR };
    bool open[2] = { true, true };
    for (int round = 0; round < DESERT_OASES; round++) {
        const int first = open[0] ? distances[0] << 6 | lane : 0x7fffffff;
        const int second = open[1] ? distances[1] << 6 | (lane + 32) : 0x7fffffff;
        const int nearest = __reduce_min_sync(~0u, min(first, second));
        const int oasis = nearest % DESERT_OASES, until = nearest / DESERT_OASES;
        if (until == DESERT_FAR)
            break;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const uint16_t way = of_map[oasis * DESERT_OASES + half * 32 + lane];
            distances[half] = min(distances[half], desert_way(until, way));
            open[half] &= oasis != half * 32 + lane;
        }
    }
    out[map * DESERT_OASES + lane] = distances[0];
    out[map * DESERT_OASES + 32 + lane] = distances[1];
}

__global__ void desert_caravan_relax_kernel(const uint16_t *ways, int *out)
{
    __shared__ int distances[DESERT_OASES];
    const int own = threadIdx.x;
    const uint16_t *of_map = ways + blockIdx.x * DESERT_OASES * DESERT_OASES;
    int distance = own ? DESERT_FAR : 0;
    bool changed;
    do {
        distances[own] = distance;
        __syncthreads();
        const int before = distance;
        for (int from = 0; from < DESERT_OASES; from++)
            distance =
                min(distance, desert_way(distances[from], of_map[from * DESERT_OASES + own]));
        changed = distance < before;
    } while (__syncthreads_or(changed));
    out[blockIdx.x * DESERT_OASES + own] = distance;
}

static void desert_caravan_host(const uint16_t *ways, int *distances)
{
    std::fill(distances, distances + DESERT_OASES, (int) DESERT_FAR);
    distances[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < DESERT_OASES * DESERT_OASES; i++) {
            const int way = desert_way(distances[i / DESERT_OASES], ways[i]);
            if (way < distances[i % DESERT_OASES]) {
                distances[i % DESERT_OASES] = way;
                changed = true;
            }
        }
    }
}

static void desert_caravan(Run &run, bool relax)
{
    const std::vector<uint32_t> draws =
        words((size_t) DESERT_MAPS * DESERT_OASES * DESERT_OASES, 23303);
    std::vector<uint16_t> ways(draws.size());
    for (size_t i = 0; i < ways.size(); i++)
        ways[i] = draws[i] % 12 ? (uint16_t) DESERT_BLOCKED : (uint16_t) (20 + draws[i] / 16 % 900);
    const uint16_t *from = run.upload(ways);
    const int n = DESERT_MAPS * DESERT_OASES;
    int *to = run.zeros<int>(n);
    run.measure([=] {
        if (relax)
            desert_caravan_relax_kernel<<<DESERT_MAPS, DESERT_OASES>>>(from, to);
        else
            desert_caravan_settle_kernel<<<DESERT_MAPS / 4, 128>>>(from, to);
    });
    const std::vector<int> got = run.output(to, n);
    for (int map = 0; map < DESERT_MAPS; map += 3) {
        int wanted[DESERT_OASES];
        desert_caravan_host(&ways[(size_t) map * DESERT_OASES * DESERT_OASES], wanted);
        for (int k = 0; k < DESERT_OASES; k++)
            run.expect(got[map * DESERT_OASES + k], wanted[k], 0);
    }
}

static void desert_caravan_settle(Run &run)
{
    desert_caravan(run, false);
}

static void desert_caravan_relax(Run &run)
{
    desert_caravan(run, true);
}

// ---- How green each field of a satellite's picture is, from red and infrared, a warp per field of
// 32 x 32 pixels: the bands as floats, or as bytes of which a thread reads four at once ----

enum { DESERT_WIDTH = 2048, DESERT_HEIGHT = 1536 };
enum { DESERT_FIELDS = DESERT_WIDTH / 32 * (DESERT_HEIGHT / 32) };

// In hundredths.
__host__ __device__ inline int desert_green(float red, float infrared)
{
    return (int) ((infrared - red) * 100 / (infrared + red + 1));
}

__global__ void desert_green_floats_kernel(const float *reds, const float *infrareds, int *sums)
{
    const int field = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int x = field % (DESERT_WIDTH / 32) * 32, y = field / (DESERT_WIDTH / 32) * 32;
    int sum = 0;
    for (int row = 0; row < 32; row++) {
        const int at = (y + row) * DESERT_WIDTH + x + lane;
        sum += desert_green(reds[at], infrareds[at]);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        sums[field] = sum;
}

// Eight lanes read a row.
__global__ void desert_green_bytes_kernel(const uchar4 *reds, const uchar4 *infrareds, int *sums)
{
    const int field = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int x = field % (DESERT_WIDTH / 32) * 8, y = field / (DESERT_WIDTH / 32) * 32;
    int sum = 0;
    for (int row = lane / 8; row < 32; row += 4) {
        const int at = (y + row) * (DESERT_WIDTH / 4) + x + lane % 8;
        const uchar4 red = reds[at], infrared = infrareds[at];
        sum += desert_green(red.x, infrared.x) + desert_green(red.y, infrared.y) +
               desert_green(red.z, infrared.z) + desert_green(red.w, infrared.w);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        sums[field] = sum;
}

static void desert_green_field(Run &run, bool bytes)
{
    const size_t n = (size_t) DESERT_WIDTH * DESERT_HEIGHT;
    const std::vector<int> reds = integers(n, 200, 23304), infrareds = integers(n, 256, 23305);
    int *to = run.zeros<int>(DESERT_FIELDS);
    const int blocks = DESERT_FIELDS * 32 / 256;
    if (bytes) {
        const uint8_t *dr = run.upload(std::vector<uint8_t>(reds.begin(), reds.end()));
        const uint8_t *di = run.upload(std::vector<uint8_t>(infrareds.begin(), infrareds.end()));
        run.measure([=] {
            desert_green_bytes_kernel<<<blocks, 256>>>((const uchar4 *) dr, (const uchar4 *) di,
                                                       to);
        });
    } else {
        const float *dr = run.upload(std::vector<float>(reds.begin(), reds.end()));
        const float *di = run.upload(std::vector<float>(infrareds.begin(), infrareds.end()));
        run.measure([=] { desert_green_floats_kernel<<<blocks, 256>>>(dr, di, to); });
    }
    std::vector<int> sums(DESERT_FIELDS, 0);
    for (size_t i = 0; i < n; i++)
        sums[i / DESERT_WIDTH / 32 * (DESERT_WIDTH / 32) + i % DESERT_WIDTH / 32] +=
            desert_green((float) reds[i], (float) infrareds[i]);
    run.expect_all(
        run.output(to, DESERT_FIELDS), [&](size_t i) { return sums[i]; }, 0);
}

static void desert_green_floats(Run &run)
{
    desert_green_field(run, false);
}

static void desert_green_bytes(Run &run)
{
    desert_green_field(run, true);
}

#endif
