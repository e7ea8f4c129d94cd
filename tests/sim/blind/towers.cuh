// towers.cuh - buildings in earthquakes: response spectra, modal sums, drifts of storeys, frames
// that yield.
#ifndef BLIND_TOWERS_CUH
#define BLIND_TOWERS_CUH

#include "blind.cuh"

// ---- Response spectrum: an oscillator per thread follows a record, in float or in double ----

enum { TOWER_OSCILLATORS = 12000, TOWER_SAMPLES = 1500 };

// The exact step of an oscillator whose base has a constant acceleration meanwhile: displacement
// and velocity depend on their old values (4 factors) and on the acceleration (2 factors).
template <class T>
__global__ void tower_spectrum_kernel(const T *factors, const T *record, T *peaks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = TOWER_OSCILLATORS;
    if (i >= n)
        return;
    const T uu = factors[i], uv = factors[n + i], vu = factors[2 * n + i];
    const T vv = factors[3 * n + i], ua = factors[4 * n + i], va = factors[5 * n + i];
    T u = 0, v = 0, peak = 0;
    for (int t = 0; t < TOWER_SAMPLES; t++) {
        const T a = record[t], next = uu * u + uv * v + ua * a;
        v = vu * u + vv * v + va * a;
        u = next;
        peak = peak > fabs(u) ? peak : fabs(u);
    }
    peaks[i] = peak;
}

// Periods from 0.1 s to 4 s, for 3 values of damping.
static std::vector<double> tower_factors()
{
    const int n = TOWER_OSCILLATORS;
    const double dt = 0.01;
    std::vector<double> f(6 * n);
    for (int i = 0; i < n; i++) {
        const double w = 6.2831853 / (0.1 + 3.9 * (i / 3) / (n / 3)), z = 0.02 * (1 + i % 3);
        const double wd = w * sqrt(1 - z * z), e = exp(-z * w * dt);
        const double c = e * cos(wd * dt), s = e * sin(wd * dt) / wd;
        f[i] = c + z * w * s;
        f[n + i] = s;
        f[2 * n + i] = -w * w * s;
        f[3 * n + i] = c - z * w * s;
        f[4 * n + i] = -(1 - f[i]) / (w * w);
        f[5 * n + i] = -s;
    }
    return f;
}

template <class T> static void tower_spectrum(Run &run)
{
    const int n = TOWER_OSCILLATORS;
    const std::vector<double> f = tower_factors();
    const std::vector<float> record = floats(TOWER_SAMPLES, 17500, -200, 200);
    const T *df = run.upload(std::vector<T>(f.begin(), f.end()));
    const T *dr = run.upload(std::vector<T>(record.begin(), record.end()));
    T *to = run.zeros<T>(n);
    run.measure([=] { tower_spectrum_kernel<T><<<blocks_for(n, 64), 64>>>(df, dr, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double u = 0, v = 0, peak = 0;
            for (int t = 0; t < TOWER_SAMPLES; t++) {
                const double a = record[t], next = f[i] * u + f[n + i] * v + f[4 * n + i] * a;
                v = f[2 * n + i] * u + f[3 * n + i] * v + f[5 * n + i] * a;
                u = next;
                peak = std::max(peak, fabs(u));
            }
            return peak;
        },
        1e-3, 61);
}

static void tower_spectrum_float(Run &run)
{
    tower_spectrum<float>(run);
}

static void tower_spectrum_double(Run &run)
{
    tower_spectrum<double>(run);
}

// ---- Displacements as sums of modes: a thread per floor and time, or per time ----

enum { TOWER_SUMS = 106, TOWER_FLOORS = 24, TOWER_MODES = 10, TOWER_TIMES = 2048 };

__global__ void tower_sum_floors_kernel(const float *shapes, const float *modes, float *out)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, floor = blockIdx.y, b = blockIdx.z;
    float sum = 0;
    for (int m = 0; m < TOWER_MODES; m++)
        sum += shapes[(b * TOWER_FLOORS + floor) * TOWER_MODES + m] *
               modes[(b * TOWER_MODES + m) * TOWER_TIMES + t];
    out[(b * TOWER_FLOORS + floor) * TOWER_TIMES + t] = sum;
}

__global__ void tower_sum_times_kernel(const float *shapes, const float *modes, float *out)
{
    __shared__ float mine[TOWER_FLOORS * TOWER_MODES];
    const int t = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.z;
    for (int i = threadIdx.x; i < TOWER_FLOORS * TOWER_MODES; i += blockDim.x)
        mine[i] = shapes[b * TOWER_FLOORS * TOWER_MODES + i];
    float now[TOWER_MODES];
    for (int m = 0; m < TOWER_MODES; m++)
        now[m] = modes[(b * TOWER_MODES + m) * TOWER_TIMES + t];
    __syncthreads();
    for (int floor = 0; floor < TOWER_FLOORS; floor++) {
        float sum = 0;
        for (int m = 0; m < TOWER_MODES; m++)
            sum += mine[floor * TOWER_MODES + m] * now[m];
        out[(b * TOWER_FLOORS + floor) * TOWER_TIMES + t] = sum;
    }
}

