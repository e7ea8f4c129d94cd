// space.cuh - places: orbits, points in a polygon, Morton codes, nearest cities and segments.
#ifndef BLIND_SPACE_CUH
#define BLIND_SPACE_CUH

#include "blind.cuh"

// ---- Kepler's equation by Newton's method: until it is exact, or eight steps ----

__global__ void kepler_until_kernel(const float *mean, const float *eccentricity, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float m = mean[i], e = eccentricity[i];
    float angle = m + 0.85f * e, change = 1;
    for (int step = 0; step < 20 && fabsf(change) > 2e-6f; step++) {
        change = (angle - e * sinf(angle) - m) / (1 - e * cosf(angle));
        angle -= change;
    }
    out[i] = angle;
}

__global__ void kepler_fixed_kernel(const float *mean, const float *eccentricity, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float m = mean[i], e = eccentricity[i];
    float angle = m + 0.85f * e;
#pragma unroll
    for (int step = 0; step < 8; step++) {
        float s, c;
        sincosf(angle, &s, &c);
        angle -= __fdividef(angle - e * s - m, 1 - e * c);
    }
    out[i] = angle;
}

static void kepler(Run &run, void (*kernel)(const float *, const float *, float *, int))
{
    const int n = 250000;
    const std::vector<float> mean = floats(n, 2031, 0.05f, 3.1f);
    const std::vector<float> eccentricity = floats(n, 2032, 0, 0.9f);
    float *dm = run.upload(mean), *de = run.upload(eccentricity), *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<blocks_for(n, 192), 192>>>(dm, de, to, n); });
    const std::vector<float> got = run.output(to, n);
    for (int i = 0; i < n; i += 7)
        run.expect(got[i] - eccentricity[i] * sin((double) got[i]), mean[i], 1e-5);
}

static void kepler_until(Run &run)
{
    kepler(run, kepler_until_kernel);
}

static void kepler_fixed(Run &run)
{
    kepler(run, kepler_fixed_kernel);
}

// ---- Which points lie in a polygon of 200 corners: edges in constant or shared memory ----

enum { POLYGON = 200 };

__constant__ float4 polygon_edges[POLYGON]; // x, y, the next y, slope

__host__ __device__ inline bool edge_crossed(float4 edge, float2 p)
{
    return (edge.y > p.y) != (edge.z > p.y) && p.x < edge.w * (p.y - edge.y) + edge.x;
}

__global__ void polygon_constant_kernel(const float2 *points, const float4 *, char *inside, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = false;
    if (i >= n)
        return;
    for (int k = 0; k < POLYGON; k++)
        in ^= edge_crossed(polygon_edges[k], points[i]);
    inside[i] = in;
}

__global__ void polygon_shared_kernel(const float2 *points, const float4 *edges, char *inside,
                                      int n)
{
    __shared__ float4 mine[POLYGON];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = false;
    for (int k = threadIdx.x; k < POLYGON; k += blockDim.x)
        mine[k] = edges[k];
    __syncthreads(); // the edges are here
    if (i >= n)
        return;
    const float2 p = points[i];
    for (int k = 0; k < POLYGON; k++)
        if (edge_crossed(mine[k], p))
            in = !in;
    inside[i] = in;
}

static void polygon(Run &run, void (*kernel)(const float2 *, const float4 *, char *, int))
{
    const int n = 60000;
    const std::vector<float> drawn = floats(2 * n, 2033), radius = floats(POLYGON, 2034, 0.3f, 1);
    std::vector<float2> points(n), corner(POLYGON + 1);
    std::vector<float4> edges(POLYGON);
    for (int i = 0; i < n; i++)
        points[i] = make_float2(drawn[2 * i], drawn[2 * i + 1]);
    for (int k = 0; k <= POLYGON; k++) {
        const float r = radius[k % POLYGON], angle = 6.2831853f * (k % POLYGON) / POLYGON;
        corner[k] = make_float2(r * cosf(angle), r * sinf(angle));
    }
    for (int k = 0; k < POLYGON; k++)
        edges[k] = make_float4(corner[k].x, corner[k].y, corner[k + 1].y,
                               (corner[k + 1].x - corner[k].x) / (corner[k + 1].y - corner[k].y));
    float2 *dp = run.upload(points);
    float4 *de = run.upload(edges);
    char *to = run.zeros<char>(n);
    CHECK(cudaMemcpyToSymbol(polygon_edges, edges.data(), sizeof(polygon_edges)));
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(dp, de, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            bool in = false;
            for (int k = 0; k < POLYGON; k++)
                in ^= edge_crossed(edges[k], points[i]);
            return in;
        },
        0, 11);
}

static void polygon_constant(Run &run)
{
    polygon(run, polygon_constant_kernel);
}

