// pastures.cuh - pastures: grass that grows, animals behind fences, inherited genes, trails.
#ifndef BLIND_PASTURES_CUH
#define BLIND_PASTURES_CUH

#include "blind.cuh"
#include <cuda_fp16.h>

// ---- Grass that grows and is grazed for a season: two cells per thread, in floats or as half2
// ----

enum { PASTURE_PAIRS = 1 << 18, PASTURE_DAYS = 80 };

// Of each day: growth, and what of the grass is eaten.
__constant__ float2 pasture_days[PASTURE_DAYS];

__global__ void pasture_grass_float_kernel(const __half2 *before, __half2 *after)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 grass = __half22float2(before[i]);
    for (int day = 0; day < PASTURE_DAYS; day++) {
        const float2 today = pasture_days[day];
        grass.x += today.x * grass.x * (1 - grass.x) - today.y * grass.x;
        grass.y += today.x * grass.y * (1 - grass.y) - today.y * grass.y;
    }
    after[i] = __float22half2_rn(grass);
}

__global__ void pasture_grass_half2_kernel(const __half2 *before, __half2 *after)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 one = __float2half2_rn(1);
    __half2 grass = before[i];
    for (int day = 0; day < PASTURE_DAYS; day++) {
        const __half2 grows = __float2half2_rn(pasture_days[day].x);
        const __half2 eaten = __float2half2_rn(pasture_days[day].y);
        const __half2 change = __hfma2(grows, __hsub2(one, grass), __hneg2(eaten));
        grass = __hfma2(grass, change, grass);
    }
    after[i] = grass;
}

static void pasture_grass(Run &run, void (*kernel)(const __half2 *, __half2 *))
{
    const std::vector<float> draws = floats(2 * PASTURE_PAIRS, 23620, 0.05f, 1);
    const std::vector<float> weather = floats(2 * PASTURE_DAYS, 23621, 0, 1);
    std::vector<__half2> before(PASTURE_PAIRS);
    std::vector<float2> days(PASTURE_DAYS);
    for (int i = 0; i < PASTURE_PAIRS; i++)
        before[i] = __floats2half2_rn(draws[2 * i], draws[2 * i + 1]);
    for (int i = 0; i < PASTURE_DAYS; i++)
        days[i] = { 0.1f + 0.3f * weather[2 * i], 0.15f * weather[2 * i + 1] };
    CHECK(cudaMemcpyToSymbol(pasture_days, days.data(), sizeof pasture_days));
    const __half2 *from = run.upload(before);
    __half2 *to = run.zeros<__half2>(PASTURE_PAIRS);
    run.measure([=] { kernel<<<PASTURE_PAIRS / 256, 256>>>(from, to); });
    const std::vector<__half2> got = run.output(to, PASTURE_PAIRS);
    for (int i = 0; i < PASTURE_PAIRS; i += 11) {
        double grass = __low2float(before[i]);
        for (const float2 today : days)
            grass += today.x * grass * (1 - grass) - today.y * grass;
        run.expect(__low2float(got[i]), grass, 0.01);
    }
}

static void pasture_grass_float(Run &run)
{
    pasture_grass(run, pasture_grass_float_kernel);
}

static void pasture_grass_half2(Run &run)
{
    pasture_grass(run, pasture_grass_half2_kernel);
}

// ---- How many positions of animals are inside of their paddock's fence, a polygon: a block per
// paddock. Few paddocks have many corners and many positions. Blocks take turns or
// tickets ----

enum { PASTURE_PADDOCKS = 500, PASTURE_CORNERS = 256, PASTURE_FENCE_BLOCKS = 120 };

// Does the line to the right of p cross the side from a to b?
__host__ __device__ inline bool pasture_crosses(int2 a, int2 b, int2 p)
{
    if ((a.y > p.y) == (b.y > p.y))
        return false;
    const int side = (b.x - a.x) * (p.y - a.y) - (p.x - a.x) * (b.y - a.y);
    return b.y > a.y ? side > 0 : side < 0;
}

