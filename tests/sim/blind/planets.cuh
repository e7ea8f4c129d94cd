// planets.cuh - bodies in orbits: Kepler's equation, close pairs, gravity fields, craters.
#ifndef BLIND_PLANETS_CUH
#define BLIND_PLANETS_CUH

#include "blind.cuh"

// ---- Kepler's equation per orbit, by Newton's method: in doubles, or in floats before the last
// steps. The catalog is sorted by eccentricity, so that the last blocks take the most steps ----

enum { PLANET_ORBITS = 200000 };

__global__ void planet_kepler_double_kernel(const double2 *orbits, double *anomalies)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PLANET_ORBITS)
        return;
    const double mean = orbits[i].x, e = orbits[i].y;
    double at = e < 0.8 ? mean : 3.14159265358979, step = 1;
    for (int k = 0; k < 30 && fabs(step) > 1e-11; k++) {
        double s, c;
        sincos(at, &s, &c);
        step = (at - e * s - mean) / (1 - e * c);
        at -= step;
    }
    anomalies[i] = at;
}

__global__ void planet_kepler_mixed_kernel(const double2 *orbits, double *anomalies)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PLANET_ORBITS)
        return;
    const double mean = orbits[i].x, e = orbits[i].y;
    const float rough_mean = (float) mean, rough_e = (float) e;
    float rough = rough_e < 0.8f ? rough_mean : 3.1415927f, step = 1;
    for (int k = 0; k < 30 && fabsf(step) > 1e-4f; k++) {
        float s, c;
        sincosf(rough, &s, &c);
        step = (rough - rough_e * s - rough_mean) / (1 - rough_e * c);
        rough -= step;
    }
    double at = rough;
    for (int k = 0; k < 2; k++) {
        double s, c;
        sincos(at, &s, &c);
        at -= (at - e * s - mean) / (1 - e * c);
    }
    anomalies[i] = at;
}

static void planet_kepler(Run &run, bool mixed)
{
    const std::vector<float> means = floats(PLANET_ORBITS, 20620, 0.05f, 3.1f);
    std::vector<float> es = floats(PLANET_ORBITS, 20621, 0, 0.95f);
    std::vector<double2> orbits(PLANET_ORBITS);
    std::sort(es.begin(), es.end());
    for (int i = 0; i < PLANET_ORBITS; i++)
        orbits[i] = { means[i], es[i] };
    const double2 *from = run.upload(orbits);
    double *to = run.zeros<double>(PLANET_ORBITS);
    run.measure([=] {
        const int blocks = blocks_for(PLANET_ORBITS, 128);
        if (mixed)
            planet_kepler_mixed_kernel<<<blocks, 128>>>(from, to);
        else
            planet_kepler_double_kernel<<<blocks, 128>>>(from, to);
    });
    const std::vector<double> got = run.output(to, PLANET_ORBITS);
    for (int i = 0; i < PLANET_ORBITS; i += 3)
        run.expect(got[i] - orbits[i].y * sin(got[i]), orbits[i].x, 1e-9);
}

static void planet_kepler_double(Run &run)
{
    planet_kepler(run, false);
}

static void planet_kepler_mixed(Run &run)
{
    planet_kepler(run, true);
}

// ---- Pairs of bodies that are close to each other: each block takes the bodies after its own
// ones, or half of a ring, which is the same for all blocks ----

enum { PLANET_BODIES = 8192, PLANET_TILE = 64, PLANET_TILES = PLANET_BODIES / PLANET_TILE };

__host__ __device__ inline bool planet_close(int4 a, int4 b)
{
    const int x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z < a.w * b.w;
}

// How many bodies of a tile are close to `mine`. In the block's own tile: of those after it.
__device__ inline int planet_tile(const int4 *bodies, int4 *shared, int4 mine, int tile, bool own)
{
    int count = 0;
    __syncthreads();
    shared[threadIdx.x] = bodies[tile * PLANET_TILE + threadIdx.x];
    __syncthreads();
    for (int k = own ? threadIdx.x + 1 : 0; k < PLANET_TILE; k++)
        count += planet_close(mine, shared[k]);
    return count;
}

__global__ void planet_pairs_triangle_kernel(const int4 *bodies, int *out)
{
    __shared__ int4 shared[PLANET_TILE];
    const int4 mine = bodies[blockIdx.x * PLANET_TILE + threadIdx.x];
    int count = 0;
    for (int tile = blockIdx.x; tile < PLANET_TILES; tile++)
        count += planet_tile(bodies, shared, mine, tile, tile == blockIdx.x);
    atomicAdd(out, count);
}

__global__ void planet_pairs_ring_kernel(const int4 *bodies, int *out)
{
    __shared__ int4 shared[PLANET_TILE];
    const int4 mine = bodies[blockIdx.x * PLANET_TILE + threadIdx.x];
    // Opposite tiles meet once.
    const int tiles = PLANET_TILES / 2 + (blockIdx.x < PLANET_TILES / 2);
    int count = 0;
    for (int k = 0; k < tiles; k++)
        count += planet_tile(bodies, shared, mine, (blockIdx.x + k) % PLANET_TILES, k == 0);
    atomicAdd(out, count);
}