static void tower_sum(Run &run, void (*kernel)(const float *, const float *, float *), int rows)
{
    const std::vector<float> shapes = floats(TOWER_SUMS * TOWER_FLOORS * TOWER_MODES, 17501);
    const std::vector<float> modes = floats(TOWER_SUMS * TOWER_MODES * TOWER_TIMES, 17502);
    const float *ds = run.upload(shapes), *dm = run.upload(modes);
    const size_t n = (size_t) TOWER_SUMS * TOWER_FLOORS * TOWER_TIMES;
    float *to = run.zeros<float>(n);
    const dim3 grid(TOWER_TIMES / 256, rows, TOWER_SUMS);
    run.measure([=] { kernel<<<grid, 256>>>(ds, dm, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const size_t row = i / TOWER_TIMES, b = row / TOWER_FLOORS;
            double sum = 0;
            for (int m = 0; m < TOWER_MODES; m++)
                sum += (double) shapes[row * TOWER_MODES + m] *
                       modes[(b * TOWER_MODES + m) * TOWER_TIMES + i % TOWER_TIMES];
            return sum;
        },
        1e-5, 1009);
}

static void tower_sum_floors(Run &run)
{
    tower_sum(run, tower_sum_floors_kernel, TOWER_FLOORS);
}

static void tower_sum_times(Run &run)
{
    tower_sum(run, tower_sum_times_kernel, 1);
}

// ---- The largest drift of each storey: a thread per storey, or a block per building ----

enum { TOWER_DRIFTS = 260, TOWER_HISTORY = 2048 };

// `floors`: per storey, the row of the floor below it. The row of the floor above follows.
__global__ void tower_drift_storeys_kernel(const float *moves, const int *floors, int storeys,
                                           float *peaks)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= storeys)
        return;
    const float *below = moves + (size_t) floors[s] * TOWER_HISTORY, *above = below + TOWER_HISTORY;
    float peak = 0;
    for (int t = 0; t < TOWER_HISTORY; t++)
        peak = fmaxf(peak, fabsf(above[t] - below[t]));
    peaks[s] = peak;
}

// A building's storeys are those from first[b] to first[b + 1]; its warps take them in turn.
__global__ void tower_drift_building_kernel(const float *moves, const int *floors, const int *first,
                                            float *peaks)
{
    const int lane = threadIdx.x % 32, end = first[blockIdx.x + 1];
    for (int s = first[blockIdx.x] + threadIdx.x / 32; s < end; s += blockDim.x / 32) {
        const float *below = moves + (size_t) floors[s] * TOWER_HISTORY;
        float peak = 0;
        for (int t = lane; t < TOWER_HISTORY; t += 32)
            peak = fmaxf(peak, fabsf(below[t + TOWER_HISTORY] - below[t]));
        for (int d = 16; d; d /= 2)
            peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, d));
        if (lane == 0)
            peaks[s] = peak;
    }
}

// The tallest building is the first.
static void tower_drift(Run &run, bool by_building)
{
    std::vector<int> heights = integers(TOWER_DRIFTS, 44, 17503), floors, first;
    std::sort(heights.begin(), heights.end(), std::greater<int>());
    int rows = 0;
    for (int height : heights) {
        first.push_back((int) floors.size());
        for (int k = 0; k < height + 4; k++)
            floors.push_back(rows++);
        rows++;
    }
    first.push_back((int) floors.size());
    const int storeys = (int) floors.size();
    const std::vector<float> moves = floats((size_t) rows * TOWER_HISTORY, 17504, -9, 9);
    const float *dm = run.upload(moves);
    const int *df = run.upload(floors), *ds = run.upload(first);
    float *to = run.zeros<float>(storeys);
    run.measure([=] {
        if (by_building)
            tower_drift_building_kernel<<<TOWER_DRIFTS, 256>>>(dm, df, ds, to);
        else
            tower_drift_storeys_kernel<<<blocks_for(storeys, 64), 64>>>(dm, df, storeys, to);
    });
    run.expect_all(
        run.output(to, storeys),
        [&](size_t s) {
            const float *below = &moves[(size_t) floors[s] * TOWER_HISTORY];
            float peak = 0;
            for (int t = 0; t < TOWER_HISTORY; t++)
                peak = std::max(peak, fabsf(below[t + TOWER_HISTORY] - below[t]));
            return peak;
        },
        1e-6, 37);
}

