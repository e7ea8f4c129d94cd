// photons.cuh - light that scatters: walks in a slab, new directions, paths in clouds, black
// bodies.
#ifndef BLIND_PHOTONS_CUH
#define BLIND_PHOTONS_CUH

#include "blind.cuh"

__host__ __device__ inline float photon_draw(uint32_t &state)
{
    state = state * 1664525u + 1013904223u;
    return ((state >> 8) + 1) * 0x1p-24f; // above 0
}

// ---- Walks in a slab of tissue: what is absorbed by depth, added globally or per block ----

enum { WALKERS = 65536, WALK_BINS = 64 };

struct Walker {
    float z, uz, weight;
    uint32_t state;
};

// One flight. Returns the bin of what is absorbed, or -1 when the photon left the slab.
__host__ __device__ inline int walk_step(Walker &w, int &absorbed)
{
    w.z -= w.uz * logf(photon_draw(w.state)) * 0.05f;
    if (!(w.z >= 0 && w.z < 1))
        return -1;
    absorbed = (int) (w.weight * 0.07f * 4096);
    w.weight *= 0.93f;
    w.uz = 2 * photon_draw(w.state) - 1;
    return (int) (w.z * WALK_BINS);
}

template <bool SHARED> __global__ void walkers_kernel(const uint32_t *seeds, int *bins)
{
    __shared__ int mine[WALK_BINS];
    if (SHARED) {
        if (threadIdx.x < WALK_BINS)
            mine[threadIdx.x] = 0;
        __syncthreads();
    }
    Walker w = { 0, 1, 1, seeds[blockIdx.x * blockDim.x + threadIdx.x] };
    while (w.weight > 0.02f) {
        int absorbed = 0;
        const int bin = walk_step(w, absorbed);
        if (bin < 0)
            break;
        atomicAdd(SHARED ? &mine[bin] : &bins[bin], absorbed);
    }
    if (SHARED) {
        __syncthreads();
        if (threadIdx.x < WALK_BINS)
            atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
    }
}

// Rounding may move a photon to the next bin, so bins are compared within 1 %.
template <bool SHARED> static void walkers(Run &run)
{
    const std::vector<uint32_t> seeds = words(WALKERS, 11020);
    const uint32_t *from = run.upload(seeds);
    int *bins = run.zeros<int>(WALK_BINS);
    run.measure([=] { walkers_kernel<SHARED><<<WALKERS / 128, 128>>>(from, bins); },
                [=] { CHECK(cudaMemset(bins, 0, WALK_BINS * sizeof(int))); });
    std::vector<double> wanted(WALK_BINS);
    for (uint32_t seed : seeds) {
        Walker w = { 0, 1, 1, seed };
        int absorbed = 0;
        for (int bin; w.weight > 0.02f && (bin = walk_step(w, absorbed)) >= 0;)
            wanted[bin] += absorbed;
    }
    run.expect_all(
        run.output(bins, WALK_BINS), [&](size_t i) { return wanted[i]; }, 0.01);
}

static void absorbed_global(Run &run)
{
    walkers<false>(run);
}

static void absorbed_shared(Run &run)
{
    walkers<true>(run);
}

// ---- New directions after scattering: the cosine from a formula, or from a table ----

enum { DIRECTIONS = 1 << 21, DIRECTION_TABLE = 4096 };

__host__ __device__ inline float scatter_cosine(float u)
{
    const float g = 0.75f, t = (1 - g * g) / (1 - g + 2 * g * u);
    return (1 + g * g - t * t) / (2 * g);
}

template <bool TABLE>
__global__ void directions_kernel(const float2 *draws, const float *table, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 u = draws[i];
    const float cosine = TABLE ? table[(int) (u.x * DIRECTION_TABLE)] : scatter_cosine(u.x);
    const float sine = sqrtf(fmaxf(0.0f, 1 - cosine * cosine));
    float s, c;
    if (TABLE)
        __sincosf(6.2831853f * u.y, &s, &c);
    else
        sincosf(6.2831853f * u.y, &s, &c);
    out[i] = make_float4(sine * c, sine * s, cosine, u.x);
}

template <bool TABLE> static void directions(Run &run)
{
    const std::vector<float> draws = floats(2 * DIRECTIONS, 11021, 0, 1);
    std::vector<float> table(DIRECTION_TABLE);
    for (int k = 0; k < DIRECTION_TABLE; k++)
        table[k] = scatter_cosine((k + 0.5f) / DIRECTION_TABLE);
    const float2 *from = (const float2 *) run.upload(draws);
    const float *dt = run.upload(table);
    float4 *to = run.zeros<float4>(DIRECTIONS);
    run.measure([=] { directions_kernel<TABLE><<<DIRECTIONS / 256, 256>>>(from, dt, to); });
    const std::vector<float4> got = run.output(to, DIRECTIONS);
    for (int i = 0; i < DIRECTIONS; i += 1013) {
        const double cosine = scatter_cosine(draws[2 * i]);
        const double angle = 2 * M_PI * draws[2 * i + 1];
        run.expect(got[i].z, cosine, 5e-3);
        run.expect(got[i].x, sqrt(1 - cosine * cosine) * cos(angle), 0.06);
    }
}

