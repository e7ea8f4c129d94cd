// vineyards.cuh - vineyards: sun on slopes, tanks that ferment, blends of barrels, spores of
// mildew.
#ifndef BLIND_VINEYARDS_CUH
#define BLIND_VINEYARDS_CUH

#include "blind.cuh"

// ---- The sun that slopes get in a day: directions of the sun computed by each thread, or once per
// block, in a table in shared memory ----

enum { VINEYARD_WIDE = 640, VINEYARD_HIGH = 512, VINEYARD_SUNS = 32 };

// Where the sun is, in steps from sunrise to sunset at a latitude of 47 degrees.
template <class T> __host__ __device__ inline void vineyard_sun_at(int step, T &x, T &y, T &z)
{
    const T turn = (step + T(0.5)) * T(0.098) - T(1.57), tilt = T(0.3);
    const T s = sin(turn), c = cos(turn), st = sin(tilt), ct = cos(tilt);
    x = ct * s;
    y = T(0.7314) * ct * c - T(0.682) * st;
    z = T(0.682) * ct * c + T(0.7314) * st;
}

// The slope's normal, and its length.
template <class T>
__host__ __device__ inline void vineyard_normal(const float *heights, int i, T &x, T &y, T &scale)
{
    x = heights[i - 1] - heights[i + 1];
    y = heights[i - VINEYARD_WIDE] - heights[i + VINEYARD_WIDE];
    scale = 1 / sqrt(x * x + y * y + 1);
}

__host__ __device__ inline bool vineyard_inside(int i)
{
    const int x = i % VINEYARD_WIDE, y = i / VINEYARD_WIDE;
    return x > 0 && x < VINEYARD_WIDE - 1 && y > 0 && y < VINEYARD_HIGH - 1;
}

template <class T> __host__ __device__ inline T vineyard_day(const float *heights, int i)
{
    T nx, ny, scale, sum = 0;
    vineyard_normal<T>(heights, i, nx, ny, scale);
    for (int step = 0; step < VINEYARD_SUNS; step++) {
        T x, y, z;
        vineyard_sun_at<T>(step, x, y, z);
        const T shine = (nx * x + ny * y + z) * scale;
        sum += shine > 0 ? shine : 0;
    }
    return sum;
}

__global__ void vineyard_sun_computed_kernel(const float *heights, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = vineyard_inside(i) ? vineyard_day<float>(heights, i) : 0;
}

__global__ void vineyard_sun_table_kernel(const float *heights, float *out)
{
    __shared__ float suns[VINEYARD_SUNS][3];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < VINEYARD_SUNS) {
        float *sun = suns[threadIdx.x];
        vineyard_sun_at<float>(threadIdx.x, sun[0], sun[1], sun[2]);
    }
    __syncthreads();
    float nx, ny, scale, sum = 0;
    if (vineyard_inside(i)) {
        vineyard_normal<float>(heights, i, nx, ny, scale);
        for (int step = 0; step < VINEYARD_SUNS; step++) {
            const float *sun = suns[step];
            sum += fmaxf((nx * sun[0] + ny * sun[1] + sun[2]) * scale, 0);
        }
    }
    out[i] = sum;
}

static void vineyard_sun(Run &run, bool table)
{
    const int n = VINEYARD_WIDE * VINEYARD_HIGH;
    std::vector<float> heights = floats(n, 22640, 0, 0.3f);
    for (int i = 0; i < n; i++)
        heights[i] += 20 * sinf(0.02f * (i % VINEYARD_WIDE)) * cosf(0.03f * (i / VINEYARD_WIDE));
    const float *from = run.upload(heights);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (table)
            vineyard_sun_table_kernel<<<n / 256, 256>>>(from, to);
        else
            vineyard_sun_computed_kernel<<<n / 256, 256>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return vineyard_inside((int) i) ? vineyard_day<double>(heights.data(), (int) i) : 0;
        },
        1e-4, 11);
}

static void vineyard_sun_computed(Run &run)
{
    vineyard_sun(run, false);
}

static void vineyard_sun_table(Run &run)
{
    vineyard_sun(run, true);
}

// ---- Sugar and yeast in tanks that ferment: midpoint steps of fixed length, or steps that adapt
// to their error, of which warm tanks need more ----

