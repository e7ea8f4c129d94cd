// physics.cuh - simulations: lattice Boltzmann, molecules, springs, waves, rays.
#ifndef BLIND_PHYSICS_CUH
#define BLIND_PHYSICS_CUH

#include "blind.cuh"

#include <cstring>

// ---- Lattice Boltzmann, D2Q9: distributions as nine arrays, or nine values per cell ----

struct ByDirection {
    __host__ __device__ static size_t at(int q, int cell, int cells)
    {
        return (size_t) q * cells + cell;
    }
};

struct ByCell {
    __host__ __device__ static size_t at(int q, int cell, int)
    {
        return (size_t) cell * 9 + q;
    }
};

// Pulls from the neighbours, then relaxes towards equilibrium; the field is periodic.
template <class Layout>
__host__ __device__ inline void lbm_cell(const float *in, float *out, int x, int y, int width,
                                         int height)
{
    const int ex[9] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, ey[9] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
    const int cells = width * height;
    float f[9], density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < 9; q++) {
        int sx = (x - ex[q] + width) % width, sy = (y - ey[q] + height) % height;
        f[q] = in[Layout::at(q, sy * width + sx, cells)];
        density += f[q];
        ux += f[q] * ex[q];
        uy += f[q] * ey[q];
    }
    ux /= density;
    uy /= density;
#pragma unroll
    for (int q = 0; q < 9; q++) {
        float weight = q == 0 ? 4.0f / 9 : q < 5 ? 1.0f / 9 : 1.0f / 36;
        float along = 3 * (ex[q] * ux + ey[q] * uy);
        float rest = 1 + along + 0.5f * along * along - 1.5f * (ux * ux + uy * uy);
        out[Layout::at(q, y * width + x, cells)] = 0.4f * f[q] + 0.6f * weight * density * rest;
    }
}

template <class Layout>
__global__ void lbm_kernel(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width)
        lbm_cell<Layout>(in, out, x, y, width, height);
}

template <class Layout> static void lbm(Run &run)
{
    const int width = 1280, height = 480, cells = width * height;
    const std::vector<float> in = floats((size_t) cells * 9, 121, 0.05f, 0.15f);
    std::vector<float> wanted(in.size());
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] {
        lbm_kernel<Layout><<<dim3(blocks_for(width, 128), height), 128>>>(from, to, width, height);
    });
    const std::vector<float> got = run.output(to, in.size());
    for (int cell = 0; cell < cells; cell += 211) {
        lbm_cell<Layout>(in.data(), wanted.data(), cell % width, cell / width, width, height);
        for (int q = 0; q < 9; q++)
            run.expect(got[Layout::at(q, cell, cells)], wanted[Layout::at(q, cell, cells)], 1e-5);
    }
}

static void lbm_directions(Run &run)
{
    lbm<ByDirection>(run);
}

static void lbm_cells(Run &run)
{
    lbm<ByCell>(run);
}

// ---- Lennard-Jones forces with lists of neighbours: a row per atom, or a column per atom ----

enum { ATOMS = 49152, NEIGHBOURS = 40 };

template <bool COLUMNS>
__host__ __device__ inline float4 force_on(int i, const float4 *atom, const int *list)
{
    float4 me = atom[i], sum = { 0, 0, 0, 0 };
    for (int k = 0; k < NEIGHBOURS; k++) {
        float4 other = atom[COLUMNS ? list[k * ATOMS + i] : list[i * NEIGHBOURS + k]];
        float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 6.25f) {
            float s = 1.0f / (r2 + 0.5f), s3 = s * s * s, strength = s * s3 * (2 * s3 - 1);
            sum.x += strength * dx;
            sum.y += strength * dy;
            sum.z += strength * dz;
            sum.w += s3 * (s3 - 1);
        }
    }
    return sum;
}

template <bool COLUMNS>
__global__ void __launch_bounds__(128)
    force_kernel(const float4 *atom, const int *list, float4 *force)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ATOMS)
        force[i] = force_on<COLUMNS>(i, atom, list);
}

