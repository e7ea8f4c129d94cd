// climate.cuh - weather and climate: radiation in columns, limited advection, reaction and
// diffusion, spherical harmonics, daily extremes.
#ifndef BLIND_CLIMATE_CUH
#define BLIND_CLIMATE_CUH

#include "blind.cuh"

#include <cstring>

// ---- Radiation down and up 40 levels: columns side by side, or each column in one piece ----

enum { SKY_LEVELS = 40, SKY_COLUMNS = 60000 };

// Level k of the column is at [k * stride].
__host__ __device__ inline void radiate(const float *depth, const float *warmth, float *heating,
                                        int stride)
{
    float down = 0, up, passes[SKY_LEVELS];
    for (int k = 0; k < SKY_LEVELS; k++) {
        passes[k] = expf(-1.66f * depth[k * stride]);
        const float source = (1 - passes[k]) * warmth[k * stride];
        heating[k * stride] = down * (1 - passes[k]) - source;
        down = down * passes[k] + source;
    }
    up = 0.1f * down + warmth[(SKY_LEVELS - 1) * stride];
    for (int k = SKY_LEVELS - 1; k >= 0; k--) {
        const float source = (1 - passes[k]) * warmth[k * stride];
        heating[k * stride] += up * (1 - passes[k]) - source;
        up = up * passes[k] + source;
    }
}

__global__ void radiation_kernel(const float *depth, const float *warmth, float *heating, int step,
                                 int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SKY_COLUMNS)
        radiate(depth + i * step, warmth + i * step, heating + i * step, stride);
}

static void radiation(Run &run, int step, int stride)
{
    const int n = SKY_LEVELS * SKY_COLUMNS;
    const std::vector<float> depth = floats(n, 3031, 0, 0.5f), warmth = floats(n, 3032, 1, 2);
    float *dd = run.upload(depth), *dw = run.upload(warmth), *to = run.zeros<float>(n);
    run.measure(
        [=] { radiation_kernel<<<blocks_for(SKY_COLUMNS, 128), 128>>>(dd, dw, to, step, stride); });
    const std::vector<float> got = run.output(to, n);
    std::vector<float> wanted(n);
    for (int i = 0; i < SKY_COLUMNS; i += 11) {
        const int at = i * step;
        radiate(&depth[at], &warmth[at], &wanted[at], stride);
        for (int k = 0; k < SKY_LEVELS; k += 13)
            run.expect(got[at + k * stride], wanted[at + k * stride], 1e-4);
    }
}

static void radiation_levels(Run &run)
{
    radiation(run, 1, SKY_COLUMNS);
}

static void radiation_columns(Run &run)
{
    radiation(run, SKY_LEVELS, 1);
}

// ---- Advection along rows with van Leer's limiter: two fluxes per cell, or one per face ----

enum { DRIFT_WIDTH = 1536, DRIFT_HEIGHT = 900, DRIFT_BLOCK = 256 };

// The flux into the cell of `c` from that of `b`; wind from the left or from the right.
__host__ __device__ inline float limited_flux(float a, float b, float c, float d, float wind)
{
    const float jump = c - b, before = wind > 0 ? b - a : d - c;
    const float ratio = jump != 0 ? before / jump : 0;
    const float limit = (ratio + fabsf(ratio)) / (1 + fabsf(ratio));
    const float half = 0.5f * fabsf(wind) * (1 - fabsf(wind)) * limit * jump;
    return wind * (wind > 0 ? b : c) + half;
}

__host__ __device__ inline float face_flux(const float *row, const float *wind, int x)
{
    const int w = DRIFT_WIDTH;
    return limited_flux(row[(x + w - 2) % w], row[(x + w - 1) % w], row[x % w], row[(x + 1) % w],
                        wind[x % w]);
}

__global__ void drift_cells_kernel(const float *in, const float *wind, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * DRIFT_WIDTH;
    out[row + x] =
        in[row + x] + face_flux(in + row, wind + row, x) - face_flux(in + row, wind + row, x + 1);
}

__global__ void drift_faces_kernel(const float *in, const float *wind, float *out)
{
    __shared__ float flux[DRIFT_BLOCK + 1];
    const int t = threadIdx.x, x = blockIdx.x * DRIFT_BLOCK + t, row = blockIdx.y * DRIFT_WIDTH;
    flux[t] = face_flux(in + row, wind + row, x);
    if (t == 0)
        flux[DRIFT_BLOCK] = face_flux(in + row, wind + row, x + DRIFT_BLOCK);
    __syncthreads(); // the fluxes are complete
    out[row + x] = in[row + x] + flux[t] - flux[t + 1];
}

