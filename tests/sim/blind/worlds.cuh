// worlds.cuh - simulated nature: nerve cells, reactions that spread, neutrons, cross sections,
// oscillators with steps of adapted length, smoke.
#ifndef BLIND_WORLDS_CUH
#define BLIND_WORLDS_CUH

#include "blind.cuh"

// ---- Nerve cells (Hodgkin-Huxley) over time: exact or fast exponentials ----

enum { NERVE_STEPS = 24 };

struct Nerve {
    float v, m, h, n;
};

struct ExactExp {
    __host__ __device__ static float at(float x)
    {
        return expf(x);
    }
};

struct FastExp {
    __host__ __device__ static float at(float x)
    {
#ifdef __CUDA_ARCH__
        return __expf(x);
#else
        return expf(x);
#endif
    }
};

template <class Exp> __host__ __device__ inline void nerve_step(Nerve &s, float current, float dt)
{
    const float v = s.v;
    const float am = 0.1f * (v + 40.03f) / (1 - Exp::at(-(v + 40.03f) / 10)),
                bm = 4 * Exp::at(-(v + 65) / 18), ah = 0.07f * Exp::at(-(v + 65) / 20),
                bh = 1 / (1 + Exp::at(-(v + 35) / 10)),
                an = 0.01f * (v + 55.03f) / (1 - Exp::at(-(v + 55.03f) / 10)),
                bn = 0.125f * Exp::at(-(v + 65) / 80);
    const float sodium = 120 * s.m * s.m * s.m * s.h * (v - 50),
                potassium = 36 * s.n * s.n * s.n * s.n * (v + 77), leak = 0.3f * (v + 54.387f);
    s.v += dt * (current - sodium - potassium - leak);
    s.m += dt * (am * (1 - s.m) - bm * s.m);
    s.h += dt * (ah * (1 - s.h) - bh * s.h);
    s.n += dt * (an * (1 - s.n) - bn * s.n);
}

template <class Exp> __global__ void nerve_kernel(Nerve *nerve, const float *current, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Nerve s = nerve[i];
    for (int step = 0; step < NERVE_STEPS; step++)
        nerve_step<Exp>(s, current[i], 0.02f);
    nerve[i] = s;
}

static void nerve(Run &run, void (*kernel)(Nerve *, const float *, int), double tolerance)
{
    const int n = 24000;
    const std::vector<float> current = floats(n, 781, 0, 15), v = floats(n, 782, -70, -45);
    std::vector<Nerve> start(n);
    for (int i = 0; i < n; i++)
        start[i] = { v[i], 0.05f, 0.6f, 0.32f };
    float *dc = run.upload(current);
    Nerve *dn = run.upload(start);
    const size_t size = n * sizeof(Nerve);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(dn, dc, n); },
                [&] { CHECK(cudaMemcpy(dn, start.data(), size, cudaMemcpyHostToDevice)); });
    const std::vector<Nerve> got = run.output(dn, n);
    for (int i = 0; i < n; i += 13) {
        Nerve s = start[i];
        for (int step = 0; step < NERVE_STEPS; step++)
            nerve_step<ExactExp>(s, current[i], 0.02f);
        run.expect(got[i].v, s.v, tolerance);
        run.expect(got[i].n, s.n, tolerance);
    }
}

static void nerve_exact(Run &run)
{
    nerve(run, nerve_kernel<ExactExp>, 1e-3);
}

static void nerve_fast(Run &run)
{
    nerve(run, nerve_kernel<FastExp>, 1e-2);
}

// ---- Two substances that react and spread (Gray-Scott): one pixel or four rows per thread ----

enum { SPREAD_WIDTH = 2048, SPREAD_HEIGHT = 1024 };

__host__ __device__ inline float spread_of(const float *in, int x, int y)
{
    const int left = (x + SPREAD_WIDTH - 1) % SPREAD_WIDTH, right = (x + 1) % SPREAD_WIDTH;
    const int up = (y + SPREAD_HEIGHT - 1) % SPREAD_HEIGHT * SPREAD_WIDTH,
              down = (y + 1) % SPREAD_HEIGHT * SPREAD_WIDTH, row = y * SPREAD_WIDTH;
    return in[row + left] + in[row + right] + in[up + x] + in[down + x] - 4 * in[row + x];
}