static void tower_drift_storeys(Run &run)
{
    tower_drift(run, false);
}

static void tower_drift_building(Run &run)
{
    tower_drift(run, true);
}

// ---- Frames whose storeys yield: a thread per frame with local arrays, or a lane per storey ----

enum { TOWER_FRAMES = 2048, TOWER_STOREYS = 16, TOWER_STEPS = 160 };

constexpr float tower_dt = 0.005f;

// The force of a storey per mass: elastic up to `yield`, then it slips.
__host__ __device__ inline float tower_force(float drift, float stiffness, float yield, float *slip)
{
    const float force = stiffness * (drift - *slip);
    const float held = fminf(fmaxf(force, -yield), yield);
    *slip += (force - held) / stiffness;
    return held;
}

__host__ __device__ inline float tower_frame(int n, const float *stiffness, float yield,
                                             const float *record)
{
    float u[TOWER_STOREYS], v[TOWER_STOREYS], slip[TOWER_STOREYS], peak = 0;
    for (int k = 0; k < n; k++)
        u[k] = v[k] = slip[k] = 0;
    for (int t = 0; t < TOWER_STEPS; t++) {
        float above = 0;
        for (int k = n - 1; k >= 0; k--) {
            const float drift = u[k] - (k ? u[k - 1] : 0);
            const float force = tower_force(drift, stiffness[k], yield * (n - k), &slip[k]);
            v[k] += tower_dt * (above - force - 0.4f * v[k] - record[t]);
            above = force;
            peak = fmaxf(peak, fabsf(drift));
        }
        for (int k = 0; k < n; k++)
            u[k] += tower_dt * v[k];
    }
    return peak;
}

__global__ void tower_frame_thread_kernel(const int *heights, const float *stiffness,
                                          const float *yields, const float *record, float *peaks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    peaks[i] = tower_frame(heights[i], stiffness + i * TOWER_STOREYS, yields[i], record);
}

// 16 lanes per frame.
__global__ void tower_frame_lanes_kernel(const int *heights, const float *stiffness,
                                         const float *yields, const float *record, float *peaks)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / 16, k = at % 16;
    const int n = heights[i];
    const float mine = stiffness[at], yield = yields[i] * (n - k);
    float u = 0, v = 0, slip = 0, peak = 0;
    for (int t = 0; t < TOWER_STEPS; t++) {
        const float below = __shfl_up_sync(~0u, u, 1, 16), drift = u - (k ? below : 0);
        const float force = k < n ? tower_force(drift, mine, yield, &slip) : 0;
        const float above = __shfl_down_sync(~0u, force, 1, 16);
        v += tower_dt * ((k + 1 < n ? above : 0) - force - 0.4f * v - record[t]);
        u += tower_dt * v;
        peak = k < n ? fmaxf(peak, fabsf(drift)) : peak;
    }
    for (int d = 8; d; d /= 2)
        peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, d));
    if (k == 0)
        peaks[i] = peak;
}

// Low frames are first.
static void tower_frames(Run &run, bool lanes)
{
    std::vector<int> heights = integers(TOWER_FRAMES, TOWER_STOREYS - 2, 17505);
    std::sort(heights.begin(), heights.end());
    for (int &height : heights)
        height += 3;
    const std::vector<float> stiffness = floats(TOWER_FRAMES * TOWER_STOREYS, 17506, 1500, 4000);
    const std::vector<float> yields = floats(TOWER_FRAMES, 17507, 100, 400);
    const std::vector<float> record = floats(TOWER_STEPS, 17508, -900, 900);
    const int *dh = run.upload(heights);
    const float *ds = run.upload(stiffness), *dy = run.upload(yields), *dr = run.upload(record);
    float *to = run.zeros<float>(TOWER_FRAMES);
    run.measure([=] {
        if (lanes)
            tower_frame_lanes_kernel<<<TOWER_FRAMES / 8, 128>>>(dh, ds, dy, dr, to);
        else
            tower_frame_thread_kernel<<<TOWER_FRAMES / 32, 32>>>(dh, ds, dy, dr, to);
    });
    run.expect_all(
        run.output(to, TOWER_FRAMES),
        [&](size_t i) {
            return tower_frame(heights[i], &stiffness[i * TOWER_STOREYS], yields[i], record.data());
        },
        1e-3, 13);
}

static void tower_frame_thread(Run &run)
{
    tower_frames(run, false);
}

static void tower_frame_lanes(Run &run)
{
    tower_frames(run, true);
}

#endif