static void scatterdirs_formula(Run &run)
{
    directions<false>(run);
}

static void scatterdirs_table(Run &run)
{
    directions<true>(run);
}

// ---- Light through a cloud of 128^3 cells: cell by cell, or by random flights ----

enum { CLOUD_SIDE = 128, CLOUD_RAYS = 128 * 128 * 2 };

__host__ __device__ inline size_t cloud_cell(int ray, float z)
{
    const int x = ray % CLOUD_SIDE, y = ray / CLOUD_SIDE % CLOUD_SIDE;
    return ((size_t) x * CLOUD_SIDE + y) * CLOUD_SIDE + (int) z;
}

__host__ __device__ inline float cloud_marched(const float *cells, int ray)
{
    float depth = 0;
    for (int z = 0; z < CLOUD_SIDE; z++)
        depth += cells[cloud_cell(ray, z)];
    return expf(-depth);
}

// Flights of the densest cell's length; a cell stops the light with its density's share.
__host__ __device__ inline float cloud_flights(const float *cells, int ray, uint32_t seed)
{
    int passed = 0;
    for (int k = 0; k < 12; k++) {
        float z = 0;
        bool alive = true;
        while (alive) {
            z -= logf(photon_draw(seed)) * 20;
            if (z >= CLOUD_SIDE)
                break;
            alive = photon_draw(seed) >= cells[cloud_cell(ray, z)] * 20;
        }
        passed += alive;
    }
    return passed / 12.0f;
}

template <bool FLIGHTS>
__global__ void cloud_kernel(const float *cells, const uint32_t *seeds, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = FLIGHTS ? cloud_flights(cells, i, seeds[i]) : cloud_marched(cells, i);
}

template <bool FLIGHTS> static void cloud(Run &run)
{
    const std::vector<float> cells =
        floats((size_t) CLOUD_SIDE * CLOUD_SIDE * CLOUD_SIDE, 11022, 0, 0.02f);
    const std::vector<uint32_t> seeds = words(CLOUD_RAYS, 11023);
    const float *from = run.upload(cells);
    const uint32_t *ds = run.upload(seeds);
    float *to = run.zeros<float>(CLOUD_RAYS);
    run.measure([=] { cloud_kernel<FLIGHTS><<<CLOUD_RAYS / 128, 128>>>(from, ds, to); });
    const std::vector<float> got = run.output(to, CLOUD_RAYS);
    double sum = 0, wanted = 0;
    for (int i = 0; i < CLOUD_RAYS; i += 7) {
        const float host =
            FLIGHTS ? cloud_flights(cells.data(), i, seeds[i]) : cloud_marched(cells.data(), i);
        if (!FLIGHTS)
            run.expect(got[i], host, 1e-4);
        sum += got[i];
        wanted += host;
    }
    run.expect(sum, wanted, 2e-3);
}

static void cloudlight_cells(Run &run)
{
    cloud<false>(run);
}

static void cloudlight_flights(Run &run)
{
    cloud<true>(run);
}

// ---- What black bodies radiate into a band of 256 wavelengths: floats or doubles ----

enum { BODIES_HOT = 16384, BODY_WAVES = 256 };

template <class T> __host__ __device__ inline T body_radiates(T kelvin)
{
    T sum = 0;
    for (int k = 0; k < BODY_WAVES; k++) {
        const T um = (T) 0.4 + k * (T) 0.01;
        const T cube = 1 / (um * um * um * um * um);
        sum += cube / (exp((T) 14387.77 / (um * kelvin)) - 1);
    }
    return sum;
}

template <class T> __global__ void bodies_kernel(const float *kelvin, T *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = body_radiates((T) kelvin[i]);
}

template <class T> static void bodies_hot(Run &run)
{
    const std::vector<float> kelvin = floats(BODIES_HOT, 11024, 2500, 9000);
    const float *from = run.upload(kelvin);
    T *to = run.zeros<T>(BODIES_HOT);
    run.measure([=] { bodies_kernel<T><<<BODIES_HOT / 64, 64>>>(from, to); });
    run.expect_all(
        run.output(to, BODIES_HOT), [&](size_t i) { return body_radiates((double) kelvin[i]); },
        1e-4, 37);
}

static void blackbody_float(Run &run)
{
    bodies_hot<float>(run);
}

static void blackbody_double(Run &run)
{
    bodies_hot<double>(run);
}

#endif