static void planet_pairs(Run &run, bool ring)
{
    const std::vector<int> draws = integers(PLANET_BODIES * 4, 16384, 20630);
    std::vector<int4> bodies(PLANET_BODIES);
    for (int i = 0; i < PLANET_BODIES; i++)
        bodies[i] = { draws[i * 4], draws[i * 4 + 1], draws[i * 4 + 2],
                      200 + draws[i * 4 + 3] / 8 };
    const int4 *from = run.upload(bodies);
    int *to = run.zeros<int>(1);
    run.measure(
        [=] {
            if (ring)
                planet_pairs_ring_kernel<<<PLANET_TILES, PLANET_TILE>>>(from, to);
            else
                planet_pairs_triangle_kernel<<<PLANET_TILES, PLANET_TILE>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, sizeof(int))); });
    int count = 0;
    for (int i = 0; i < PLANET_BODIES; i++)
        for (int j = i + 1; j < PLANET_BODIES; j++)
            count += planet_close(bodies[i], bodies[j]);
    run.expect(run.output(to, 1)[0], count, 0);
}

static void planet_pairs_triangle(Run &run)
{
    planet_pairs(run, false);
}

static void planet_pairs_ring(Run &run)
{
    planet_pairs(run, true);
}

// ---- A planet's gravity at points above it, by spherical harmonics: coefficients in constant or
// in shared memory ----

enum { PLANET_POINTS = 135168, PLANET_DEGREE = 18 };
enum { PLANET_TERMS = (PLANET_DEGREE + 1) * (PLANET_DEGREE + 2) / 2 };

// By order, then by degree: two factors of the recurrence, and the weights of cosine and sine. In
// the first row of an order, x steps from the order before.
__constant__ float4 planet_terms[PLANET_TERMS];

// A point: sine of the latitude, longitude and the planet's radius by its distance.
template <class T> __host__ __device__ inline T planet_gravity(const float4 *terms, float4 point)
{
    const T t = point.x, u = sqrt(1 - t * t), ratio = point.z;
    const T c1 = cos(T(point.y)), s1 = sin(T(point.y));
    T c = 1, s = 0, first = 1, sum = 0, first_power = 1;
    int at = 0;
    for (int m = 0; m <= PLANET_DEGREE; m++) {
        if (m) {
            const T turned = c * c1 - s * s1;
            s = s * c1 + c * s1;
            c = turned;
            first *= u * terms[at].x;
            first_power *= ratio;
        }
        T now = first, before = 0, power = first_power;
        sum += power * now * (terms[at].z * c + terms[at].w * s);
        at++;
        for (int n = m + 1; n <= PLANET_DEGREE; n++, at++) {
            const float4 term = terms[at];
            const T next = term.x * (t * now - term.y * before);
            before = now;
            now = next;
            power *= ratio;
            sum += power * now * (term.z * c + term.w * s);
        }
    }
    return sum;
}

__global__ void planet_gravity_constant_kernel(const float4 *points, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = planet_gravity<float>(planet_terms, points[i]);
}

__global__ void planet_gravity_shared_kernel(const float4 *terms, const float4 *points, float *out)
{
    __shared__ float4 shared[PLANET_TERMS];
    for (int i = threadIdx.x; i < PLANET_TERMS; i += blockDim.x)
        shared[i] = terms[i];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = planet_gravity<float>(shared, points[i]);
}

static std::vector<float4> planet_host_terms()
{
    const std::vector<float> weights = floats(2 * PLANET_TERMS, 20640, -0.1f, 0.1f);
    std::vector<float4> terms;
    for (int m = 0; m <= PLANET_DEGREE; m++)
        for (int n = m; n <= PLANET_DEGREE; n++) {
            const double a = sqrt((4.0 * n * n - 1) / ((double) n * n - (double) m * m));
            const double b =
                sqrt(((n - 1.0) * (n - 1) - (double) m * m) / (4 * (n - 1.0) * (n - 1) - 1));
            const double step = m ? sqrt((2.0 * m + 1) / (2.0 * m)) : 1;
            const size_t at = terms.size();
            terms.push_back({ (float) (n == m ? step : a), n <= m + 1 ? 0.0f : (float) b,
                              weights[2 * at], weights[2 * at + 1] });
        }
    return terms;
}