__host__ __device__ inline float2 reacted(float u, float v, float spread_u, float spread_v)
{
    const float rate = u * v * v;
    return { u + 0.16f * spread_u - rate + 0.035f * (1 - u),
             v + 0.08f * spread_v + rate - 0.1f * v };
}

__global__ void spread_one_kernel(const float *u, const float *v, float *next_u, float *next_v)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = y * SPREAD_WIDTH + x;
    const float2 next = reacted(u[at], v[at], spread_of(u, x, y), spread_of(v, x, y));
    next_u[at] = next.x;
    next_v[at] = next.y;
}

// The values above, here and below move down through registers.
__global__ void spread_four_kernel(const float *u, const float *v, float *next_u, float *next_v)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * 4, w = SPREAD_WIDTH;
    const int left = (x + w - 1) % w, right = (x + 1) % w;
    const int before = (y0 + SPREAD_HEIGHT - 1) % SPREAD_HEIGHT * w;
    float above_u = u[before + x], above_v = v[before + x];
    float here_u = u[y0 * w + x], here_v = v[y0 * w + x];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int row = (y0 + k) * w, next_row = (y0 + k + 1) % SPREAD_HEIGHT * w;
        const float below_u = u[next_row + x], below_v = v[next_row + x];
        const float su = u[row + left] + u[row + right] + above_u + below_u - 4 * here_u,
                    sv = v[row + left] + v[row + right] + above_v + below_v - 4 * here_v;
        const float2 next = reacted(here_u, here_v, su, sv);
        next_u[row + x] = next.x;
        next_v[row + x] = next.y;
        above_u = here_u, above_v = here_v;
        here_u = below_u, here_v = below_v;
    }
}

static void spread(Run &run, bool four)
{
    const int n = SPREAD_WIDTH * SPREAD_HEIGHT;
    const std::vector<float> u = floats(n, 783, 0, 1), v = floats(n, 784, 0, 0.5f);
    float *du = run.upload(u), *dv = run.upload(v);
    float *nu = run.zeros<float>(n), *nv = run.zeros<float>(n);
    run.measure([=] {
        if (four)
            spread_four_kernel<<<dim3(SPREAD_WIDTH / 128, SPREAD_HEIGHT / 4), 128>>>(du, dv, nu,
                                                                                     nv);
        else
            spread_one_kernel<<<dim3(SPREAD_WIDTH / 32, SPREAD_HEIGHT / 4), dim3(32, 4)>>>(du, dv,
                                                                                           nu, nv);
    });
    const std::vector<float> gu = run.output(nu, n), gv = run.output(nv, n);
    for (int i = 0; i < n; i += 23) {
        const int x = i % SPREAD_WIDTH, y = i / SPREAD_WIDTH;
        const float2 next =
            reacted(u[i], v[i], spread_of(u.data(), x, y), spread_of(v.data(), x, y));
        run.expect(gu[i], next.x, 1e-5);
        run.expect(gv[i], next.y, 1e-5);
    }
}

static void spread_one(Run &run)
{
    spread(run, false);
}

static void spread_four(Run &run)
{
    spread(run, true);
}

// ---- Neutrons through a wall: each collision is counted by depth, in global or shared memory ----

enum { WALL_BINS = 40 };

__host__ __device__ inline float neutron_random(unsigned long long &state)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return ((unsigned) (state >> 40) + 0.5f) * 0x1p-24f;
}

__host__ __device__ inline void count_collision(int *bins, int bin)
{
#ifdef __CUDA_ARCH__
    atomicAdd(&bins[bin], 1);
#else
    bins[bin]++;
#endif
}

__host__ __device__ inline void neutron(unsigned seed, int *bins)
{
    unsigned long long state = seed * 0x9e3779b97f4a7c15ull + 1;
    float depth = 0, direction = 1;
    for (;;) {
        depth -= direction * logf(neutron_random(state)) * 0.6f;
        if (depth < 0 || depth >= 5)
            return;
        count_collision(bins, (int) (depth * (WALL_BINS / 5)));
        if (neutron_random(state) < 0.2f) // absorbed
            return;
        direction = 2 * neutron_random(state) - 1;
    }
}

__global__ void neutrons_global_kernel(int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        neutron(i, bins);
}