static void polygon_shared(Run &run)
{
    polygon(run, polygon_shared_kernel);
}

// ---- Morton codes of points in space: bit by bit, or by masks ----

__host__ __device__ inline uint32_t spread_loop(uint32_t v)
{
    uint32_t out = 0;
    for (int bit = 0; bit < 10; bit++)
        out |= (v >> bit & 1) << 3 * bit;
    return out;
}

__device__ inline uint32_t spread_masks(uint32_t v)
{
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
}

__global__ void morton_loops_kernel(const float *p, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t x = p[3 * i] * 1024, y = p[3 * i + 1] * 1024, z = p[3 * i + 2] * 1024;
    out[i] = spread_loop(x) | spread_loop(y) << 1 | spread_loop(z) << 2;
}

__global__ void morton_masks_kernel(const float *p, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t x = p[3 * i] * 1024, y = p[3 * i + 1] * 1024, z = p[3 * i + 2] * 1024;
    out[i] = spread_masks(x) | spread_masks(y) << 1 | spread_masks(z) << 2;
}

static void morton(Run &run, void (*kernel)(const float *, uint32_t *, int))
{
    const int n = 1300000;
    const std::vector<float> p = floats(3 * n, 2035, 0, 0.9999f);
    float *dp = run.upload(p);
    uint32_t *to = run.zeros<uint32_t>(n);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(dp, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const uint32_t x = p[3 * i] * 1024, y = p[3 * i + 1] * 1024, z = p[3 * i + 2] * 1024;
            return spread_loop(x) | spread_loop(y) << 1 | spread_loop(z) << 2;
        },
        0, 29);
}

static void morton_loops(Run &run)
{
    morton(run, morton_loops_kernel);
}

static void morton_masks(Run &run)
{
    morton(run, morton_masks_kernel);
}

// ---- The distance to the nearest of 120 cities on the globe ----

__host__ __device__ inline float nearest_city(const float2 *cities, int count, float2 here)
{
    float least = 1;
    for (int k = 0; k < count; k++) {
        const float up = sinf((cities[k].x - here.x) / 2), along = sinf((cities[k].y - here.y) / 2);
        const float h = up * up + cosf(cities[k].x) * cosf(here.x) * along * along;
        least = h < least ? h : least;
    }
    return 2 * 6371 * asinf(sqrtf(least));
}

__global__ void haversine_kernel(const float2 *cities, int count, const float2 *at, float *out,
                                 int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = nearest_city(cities, count, at[i]);
}

static std::vector<float2> places(int n, int seed)
{
    const std::vector<float> up = floats(n, seed, -1.5f, 1.5f), along = floats(n, seed + 1, -3, 3);
    std::vector<float2> out(n);
    for (int i = 0; i < n; i++)
        out[i] = make_float2(up[i], along[i]);
    return out;
}

static void haversine_nearest(Run &run)
{
    const int count = 120, n = 16000;
    const std::vector<float2> cities = places(count, 2036), at = places(n, 2038);
    float2 *dc = run.upload(cities), *da = run.upload(at);
    float *to = run.zeros<float>(n);
    run.measure([=] { haversine_kernel<<<blocks_for(n, 64), 64>>>(dc, count, da, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return nearest_city(cities.data(), count, at[i]); },
        1e-3, 13);
}

// ---- The distance to the nearest of 90 segments ----

__host__ __device__ inline float nearest_segment(const float4 *segments, int count, float2 p)
{
    float least = 1e30f;
    for (int k = 0; k < count; k++) {
        const float4 s = segments[k];
        const float vx = s.z - s.x, vy = s.w - s.y, wx = p.x - s.x, wy = p.y - s.y;
        float t = (wx * vx + wy * vy) / (vx * vx + vy * vy);
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        const float dx = wx - t * vx, dy = wy - t * vy, d = dx * dx + dy * dy;
        least = d < least ? d : least;
    }
    return sqrtf(least);
}

__global__ void segment_kernel(const float4 *segments, int count, const float2 *at, float *out,
                               int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = nearest_segment(segments, count, at[i]);
}

static void segment_nearest(Run &run)
{
    const int count = 90, n = 50000;
    const std::vector<float2> from = places(count, 2040), end = places(count, 2042);
    const std::vector<float2> at = places(n, 2044);
    std::vector<float4> segments(count);
    for (int k = 0; k < count; k++)
        segments[k] = make_float4(from[k].x, from[k].y, end[k].x, end[k].y);
    float4 *ds = run.upload(segments);
    float2 *da = run.upload(at);
    float *to = run.zeros<float>(n);
    run.measure([=] { segment_kernel<<<blocks_for(n, 256), 256>>>(ds, count, da, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return nearest_segment(segments.data(), count, at[i]); },
        1e-4, 13);
}

#endif