// A paddock: its first corner and position, and how many there are of each.
__device__ inline void pasture_paddock(int4 paddock, const int2 *corners, const int2 *positions,
                                       int *inside)
{
    __shared__ int2 fence[PASTURE_CORNERS + 1];
    for (int k = threadIdx.x; k <= paddock.z; k += blockDim.x)
        fence[k] = corners[paddock.x + k % paddock.z];
    __syncthreads();
    int count = 0;
    for (int first = 0; first < paddock.w; first += blockDim.x) {
        const int i = first + threadIdx.x;
        bool in = false;
        if (i < paddock.w) {
            const int2 at = positions[paddock.y + i];
            for (int k = 0; k < paddock.z; k++)
                in ^= pasture_crosses(fence[k], fence[k + 1], at);
        }
        count += __syncthreads_count(in);
    }
    if (threadIdx.x == 0)
        *inside = count;
}

__global__ void pasture_fence_turns_kernel(const int4 *paddocks, const int2 *corners,
                                           const int2 *positions, int *inside)
{
    for (int i = blockIdx.x; i < PASTURE_PADDOCKS; i += gridDim.x)
        pasture_paddock(paddocks[i], corners, positions, &inside[i]);
}

__global__ void pasture_fence_tickets_kernel(const int4 *paddocks, const int2 *corners,
                                             const int2 *positions, int *inside, int *ticket)
{
    __shared__ int drawn;
    for (;;) {
        if (threadIdx.x == 0)
            drawn = atomicAdd(ticket, 1);
        __syncthreads();
        const int i = drawn;
        if (i >= PASTURE_PADDOCKS)
            break;
        pasture_paddock(paddocks[i], corners, positions, &inside[i]);
    }
}

// Corner k of n around a square's outline, drawn towards its centre.
static int2 pasture_corner(int k, int n, int part)
{
    const int at = k * 16384 / n, along = at % 4096 - 2048;
    const int2 sides[4] = {
        { along, -2048 }, { 2048, along }, { -along, 2048 }, { -2048, -along }
    };
    return { sides[at / 4096].x * part / 1024, sides[at / 4096].y * part / 1024 };
}

static void pasture_fence(Run &run, bool tickets)
{
    const std::vector<int> draws = integers(2 * PASTURE_PADDOCKS, 1000, 23630);
    std::vector<int4> paddocks(PASTURE_PADDOCKS);
    int corner_count = 0, position_count = 0;
    for (int i = 0; i < PASTURE_PADDOCKS; i++) {
        const int size = draws[2 * i + 1] * draws[2 * i + 1] / 1000;
        paddocks[i] = { corner_count, position_count,
                        8 + draws[2 * i] * (PASTURE_CORNERS - 8) / 1000, 40 + 2 * size };
        corner_count += paddocks[i].z;
        position_count += paddocks[i].w;
    }
    const std::vector<int> parts = integers(corner_count, 625, 23631);
    const std::vector<int> places = integers((size_t) 2 * position_count, 4096, 23632);
    std::vector<int2> corners(corner_count), positions(position_count);
    for (const int4 &paddock : paddocks)
        for (int k = 0; k < paddock.z; k++)
            corners[paddock.x + k] = pasture_corner(k, paddock.z, 400 + parts[paddock.x + k]);
    for (int i = 0; i < position_count; i++)
        positions[i] = { places[2 * i] - 2048, places[2 * i + 1] - 2048 };
    const int4 *dd = run.upload(paddocks);
    const int2 *dc = run.upload(corners), *dp = run.upload(positions);
    int *to = run.zeros<int>(PASTURE_PADDOCKS), *ticket = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                pasture_fence_tickets_kernel<<<PASTURE_FENCE_BLOCKS, 128>>>(dd, dc, dp, to, ticket);
            else
                pasture_fence_turns_kernel<<<PASTURE_FENCE_BLOCKS, 128>>>(dd, dc, dp, to);
        },
        [=] { CHECK(cudaMemset(ticket, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, PASTURE_PADDOCKS),
        [&](size_t i) {
            const int4 paddock = paddocks[i];
            const int2 *fence = &corners[paddock.x];
            int count = 0;
            for (int p = paddock.y; p < paddock.y + paddock.w; p++) {
                bool in = false;
                for (int k = 0; k < paddock.z; k++)
                    in ^= pasture_crosses(fence[k], fence[(k + 1) % paddock.z], positions[p]);
                count += in;
            }
            return count;
        },
        0);
}