static void planet_gravities(Run &run, bool shared)
{
    const std::vector<float4> terms = planet_host_terms();
    const std::vector<float> draws = floats((size_t) PLANET_POINTS * 3, 20641, 0, 1);
    std::vector<float4> points(PLANET_POINTS);
    for (int i = 0; i < PLANET_POINTS; i++)
        points[i] = { draws[i * 3] * 1.98f - 0.99f, draws[i * 3 + 1] * 6.28f,
                      0.7f + draws[i * 3 + 2] * 0.29f, 0 };
    CHECK(cudaMemcpyToSymbol(planet_terms, terms.data(), sizeof planet_terms));
    const float4 *dt = run.upload(terms), *dp = run.upload(points);
    float *to = run.zeros<float>(PLANET_POINTS);
    run.measure([=] {
        if (shared)
            planet_gravity_shared_kernel<<<PLANET_POINTS / 256, 256>>>(dt, dp, to);
        else
            planet_gravity_constant_kernel<<<PLANET_POINTS / 256, 256>>>(dp, to);
    });
    run.expect_all(
        run.output(to, PLANET_POINTS),
        [&](size_t i) { return planet_gravity<double>(terms.data(), points[i]); }, 1e-3, 23);
}

static void planet_gravity_constant(Run &run)
{
    planet_gravities(run, false);
}

static void planet_gravity_shared(Run &run)
{
    planet_gravities(run, true);
}

// ---- The newest crater at each place of a map: a block per crater, of which a few are huge, or a
// block per tile of the map ----

enum { PLANET_MAP = 1024, PLANET_CRATERS = 3000 };

// Craters lie as x, y and radius, the oldest first.
__host__ __device__ inline bool planet_hit(int4 crater, int x, int y)
{
    const int dx = x - crater.x, dy = y - crater.y;
    return dx * dx + dy * dy <= crater.z * crater.z;
}

__global__ void planet_craters_each_kernel(const int4 *craters, int *map)
{
    const int4 c = craters[blockIdx.x];
    const int left = max(c.x - c.z, 0), right = min(c.x + c.z, PLANET_MAP - 1);
    const int top = max(c.y - c.z, 0), bottom = min(c.y + c.z, PLANET_MAP - 1);
    for (int y = top + threadIdx.y; y <= bottom; y += blockDim.y)
        for (int x = left + threadIdx.x; x <= right; x += blockDim.x)
            if (planet_hit(c, x, y))
                atomicMax(&map[y * PLANET_MAP + x], blockIdx.x + 1);
}

// Does the crater's square touch the tile at (x, y)?
__device__ inline bool planet_touches(int4 crater, int x, int y)
{
    return crater.x + crater.z >= x && crater.x - crater.z < x + 32 && crater.y + crater.z >= y &&
           crater.y - crater.z < y + 32;
}

__global__ void planet_craters_tiles_kernel(const int4 *craters, int *map)
{
    __shared__ int4 list[256];
    __shared__ int listed;
    const int thread = threadIdx.y * 32 + threadIdx.x;
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    int newest[4] = {};
    for (int first = 0; first < PLANET_CRATERS; first += 256) {
        if (thread == 0)
            listed = 0;
        __syncthreads();
        if (first + thread < PLANET_CRATERS) {
            int4 c = craters[first + thread];
            c.w = first + thread + 1;
            if (planet_touches(c, blockIdx.x * 32, blockIdx.y * 32))
                list[atomicAdd(&listed, 1)] = c;
        }
        __syncthreads();
        for (int k = 0; k < listed; k++)
#pragma unroll
            for (int row = 0; row < 4; row++)
                if (planet_hit(list[k], x, y + row * 8))
                    newest[row] = max(newest[row], list[k].w);
        __syncthreads();
    }
#pragma unroll
    for (int row = 0; row < 4; row++)
        map[(y + row * 8) * PLANET_MAP + x] = newest[row];
}

static void planet_craters(Run &run, bool tiles)
{
    const std::vector<int> draws = integers(PLANET_CRATERS * 3, 1 << 20, 20650);
    std::vector<int4> craters(PLANET_CRATERS);
    for (int i = 0; i < PLANET_CRATERS; i++)
        craters[i] = { draws[i * 3] % PLANET_MAP, draws[i * 3 + 1] % PLANET_MAP,
                       std::min(2 + 400 / (1 + draws[i * 3 + 2] % 400), 180), 0 };
    const int4 *from = run.upload(craters);
    const size_t n = (size_t) PLANET_MAP * PLANET_MAP;
    int *to = run.zeros<int>(n);
    run.measure(
        [=] {
            if (tiles)
                planet_craters_tiles_kernel<<<dim3(PLANET_MAP / 32, PLANET_MAP / 32),
                                              dim3(32, 8)>>>(from, to);
            else
                planet_craters_each_kernel<<<PLANET_CRATERS, dim3(16, 8)>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof(int))); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            for (int k = PLANET_CRATERS; k; k--)
                if (planet_hit(craters[k - 1], i % PLANET_MAP, i / PLANET_MAP))
                    return k;
            return 0;
        },
        0, 37);
}

static void planet_craters_each(Run &run)
{
    planet_craters(run, false);
}

static void planet_craters_tiles(Run &run)
{
    planet_craters(run, true);
}

#endif