__global__ void neutrons_shared_kernel(int *bins, int n)
{
    __shared__ int local[WALL_BINS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < WALL_BINS)
        local[threadIdx.x] = 0;
    __syncthreads(); // the counters are zero
    if (i < n)
        neutron(i, local);
    __syncthreads(); // the block's counts are complete
    if (threadIdx.x < WALL_BINS)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static void neutrons(Run &run, void (*kernel)(int *, int))
{
    const int n = 100000;
    int *bins = run.zeros<int>(WALL_BINS);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(bins, n); },
                [=] { CHECK(cudaMemset(bins, 0, WALL_BINS * sizeof(int))); });
    std::vector<int> wanted(WALL_BINS);
    for (int i = 0; i < n; i++)
        neutron(i, wanted.data());
    run.expect_all(
        run.output(bins, WALL_BINS), [&](size_t i) { return wanted[i]; }, 0.02);
}

static void neutrons_global(Run &run)
{
    neutrons(run, neutrons_global_kernel);
}

static void neutrons_shared(Run &run)
{
    neutrons(run, neutrons_shared_kernel);
}

// ---- Cross sections of materials: energies in random order, or in their own ----

enum { NUCLIDES = 48, NUCLIDE_POINTS = 2048, MATERIALS = 8 };

struct Section {
    float energy, total, scatter, absorb;
};

__host__ __device__ inline float3 sections_of(const Section *table, float energy, int material)
{
    float3 sum = { 0, 0, 0 };
    for (int k = 0; k < 4 + 2 * material; k++) {
        const int nuclide = (material * 7 + k * 5) % NUCLIDES;
        const Section *row = table + nuclide * NUCLIDE_POINTS;
        int low = 0, high = NUCLIDE_POINTS - 1;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (row[middle].energy <= energy)
                low = middle;
            else
                high = middle;
        }
        const Section a = row[low], b = row[low + 1];
        const float part = (energy - a.energy) / (b.energy - a.energy), density = 0.1f * (k + 1);
        sum.x += density * (a.total + part * (b.total - a.total));
        sum.y += density * (a.scatter + part * (b.scatter - a.scatter));
        sum.z += density * (a.absorb + part * (b.absorb - a.absorb));
    }
    return sum;
}

__global__ void sections_kernel(const Section *table, const float *energy, const int *material,
                                float3 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sections_of(table, energy[i], material[i]);
}

static std::vector<Section> section_table()
{
    const std::vector<float> raw = floats(4 * NUCLIDES * NUCLIDE_POINTS, 785, 0, 1);
    std::vector<Section> table(NUCLIDES * NUCLIDE_POINTS);
    for (size_t i = 0; i < table.size(); i++)
        table[i] = { (i % NUCLIDE_POINTS + 0.9f * raw[4 * i]) / NUCLIDE_POINTS, raw[4 * i + 1],
                     raw[4 * i + 2], raw[4 * i + 3] };
    return table;
}

static void sections(Run &run, bool ordered)
{
    const int n = 40000;
    const std::vector<Section> table = section_table();
    const std::vector<float> energies = floats(n, 786, 0.001f, 0.999f);
    const std::vector<int> materials = integers(n, MATERIALS, 787);
    std::vector<std::pair<int, float>> asked(n);
    std::vector<float> energy;
    std::vector<int> material;
    for (int i = 0; i < n; i++)
        asked[i] = { materials[i], energies[i] };
    if (ordered)
        std::sort(asked.begin(), asked.end());
    for (const auto &a : asked) {
        material.push_back(a.first);
        energy.push_back(a.second);
    }
    Section *dt = run.upload(table);
    float *de = run.upload(energy);
    int *dm = run.upload(material);
    float3 *to = run.zeros<float3>(n);
    run.measure([=] { sections_kernel<<<blocks_for(n, 128), 128>>>(dt, de, dm, to, n); });
    const std::vector<float3> got = run.output(to, n);
    for (int i = 0; i < n; i += 17) {
        const float3 wanted = sections_of(table.data(), energy[i], material[i]);
        run.expect(got[i].x, wanted.x, 1e-3);
        run.expect(got[i].y, wanted.y, 1e-3);
        run.expect(got[i].z, wanted.z, 1e-3);
    }
}

static void sections_random(Run &run)
{
    sections(run, false);
}

static void sections_ordered(Run &run)
{
    sections(run, true);
}

// ---- Oscillators (van der Pol) with steps of adapted length (Bogacki and Shampine) ----

__host__ __device__ inline float2 slope_of(float2 s, float stiff)
{
    return { s.y, stiff * (1 - s.x * s.x) * s.y - s.x };
}