enum { VINEYARD_TANKS = 8192, VINEYARD_DAYS = 14, VINEYARD_STEPS = 500 };

template <class T> struct VineyardMust {
    T sugar, yeast;

    __host__ __device__ VineyardMust plus(T time, VineyardMust rate) const
    {
        return { sugar + time * rate.sugar, yeast + time * rate.yeast };
    }

    // A tank: sugar and yeast at first, warmth, how much the alcohol slows the yeast.
    __host__ __device__ VineyardMust rate(float4 tank) const
    {
        const T eaten = sugar / (sugar + T(0.1)) * (1 - tank.w * (tank.x - sugar));
        return { -tank.z * yeast * eaten, yeast * (T(0.8) * tank.z * eaten - T(0.08)) };
    }

    __host__ __device__ VineyardMust midpoint(float4 tank, T time, VineyardMust first) const
    {
        return plus(time, plus(time / 2, first).rate(tank));
    }
};

template <class T> __host__ __device__ inline VineyardMust<T> vineyard_fixed(float4 tank, int steps)
{
    const T time = T(VINEYARD_DAYS) / steps;
    VineyardMust<T> must = { tank.x, tank.y };
    for (int k = 0; k < steps; k++)
        must = must.midpoint(tank, time, must.rate(tank));
    return must;
}

__global__ void vineyard_ferment_fixed_kernel(const float4 *tanks, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const VineyardMust<float> must = vineyard_fixed<float>(tanks[i], VINEYARD_STEPS);
    out[i] = { must.sugar, must.yeast };
}

__global__ void vineyard_ferment_adaptive_kernel(const float4 *tanks, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 tank = tanks[i];
    VineyardMust<float> must = { tank.x, tank.y };
    float now = 0, time = 0.05f;
    while (now < VINEYARD_DAYS) {
        time = fminf(time, VINEYARD_DAYS - now);
        const VineyardMust<float> first = must.rate(tank), euler = must.plus(time, first);
        const VineyardMust<float> next = must.midpoint(tank, time, first);
        const float error = fmaxf(fabsf(next.sugar - euler.sugar), fabsf(next.yeast - euler.yeast));
        if (error <= 2e-4f) {
            must = next;
            now += time;
        }
        time *= fminf(fmaxf(0.9f * sqrtf(2e-4f / (error + 1e-9f)), 0.3f), 2.0f);
    }
    out[i] = { must.sugar, must.yeast };
}

static void vineyard_ferment(Run &run, bool adaptive)
{
    const std::vector<float> draws = floats(VINEYARD_TANKS * 4, 22650, 0, 1);
    std::vector<float4> tanks(VINEYARD_TANKS);
    for (int i = 0; i < VINEYARD_TANKS; i++)
        tanks[i] = { 0.8f + 0.2f * draws[i * 4], 0.02f + 0.05f * draws[i * 4 + 1],
                     0.5f + 1.5f * draws[i * 4 + 2], 0.6f + 0.3f * draws[i * 4 + 3] };
    const float4 *from = run.upload(tanks);
    float2 *to = run.zeros<float2>(VINEYARD_TANKS);
    run.measure([=] {
        if (adaptive)
            vineyard_ferment_adaptive_kernel<<<VINEYARD_TANKS / 64, 64>>>(from, to);
        else
            vineyard_ferment_fixed_kernel<<<VINEYARD_TANKS / 64, 64>>>(from, to);
    });
    const std::vector<float2> got = run.output(to, VINEYARD_TANKS);
    for (int i = 0; i < VINEYARD_TANKS; i += 11) {
        const VineyardMust<double> wanted = vineyard_fixed<double>(tanks[i], 2000);
        run.expect(got[i].x, wanted.sugar, 3e-3);
        run.expect(got[i].y, wanted.yeast, 3e-3);
    }
}

static void vineyard_ferment_fixed(Run &run)
{
    vineyard_ferment(run, false);
}

static void vineyard_ferment_adaptive(Run &run)
{
    vineyard_ferment(run, true);
}

// ---- How many volumes below 4096 litres can be blended from whole barrels: sums as bits in shared
// memory, a block per cellar. Blocks take each 198th cellar, or draw tickets. A few cellars have
// hundreds of barrels ----