static void pasture_fence_turns(Run &run)
{
    pasture_fence(run, false);
}

static void pasture_fence_tickets(Run &run)
{
    pasture_fence(run, true);
}

// ---- Inbreeding in a herd, by dropping genes down its pedigree: a thread per trial, with the
// animals' genes in global or in shared memory ----

enum { PASTURE_HERD = 500, PASTURE_FOUNDERS = 60, PASTURE_DROPS = 16384 };

__host__ __device__ inline unsigned pasture_luck(unsigned drop, unsigned animal)
{
    unsigned x = drop * 512 + animal;
    x = (x ^ x >> 16) * 0x7feb352du;
    return x ^ x >> 15;
}

// The two genes of an animal, from those of its parents, or new ones.
__host__ __device__ inline uchar2 pasture_inherit(uchar2 father, uchar2 mother, unsigned luck)
{
    uchar2 genes;
    genes.x = luck & 1 ? father.x : father.y;
    genes.y = luck & 2 ? mother.x : mother.y;
    return genes;
}

// A founder's genes are its own.
__host__ __device__ inline uchar2 pasture_founder(int animal)
{
    uchar2 genes;
    genes.x = (unsigned char) (2 * animal);
    genes.y = (unsigned char) (2 * animal + 1);
    return genes;
}

// `genes` are those of this thread's trial: the next animal's come `step` further.
__device__ inline void pasture_drop(const int2 *parents, uchar2 *genes, int step, int drop,
                                    int *equal)
{
    for (int animal = 0; animal < PASTURE_FOUNDERS; animal++)
        genes[animal * step] = pasture_founder(animal);
    for (int animal = PASTURE_FOUNDERS; animal < PASTURE_HERD; animal++) {
        const int2 from = parents[animal];
        const uchar2 own =
            pasture_inherit(genes[from.x * step], genes[from.y * step], pasture_luck(drop, animal));
        genes[animal * step] = own;
        const unsigned same = __ballot_sync(~0u, own.x == own.y);
        if (threadIdx.x % 32 == 0 && same)
            atomicAdd(&equal[animal], __popc(same));
    }
}

__global__ void pasture_genes_global_kernel(const int2 *parents, uchar2 *genes, int *equal)
{
    const int drop = blockIdx.x * blockDim.x + threadIdx.x;
    pasture_drop(parents, genes + drop, PASTURE_DROPS, drop, equal);
}

__global__ void pasture_genes_shared_kernel(const int2 *parents, int *equal)
{
    __shared__ uchar2 genes[PASTURE_HERD][32];
    pasture_drop(parents, &genes[0][threadIdx.x], 32, blockIdx.x * 32 + threadIdx.x, equal);
}