template <bool COLUMNS> static void molecules(Run &run)
{
    const std::vector<float> raw = floats((size_t) ATOMS * 4, 122, 0, 4);
    const std::vector<int> step = integers((size_t) ATOMS * NEIGHBOURS, 400, 123);
    std::vector<int> list(step.size());
    for (int i = 0; i < ATOMS; i++)
        for (int k = 0; k < NEIGHBOURS; k++)
            list[COLUMNS ? k * ATOMS + i : i * NEIGHBOURS + k] =
                (i + 1 + step[(size_t) i * NEIGHBOURS + k]) % ATOMS;
    float4 *atom = (float4 *) run.upload(raw), *force = run.zeros<float4>(ATOMS);
    int *dl = run.upload(list);
    run.measure([=] { force_kernel<COLUMNS><<<ATOMS / 128, 128>>>(atom, dl, force); });
    const std::vector<float4> got = run.output(force, ATOMS);
    for (int i = 0; i < ATOMS; i += 157) {
        float4 f = force_on<COLUMNS>(i, (const float4 *) raw.data(), list.data());
        run.expect(got[i].x, f.x, 1e-4);
        run.expect(got[i].w, f.w, 1e-4);
    }
}

static void molecules_rows(Run &run)
{
    molecules<false>(run);
}

static void molecules_columns(Run &run)
{
    molecules<true>(run);
}

// ---- A network of springs: a spring per thread adds to its ends, or a node gathers ----

struct Spring {
    int a, b;
    float rest;
};

__global__ void springs_scatter_kernel(const Spring *spring, const float *x, float *force, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Spring s = spring[i];
    float pull = 0.5f * (x[s.b] - x[s.a] - s.rest);
    atomicAdd(&force[s.a], pull);
    atomicAdd(&force[s.b], -pull);
}

// `end`: the other node and the signed rest length of each spring of a node.
__global__ void springs_gather_kernel(const int *begin, const int2 *end, const float *x,
                                      float *force, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes)
        return;
    float here = x[i], sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
        sum += 0.5f * (x[end[k].x] - here - __int_as_float(end[k].y));
    force[i] = sum;
}

// Positions and lengths are small integers, so that sums are exact in any order.
struct Network {
    int nodes = 100000, springs = 800000;
    std::vector<Spring> spring;
    std::vector<float> x, force;

    Network() : spring(springs), x(nodes), force(nodes)
    {
        const std::vector<int> a = integers(springs, nodes, 124), far = integers(springs, 900, 125);
        for (int i = 0; i < nodes; i++)
            x[i] = (float) (mix(i) % 64);
        for (int i = 0; i < springs; i++) {
            spring[i] = { a[i], (a[i] + 1 + far[i]) % nodes, (float) (far[i] % 8) };
            const float pull = 0.5f * (x[spring[i].b] - x[a[i]] - spring[i].rest);
            force[a[i]] += pull;
            force[spring[i].b] -= pull;
        }
    }
};

static void springs_scatter(Run &run)
{
    const Network net;
    Spring *spring = run.upload(net.spring);
    float *x = run.upload(net.x), *force = run.zeros<float>(net.nodes);
    const int n = net.springs, nodes = net.nodes;
    run.measure([=] { springs_scatter_kernel<<<blocks_for(n, 256), 256>>>(spring, x, force, n); },
                [=] { CHECK(cudaMemset(force, 0, nodes * sizeof(float))); });
    run.expect_all(
        run.output(force, nodes), [&](size_t i) { return net.force[i]; }, 0, 3);
}

static void springs_gather(Run &run)
{
    const Network net;
    const int nodes = net.nodes;
    std::vector<int> begin(nodes + 1);
    std::vector<int2> end(2 * net.springs);
    for (const Spring &s : net.spring)
        begin[s.a + 1]++, begin[s.b + 1]++;
    for (int i = 0; i < nodes; i++)
        begin[i + 1] += begin[i];
    std::vector<int> next = begin;
    for (const Spring &s : net.spring) {
        int rest, back;
        const float minus = -s.rest;
        memcpy(&rest, &s.rest, 4);
        memcpy(&back, &minus, 4);
        end[next[s.a]++] = make_int2(s.b, rest);
        end[next[s.b]++] = make_int2(s.a, back);
    }
    int *db = run.upload(begin);
    int2 *de = run.upload(end);
    float *x = run.upload(net.x), *force = run.zeros<float>(nodes);
    run.measure(
        [=] { springs_gather_kernel<<<blocks_for(nodes, 128), 128>>>(db, de, x, force, nodes); });
    run.expect_all(
        run.output(force, nodes), [&](size_t i) { return net.force[i]; }, 0, 3);
}

// ---- Wave equation in three dimensions, of eighth order in space ----

__constant__ float wave_taps[5];
static const float wave_taps_host[5] = { -8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f };

__host__ __device__ inline float wave_at(const float *now, const float *before, size_t i, int nx,
                                         int nxy, const float *taps)
{
    float sum = taps[0] * now[i];
#pragma unroll
    for (int r = 1; r <= 4; r++)
        sum += taps[r] * (now[i + r] + now[i - r] + now[i + r * nx] + now[i - r * nx] +
                          now[i + r * nxy] + now[i - r * nxy]);
    return 2 * now[i] - before[i] + 0.1f * sum;
}