__host__ __device__ inline float2 moved(float2 s, float h, float2 k)
{
    return { s.x + h * k.x, s.y + h * k.y };
}

__host__ __device__ inline float2 oscillate(float2 s, float stiff, float until)
{
    float time = 0, h = 0.05f;
    float2 k1 = slope_of(s, stiff);
    while (time < until) {
        h = fminf(h, until - time + 1e-6f);
        const float2 k2 = slope_of(moved(s, 0.5f * h, k1), stiff),
                     k3 = slope_of(moved(s, 0.75f * h, k2), stiff);
        const float2 next = { s.x + h * (2 * k1.x + 3 * k2.x + 4 * k3.x) / 9,
                              s.y + h * (2 * k1.y + 3 * k2.y + 4 * k3.y) / 9 };
        const float2 k4 = slope_of(next, stiff);
        const float ex = h * (-5 * k1.x / 72 + k2.x / 12 + k3.x / 9 - k4.x / 8),
                    ey = h * (-5 * k1.y / 72 + k2.y / 12 + k3.y / 9 - k4.y / 8);
        const float error = fmaxf(fabsf(ex), fabsf(ey)) / 1e-4f;
        if (error <= 1) {
            time += h;
            s = next;
            k1 = k4;
        }
        h *= fminf(3, fmaxf(0.3f, 0.9f * powf(error + 1e-6f, -1.0f / 3)));
    }
    return s;
}

__global__ void oscillators_kernel(const float2 *start, const float *stiff, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = oscillate(start[i], stiff[i], 5);
}

static void oscillators_adapted(Run &run)
{
    const int n = 7000;
    const std::vector<float> at = floats(2 * n, 788, -2, 2), stiff = floats(n, 789, 0.5f, 5);
    const float2 *start = (const float2 *) run.upload(at);
    float *ds = run.upload(stiff);
    float2 *to = run.zeros<float2>(n);
    run.measure([=] { oscillators_kernel<<<blocks_for(n, 64), 64>>>(start, ds, to, n); });
    const std::vector<float2> got = run.output(to, n);
    for (int i = 0; i < n; i += 19) {
        const float2 wanted = oscillate({ at[2 * i], at[2 * i + 1] }, stiff[i], 5);
        run.expect(got[i].x, wanted.x, 0.02);
    }
}

// ---- Smoke carried by a flow: back along the speed, then between four values ----

enum { SMOKE_WIDTH = 1600, SMOKE_HEIGHT = 1200 };

__host__ __device__ inline float carried(const float2 *speed, const float *in, int x, int y)
{
    const float2 v = speed[y * SMOKE_WIDTH + x];
    const float u = fminf(fmaxf(x - v.x, 0), SMOKE_WIDTH - 1.001f),
                w = fminf(fmaxf(y - v.y, 0), SMOKE_HEIGHT - 1.001f);
    const int left = (int) u, top = (int) w;
    const float *p = in + top * SMOKE_WIDTH + left;
    const float a = u - left, b = w - top;
    return (1 - b) * ((1 - a) * p[0] + a * p[1]) +
           b * ((1 - a) * p[SMOKE_WIDTH] + a * p[SMOKE_WIDTH + 1]);
}

__global__ void smoke_kernel(const float2 *speed, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < SMOKE_WIDTH && y < SMOKE_HEIGHT)
        out[y * SMOKE_WIDTH + x] = 0.995f * carried(speed, in, x, y);
}

static void smoke_carried(Run &run)
{
    const int n = SMOKE_WIDTH * SMOKE_HEIGHT;
    const std::vector<float> in = floats(n, 776, 0, 1), noise = floats(2 * n, 777, -0.5f, 0.5f);
    std::vector<float2> speed(n);
    for (int i = 0; i < n; i++)
        speed[i] = { 6 * sinf(i / SMOKE_WIDTH * 0.02f) + noise[2 * i],
                     5 * cosf(i % SMOKE_WIDTH * 0.03f) + noise[2 * i + 1] };
    float2 *ds = run.upload(speed);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] {
        smoke_kernel<<<dim3(blocks_for(SMOKE_WIDTH, 16), blocks_for(SMOKE_HEIGHT, 16)),
                       dim3(16, 16)>>>(ds, from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return 0.995f * carried(speed.data(), in.data(), i % SMOKE_WIDTH, i / SMOKE_WIDTH);
        },
        2e-3, 19);
}

#endif