enum { VINEYARD_CELLARS = 1200, VINEYARD_BLENDERS = 198, VINEYARD_WORDS = 128 };

// The word of all sums after a barrel is added.
__device__ inline uint32_t vineyard_shifted(const uint32_t *sums, int word, int barrel)
{
    const int from = word - barrel / 32;
    const uint32_t high = from >= 0 ? sums[from] : 0, low = from > 0 ? sums[from - 1] : 0;
    return sums[word] | __funnelshift_l(low, high, barrel % 32);
}

// The output is zero before.
__device__ inline void vineyard_blend_of(const int *starts, const short *barrels, int cellar,
                                         int *out)
{
    __shared__ uint32_t sums[2][VINEYARD_WORDS];
    const int end = starts[cellar + 1];
    int now = 0;
    sums[0][threadIdx.x] = threadIdx.x == 0;
    for (int i = starts[cellar]; i < end; i++, now ^= 1) {
        __syncthreads();
        sums[now ^ 1][threadIdx.x] = vineyard_shifted(sums[now], threadIdx.x, barrels[i]);
    }
    const int count = __reduce_add_sync(~0u, __popc(sums[now][threadIdx.x]));
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out[cellar], count);
    __syncthreads();
}

__global__ void vineyard_blend_turns_kernel(const int *starts, const short *barrels, int *out,
                                            int *)
{
    for (int cellar = blockIdx.x; cellar < VINEYARD_CELLARS; cellar += gridDim.x)
        vineyard_blend_of(starts, barrels, cellar, out);
}

__global__ void vineyard_blend_tickets_kernel(const int *starts, const short *barrels, int *out,
                                              int *tickets)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(tickets, 1);
        __syncthreads();
        const int cellar = ticket;
        if (cellar >= VINEYARD_CELLARS)
            return;
        // It ends with a barrier: all threads have read the ticket before the next one.
        vineyard_blend_of(starts, barrels, cellar, out);
    }
}

static int vineyard_host_blend(const short *barrels, int count)
{
    std::vector<char> sums(VINEYARD_WORDS * 32, 0);
    sums[0] = 1;
    for (int i = 0; i < count; i++)
        for (int at = VINEYARD_WORDS * 32 - 1; at >= barrels[i]; at--)
            sums[at] |= sums[at - barrels[i]];
    return (int) std::count(sums.begin(), sums.end(), 1);
}

static void vineyard_blend(Run &run, bool by_tickets)
{
    const std::vector<int> draws = integers(VINEYARD_CELLARS, 1000, 22660);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < VINEYARD_CELLARS; i++)
        starts.push_back(starts[i] + (draws[i] < 25 ? 300 + draws[i] * 20 : 6 + draws[i] / 40));
    const int n = starts[VINEYARD_CELLARS];
    const std::vector<int> volumes = integers(n, 1200, 22661);
    std::vector<short> barrels(n);
    for (int i = 0; i < n; i++)
        barrels[i] = (short) (20 + volumes[i]);
    const int *ds = run.upload(starts);
    const short *db = run.upload(barrels);
    int *to = run.zeros<int>(VINEYARD_CELLARS), *tickets = run.zeros<int>(1);
    run.measure(
        [=] {
            if (by_tickets)
                vineyard_blend_tickets_kernel<<<VINEYARD_BLENDERS, VINEYARD_WORDS>>>(ds, db, to,
                                                                                     tickets);
            else
                vineyard_blend_turns_kernel<<<VINEYARD_BLENDERS, VINEYARD_WORDS>>>(ds, db, to,
                                                                                   tickets);
        },
        [=] {
            CHECK(cudaMemset(to, 0, VINEYARD_CELLARS * sizeof(int)));
            CHECK(cudaMemset(tickets, 0, sizeof(int)));
        });
    run.expect_all(
        run.output(to, VINEYARD_CELLARS),
        [&](size_t i) {
            return vineyard_host_blend(&barrels[starts[i]], starts[i + 1] - starts[i]);
        },
        0, 3);
}

static void vineyard_blend_turns(Run &run)
{
    vineyard_blend(run, false);
}

static void vineyard_blend_tickets(Run &run)
{
    vineyard_blend(run, true);
}

// ---- Spores of mildew that the wind takes to vines: each sick vine adds to 9 x 15 vines, or each
// vine sums over those from which spores come. Sick vines lie in a few round groups ----