__global__ void wave3d_kernel(const float *now, const float *before, float *after, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 4,
        y = blockIdx.y * blockDim.y + threadIdx.y + 4;
    size_t i = ((size_t) (blockIdx.z + 4) * ny + y) * nx + x;
    if (x < nx - 4 && y < ny - 4)
        after[i] = wave_at(now, before, i, nx, nx * ny, wave_taps);
}

static void wave3d(Run &run)
{
    const int nx = 264, ny = 136, nz = 56;
    const size_t n = (size_t) nx * ny * nz;
    const std::vector<float> now = floats(n, 126), before = floats(n, 127);
    float *dn = run.upload(now), *db = run.upload(before), *after = run.zeros<float>(n);
    CHECK(cudaMemcpyToSymbol(wave_taps, wave_taps_host, sizeof wave_taps_host));
    run.measure(
        [=] { wave3d_kernel<<<dim3(4, 32, nz - 8), dim3(64, 4)>>>(dn, db, after, nx, ny); });
    const std::vector<float> got = run.output(after, n);
    for (int z = 4; z < nz - 4; z += 5)
        for (int y = 4; y < ny - 4; y += 9)
            for (int x = 4; x < nx - 4; x += 7) {
                const size_t i = ((size_t) z * ny + y) * nx + x;
                run.expect(got[i],
                           wave_at(now.data(), before.data(), i, nx, nx * ny, wave_taps_host),
                           1e-5);
            }
}

// ---- Rays: the nearest of 24 spheres and whether another one shades the point ----

struct Sphere {
    float x, y, z, r;
};

enum { SPHERES = 24 };
__constant__ Sphere scene[SPHERES];

// The distance along the ray, or a large one.
__host__ __device__ inline float hit(Sphere s, float3 from, float3 to)
{
    float cx = s.x - from.x, cy = s.y - from.y, cz = s.z - from.z;
    float along = cx * to.x + cy * to.y + cz * to.z;
    float d = s.r * s.r - (cx * cx + cy * cy + cz * cz - along * along);
    float t = d < 0 ? 1e20f : along - sqrtf(d);
    return t > 1e-3f ? t : 1e20f;
}

__host__ __device__ inline float pixel(const Sphere *all, float u, float v)
{
    float size = 1 / sqrtf(u * u + v * v + 1), nearest = 1e20f;
    float3 eye = { 0, 0, -5 }, to = { u * size, v * size, size }, sun = { 0.6f, 0.8f, 0 };
    int which = 0;
    for (int i = 0; i < SPHERES; i++) {
        float t = hit(all[i], eye, to);
        if (t < nearest)
            nearest = t, which = i;
    }
    if (nearest > 1e19f)
        return 0;
    float3 at = { eye.x + nearest * to.x, eye.y + nearest * to.y, eye.z + nearest * to.z };
    for (int i = 0; i < SPHERES; i++)
        if (i != which && hit(all[i], at, sun) < 1e19f)
            return 0.1f;
    Sphere s = all[which];
    float light = ((at.x - s.x) * sun.x + (at.y - s.y) * sun.y) / s.r;
    return light > 0.1f ? light : 0.1f;
}

__global__ void spheres_kernel(float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = pixel(scene, (x - width / 2) * 0.004f, (y - height / 2) * 0.004f);
}

// Rounding decides a few pixels at the spheres' edges.
static void spheres(Run &run)
{
    const int width = 640, height = 384;
    const std::vector<float> raw = floats(4 * SPHERES, 128);
    Sphere host[SPHERES];
    for (int i = 0; i < SPHERES; i++)
        host[i] = { 4 * raw[4 * i], 2.5f * raw[4 * i + 1], 3 * raw[4 * i + 2],
                    0.6f + 0.4f * raw[4 * i + 3] };
    CHECK(cudaMemcpyToSymbol(scene, host, sizeof host));
    float *out = run.zeros<float>(width * height);
    run.measure(
        [=] { spheres_kernel<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(out, width, height); });
    const std::vector<float> got = run.output(out, width * height);
    int differ = 0;
    for (int i = 0; i < width * height; i += 7) {
        const int x = i % width, y = i / width;
        const float wanted = pixel(host, (x - width / 2) * 0.004f, (y - height / 2) * 0.004f);
        differ += fabsf(got[i] - wanted) > 1e-3f;
    }
    run.expect(differ < width * height / 7 / 200, 1, 0);
}

#endif