static void drift(Run &run, void (*kernel)(const float *, const float *, float *))
{
    const int n = DRIFT_WIDTH * DRIFT_HEIGHT;
    const std::vector<float> in = floats(n, 3033, 0, 1), wind = floats(n, 3034, -0.5f, 0.5f);
    float *di = run.upload(in), *dw = run.upload(wind), *to = run.zeros<float>(n);
    const dim3 grid(DRIFT_WIDTH / DRIFT_BLOCK, DRIFT_HEIGHT);
    run.measure([=] { kernel<<<grid, DRIFT_BLOCK>>>(di, dw, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int x = i % DRIFT_WIDTH, row = i - x;
            return in[i] + face_flux(&in[row], &wind[row], x) -
                   face_flux(&in[row], &wind[row], x + 1);
        },
        1e-4, 11);
}

static void drift_cells(Run &run)
{
    drift(run, drift_cells_kernel);
}

static void drift_faces(Run &run)
{
    drift(run, drift_faces_kernel);
}

// ---- Gray and Scott's spots, 4 steps: two substances as pairs or as planes ----

enum { SPOTS_WIDTH = 960, SPOTS_HEIGHT = 800, SPOTS_STEPS = 4 };

struct SpotPairs {
    float2 *at;

    __host__ __device__ float2 get(int i) const
    {
        return at[i];
    }

    __host__ __device__ void set(int i, float2 v) const
    {
        at[i] = v;
    }
};

struct SpotPlanes {
    float *at;

    __host__ __device__ float2 get(int i) const
    {
        return make_float2(at[i], at[SPOTS_WIDTH * SPOTS_HEIGHT + i]);
    }

    __host__ __device__ void set(int i, float2 v) const
    {
        at[i] = v.x;
        at[SPOTS_WIDTH * SPOTS_HEIGHT + i] = v.y;
    }
};

template <class Field> __host__ __device__ inline void spot_step(Field in, Field out, int x, int y)
{
    const int left = (x + SPOTS_WIDTH - 1) % SPOTS_WIDTH, right = (x + 1) % SPOTS_WIDTH;
    const int above = (y + SPOTS_HEIGHT - 1) % SPOTS_HEIGHT, below = (y + 1) % SPOTS_HEIGHT;
    const float2 c = in.get(y * SPOTS_WIDTH + x), l = in.get(y * SPOTS_WIDTH + left);
    const float2 r = in.get(y * SPOTS_WIDTH + right), a = in.get(above * SPOTS_WIDTH + x);
    const float2 b = in.get(below * SPOTS_WIDTH + x);
    const float reacts = c.x * c.y * c.y;
    const float u = 0.16f * (l.x + r.x + a.x + b.x - 4 * c.x) - reacts + 0.035f * (1 - c.x);
    const float v = 0.08f * (l.y + r.y + a.y + b.y - 4 * c.y) + reacts - 0.1f * c.y;
    out.set(y * SPOTS_WIDTH + x, make_float2(c.x + u, c.y + v));
}

template <class Field> __global__ void spots_kernel(Field in, Field out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    spot_step(in, out, x, y);
}

template <class Field> static void spots_on_host(Field a, Field b)
{
    for (int step = 0; step < SPOTS_STEPS; step++, std::swap(a, b))
        for (int y = 0; y < SPOTS_HEIGHT; y++)
            for (int x = 0; x < SPOTS_WIDTH; x++)
                spot_step(a, b, x, y);
}

template <class Field, class T> static void spots(Run &run, int count)
{
    const std::vector<float> start = floats(2 * SPOTS_WIDTH * SPOTS_HEIGHT, 3035, 0, 1);
    std::vector<T> a(count), b(count);
    memcpy((void *) a.data(), start.data(), start.size() * sizeof(float));
    T *first = run.upload(a), *second = run.zeros<T>(count);
    const T *from = run.upload(a);
    const dim3 grid(SPOTS_WIDTH / 32, SPOTS_HEIGHT / 8);
    run.measure(
        [=] {
            Field in{ first }, out{ second };
            for (int step = 0; step < SPOTS_STEPS; step++, std::swap(in, out))
                spots_kernel<<<grid, dim3(32, 8)>>>(in, out);
        },
        [=] { CHECK(cudaMemcpy(first, from, count * sizeof(T), cudaMemcpyDeviceToDevice)); });
    spots_on_host(Field{ a.data() }, Field{ b.data() });
    const std::vector<float> got = run.output((float *) first, start.size());
    run.expect_all(
        got, [&](size_t i) { return ((float *) a.data())[i]; }, 1e-4, 7);
}

static void spots_pairs(Run &run)
{
    spots<SpotPairs, float2>(run, SPOTS_WIDTH * SPOTS_HEIGHT);
}

static void spots_planes(Run &run)
{
    spots<SpotPlanes, float>(run, 2 * SPOTS_WIDTH * SPOTS_HEIGHT);
}

// ---- Sums of associated Legendre functions: a thread per latitude and order, in double ----

enum { LEGENDRE_TOP = 127, LEGENDRE_ROWS = 384, LEGENDRE_PITCH = LEGENDRE_TOP + 2 };

__host__ __device__ inline double legendre_sum(const double *weight, const double *scale,
                                               const double *first, int order, double x)
{
    double before = 0, now = first[order] * pow(1 - x * x, 0.5 * order), sum = 0;
    for (int n = order; n <= LEGENDRE_TOP; n++) {
        sum += weight[order * LEGENDRE_PITCH + n] * now;
        const double lower = scale[order * LEGENDRE_PITCH + n];
        const double next = (x * now - lower * before) / scale[order * LEGENDRE_PITCH + n + 1];
        before = now;
        now = next;
    }
    return sum;
}

__global__ void legendre_kernel(const double *weight, const double *scale, const double *first,
                                double *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, order = blockIdx.y;
    const double x = (row + 0.5) / LEGENDRE_ROWS * 1.98 - 0.99;
    out[order * LEGENDRE_ROWS + row] = legendre_sum(weight, scale, first, order, x);
}

static void legendre_sums(Run &run)
{
    const int orders = LEGENDRE_TOP + 1, size = orders * LEGENDRE_PITCH;
    const std::vector<float> drawn = floats(size, 3036);
    const std::vector<double> weight(drawn.begin(), drawn.end());
    std::vector<double> scale(size, 1), first(orders, 1);
    for (int m = 0; m < orders; m++) {
        first[m] = m ? first[m - 1] * sqrt((2.0 * m + 1) / (2.0 * m)) : 1;
        for (int n = m; n < LEGENDRE_PITCH; n++)
            scale[m * LEGENDRE_PITCH + n] =
                sqrt(((double) n * n - (double) m * m) / (4.0 * n * n - 1));
    }
    double *dw = run.upload(weight), *ds = run.upload(scale), *df = run.upload(first);
    double *to = run.zeros<double>(orders * LEGENDRE_ROWS);
    run.measure([=] { legendre_kernel<<<dim3(LEGENDRE_ROWS / 64, orders), 64>>>(dw, ds, df, to); });
    run.expect_all(
        run.output(to, orders * LEGENDRE_ROWS),
        [&](int i) {
            const double x = (i % LEGENDRE_ROWS + 0.5) / LEGENDRE_ROWS * 1.98 - 0.99;
            return legendre_sum(weight.data(), scale.data(), first.data(), i / LEGENDRE_ROWS, x);
        },
        1e-6, 7);
}

// ---- Least, largest and heating degrees of each day, from hourly values of stations ----

enum { STATIONS = 3000, STATION_DAYS = 180 };

__host__ __device__ inline float4 day_extremes(const float *hours)
{
    float least = 1e9f, most = -1e9f, heating = 0, sum = 0;
    for (int h = 0; h < 24; h++) {
        const float v = hours[h * STATIONS];
        least = fminf(least, v);
        most = fmaxf(most, v);
        heating += v < 15 ? 15 - v : 0;
        sum += v;
    }
    return make_float4(least, most, heating / 24, sum / 24);
}

__global__ void daily_kernel(const float *hours, float4 *days)
{
    const int station = blockIdx.x * blockDim.x + threadIdx.x, day = blockIdx.y;
    if (station < STATIONS)
        days[day * STATIONS + station] = day_extremes(hours + day * 24 * STATIONS + station);
}

static void daily_extremes(Run &run)
{
    const int n = STATIONS * STATION_DAYS;
    const std::vector<float> hours = floats(24 * n, 3037, -10, 35);
    float *from = run.upload(hours);
    float4 *to = run.zeros<float4>(n);
    run.measure(
        [=] { daily_kernel<<<dim3(blocks_for(STATIONS, 64), STATION_DAYS), 64>>>(from, to); });
    const std::vector<float4> got = run.output(to, n);
    for (int i = 0; i < n; i += 31) {
        const float4 wanted = day_extremes(&hours[i / STATIONS * 24 * STATIONS + i % STATIONS]);
        run.expect(got[i].x, wanted.x, 1e-5);
        run.expect(got[i].y, wanted.y, 1e-5);
        run.expect(got[i].z, wanted.z, 1e-4);
        run.expect(got[i].w, wanted.w, 1e-4);
    }
}

#endif