static void pasture_genes(Run &run, bool shared)
{
    const std::vector<uint32_t> draws = words(2 * PASTURE_HERD, 23640);
    std::vector<int2> parents(PASTURE_HERD);
    for (int i = PASTURE_FOUNDERS; i < PASTURE_HERD; i++) {
        // Of the last 120 animals; few fathers.
        const int range = std::min(i, 120);
        parents[i] = { i - 1 - (int) (draws[2 * i] % (range / 10)) * 10,
                       i - 1 - (int) (draws[2 * i + 1] % range) };
    }
    const int2 *from = run.upload(parents);
    uchar2 *genes = run.zeros<uchar2>((size_t) PASTURE_HERD * PASTURE_DROPS);
    int *equal = run.zeros<int>(PASTURE_HERD);
    run.measure(
        [=] {
            if (shared)
                pasture_genes_shared_kernel<<<PASTURE_DROPS / 32, 32>>>(from, equal);
            else
                pasture_genes_global_kernel<<<PASTURE_DROPS / 128, 128>>>(from, genes, equal);
        },
        [=] { CHECK(cudaMemset(equal, 0, PASTURE_HERD * sizeof(int))); });
    std::vector<int> wanted(PASTURE_HERD);
    std::vector<uchar2> herd(PASTURE_HERD);
    for (int drop = 0; drop < PASTURE_DROPS; drop++)
        for (int i = 0; i < PASTURE_HERD; i++) {
            herd[i] = i < PASTURE_FOUNDERS ? pasture_founder(i)
                                           : pasture_inherit(herd[parents[i].x], herd[parents[i].y],
                                                             pasture_luck(drop, i));
            wanted[i] += herd[i].x == herd[i].y;
        }
    run.expect_all(
        run.output(equal, PASTURE_HERD), [&](size_t i) { return wanted[i]; }, 0);
}

static void pasture_genes_global(Run &run)
{
    pasture_genes(run, false);
}

static void pasture_genes_shared(Run &run)
{
    pasture_genes(run, true);
}

// ---- How worn the ground is: positions of herds that rest, counted per cell. An atomic addition
// per position, or one for all positions of a warp in the same cell ----

enum { PASTURE_GROUND = 512, PASTURE_STEPS = 1 << 21 };

__device__ inline int pasture_cell(ushort2 at)
{
    return (at.y >> 4) * PASTURE_GROUND + (at.x >> 4);
}

__global__ void pasture_trails_each_kernel(const ushort2 *steps, unsigned *ground)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&ground[pasture_cell(steps[i])], 1u);
}

__global__ void pasture_trails_warp_kernel(const ushort2 *steps, unsigned *ground)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int cell = pasture_cell(steps[i]);
    const unsigned same = __match_any_sync(~0u, cell);
    if (threadIdx.x % 32 == __ffs(same) - 1)
        atomicAdd(&ground[cell], __popc(same));
}

// 128 positions in a row are of a herd within 40 units, which are two or three cells.
static void pasture_trails(Run &run, void (*kernel)(const ushort2 *, unsigned *))
{
    const std::vector<uint32_t> herds = words(PASTURE_STEPS / 128, 23650);
    const std::vector<uint32_t> draws = words(PASTURE_STEPS, 23651);
    const int edge = PASTURE_GROUND * 16 - 40;
    std::vector<ushort2> steps(PASTURE_STEPS);
    std::vector<unsigned> wanted(PASTURE_GROUND * PASTURE_GROUND);
    for (int i = 0; i < PASTURE_STEPS; i++) {
        const int x = (herds[i / 128] & 65535) % edge + (draws[i] & 65535) % 40;
        const int y = (herds[i / 128] >> 16) % edge + (draws[i] >> 16) % 40;
        steps[i].x = (unsigned short) x;
        steps[i].y = (unsigned short) y;
        wanted[y / 16 * PASTURE_GROUND + x / 16]++;
    }
    const ushort2 *from = run.upload(steps);
    unsigned *to = run.zeros<unsigned>(wanted.size());
    const size_t bytes = wanted.size() * sizeof(unsigned);
    run.measure([=] { kernel<<<PASTURE_STEPS / 256, 256>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, bytes)); });
    run.expect_all(
        run.output(to, wanted.size()), [&](size_t i) { return wanted[i]; }, 0);
}

static void pasture_trails_each(Run &run)
{
    pasture_trails(run, pasture_trails_each_kernel);
}

static void pasture_trails_warp(Run &run)
{
    pasture_trails(run, pasture_trails_warp_kernel);
}

#endif