enum { VINEYARD_VINES_X = 768, VINEYARD_VINES_Y = 512, VINEYARD_WIND_X = 15, VINEYARD_WIND_Y = 9 };

__constant__ int vineyard_wind[VINEYARD_WIND_Y][VINEYARD_WIND_X];

__host__ __device__ inline bool vineyard_planted(int x, int y)
{
    return x >= 0 && x < VINEYARD_VINES_X && y >= 0 && y < VINEYARD_VINES_Y;
}

__global__ void vineyard_mildew_scatter_kernel(const int *sick, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int spores = sick[y * VINEYARD_VINES_X + x];
    if (spores == 0)
        return;
    for (int dy = 0; dy < VINEYARD_WIND_Y; dy++)
        for (int dx = 0; dx < VINEYARD_WIND_X; dx++) {
            const int tx = x + dx - 2, ty = y + dy - VINEYARD_WIND_Y / 2;
            if (vineyard_planted(tx, ty))
                atomicAdd(&out[ty * VINEYARD_VINES_X + tx], spores * vineyard_wind[dy][dx]);
        }
}

__global__ void vineyard_mildew_gather_kernel(const int *sick, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int dy = 0; dy < VINEYARD_WIND_Y; dy++)
        for (int dx = 0; dx < VINEYARD_WIND_X; dx++) {
            const int fx = x - dx + 2, fy = y - dy + VINEYARD_WIND_Y / 2;
            if (vineyard_planted(fx, fy))
                sum += sick[fy * VINEYARD_VINES_X + fx] * vineyard_wind[dy][dx];
        }
    out[y * VINEYARD_VINES_X + x] = sum;
}

static std::vector<int> vineyard_sick()
{
    const int n = VINEYARD_VINES_X * VINEYARD_VINES_Y, groups = 9;
    const std::vector<int> draws = integers(n, 200, 22670),
                           places = integers(groups * 3, 768, 22671);
    std::vector<int> sick(n);
    for (int i = 0; i < n; i++)
        for (int g = 0; g < groups; g++) {
            const int dx = i % VINEYARD_VINES_X - places[g * 3];
            const int dy = i / VINEYARD_VINES_X - places[g * 3 + 1] * 2 / 3;
            const int radius = 20 + places[g * 3 + 2] / 20;
            if (dx * dx + dy * dy < radius * radius && draws[i] < 120)
                sick[i] = 1 + draws[i];
        }
    return sick;
}

static void vineyard_mildew(Run &run, bool gather)
{
    const int n = VINEYARD_VINES_X * VINEYARD_VINES_Y;
    const std::vector<int> sick = vineyard_sick();
    const std::vector<int> wind = integers(VINEYARD_WIND_X * VINEYARD_WIND_Y, 100, 22672);
    CHECK(cudaMemcpyToSymbol(vineyard_wind, wind.data(), sizeof vineyard_wind));
    const int *from = run.upload(sick);
    int *to = run.zeros<int>(n);
    run.measure(
        [=] {
            const dim3 blocks(VINEYARD_VINES_X / 32, VINEYARD_VINES_Y / 8), block(32, 8);
            if (gather)
                vineyard_mildew_gather_kernel<<<blocks, block>>>(from, to);
            else
                vineyard_mildew_scatter_kernel<<<blocks, block>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof(int))); });
    std::vector<int> wanted(n);
    for (int i = 0; i < n; i++)
        for (int k = 0; sick[i] && k < VINEYARD_WIND_X * VINEYARD_WIND_Y; k++) {
            const int x = i % VINEYARD_VINES_X + k % VINEYARD_WIND_X - 2;
            const int y = i / VINEYARD_VINES_X + k / VINEYARD_WIND_X - VINEYARD_WIND_Y / 2;
            if (vineyard_planted(x, y))
                wanted[y * VINEYARD_VINES_X + x] += sick[i] * wind[k];
        }
    run.expect_all(
        run.output(to, n), [&](size_t i) { return wanted[i]; }, 0);
}

static void vineyard_mildew_scatter(Run &run)
{
    vineyard_mildew(run, false);
}

static void vineyard_mildew_gather(Run &run)
{
    vineyard_mildew(run, true);
}

#endif
