// sensors.cuh - many short time series of sensors: filters, running medians, alarms, smoothing.
#ifndef BLIND_SENSORS_CUH
#define BLIND_SENSORS_CUH

#include "blind.cuh"

// ---- Two filters in a row, one thread per sensor: samples stored by sensor, or by time ----

enum { FILTER_SENSORS = 60000, FILTER_SAMPLES = 96 };

// The output depends on the last two inputs and outputs.
struct SensorFilter {
    float b0, b1, b2, a1, a2;
};

struct SensorFilters {
    SensorFilter first, second;
};

template <class Real> struct FilterState {
    Real s1, s2;
};

template <class Real>
__host__ __device__ inline Real sensor_filter_step(const SensorFilter &f, FilterState<Real> *s,
                                                   Real x)
{
    const Real y = f.b0 * x + s->s1;
    s->s1 = f.b1 * x - f.a1 * y + s->s2;
    s->s2 = f.b2 * x - f.a2 * y;
    return y;
}

// `next_sensor` and `next_time` are the distances between samples.
__global__ void sensor_filter_kernel(const float *in, SensorFilters filters, int next_sensor,
                                     int next_time, float *out)
{
    const int sensor = blockIdx.x * blockDim.x + threadIdx.x;
    if (sensor >= FILTER_SENSORS)
        return;
    FilterState<float> s1 = {}, s2 = {};
    for (int t = 0; t < FILTER_SAMPLES; t++) {
        const int at = sensor * next_sensor + t * next_time;
        const float middle = sensor_filter_step(filters.first, &s1, in[at]);
        out[at] = sensor_filter_step(filters.second, &s2, middle);
    }
}

static void sensor_filter(Run &run, int next_sensor, int next_time)
{
    const SensorFilters filters = { { 0.0675f, 0.1349f, 0.0675f, -1.143f, 0.4128f },
                                    { 0.8f, -1.6f, 0.8f, -1.56f, 0.64f } };
    const std::vector<float> in = floats(FILTER_SENSORS * FILTER_SAMPLES, 16000);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(in.size());
    run.measure([=] {
        sensor_filter_kernel<<<blocks_for(FILTER_SENSORS, 128), 128>>>(from, filters, next_sensor,
                                                                       next_time, to);
    });
    const std::vector<float> got = run.output(to, in.size());
    for (int sensor = 0; sensor < FILTER_SENSORS; sensor += 331) {
        FilterState<double> s1 = {}, s2 = {};
        for (int t = 0; t < FILTER_SAMPLES; t++) {
            const int at = sensor * next_sensor + t * next_time;
            const double middle = sensor_filter_step<double>(filters.first, &s1, in[at]);
            run.expect(got[at], sensor_filter_step<double>(filters.second, &s2, middle), 1e-3);
        }
    }
}

static void sensor_filter_rows(Run &run)
{
    sensor_filter(run, FILTER_SAMPLES, 1);
}

static void sensor_filter_columns(Run &run)
{
    sensor_filter(run, 1, FILTER_SENSORS);
}

// ---- Running medians of 11 samples: chosen anew per sample, or a sorted window per sensor ----

enum { MEDIAN_SENSORS = 1 << 15, MEDIAN_SAMPLES = 40, MEDIAN_WINDOW = 11 };

__device__ inline void sensor_exchange(float &low, float &high)
{
    const float least = fminf(low, high);
    high = fmaxf(low, high);
    low = least;
}

// Moves the least of `count` values to the front and the greatest to the end.
template <int count> __device__ inline void sensor_extremes(float *v)
{
#pragma unroll
    for (int k = 0; k < count / 2; k++)
        sensor_exchange(v[k], v[count - 1 - k]);
#pragma unroll
    for (int k = 1; k < (count + 1) / 2; k++)
        sensor_exchange(v[0], v[k]);
#pragma unroll
    for (int k = count / 2; k < count - 1; k++)
        sensor_exchange(v[k], v[count - 1]);
}

// Sample t of a sensor is at t * MEDIAN_SENSORS. Samples before the first repeat it.
__device__ inline float sensor_sample(const float *in, int sensor, int t)
{
    return in[max(t, 0) * MEDIAN_SENSORS + sensor];
}

// Of 7 values, the extremes cannot be the median: they are replaced by the next sample.
__global__ void sensor_median_chosen_kernel(const float *in, float *out)
{
    const int sensor = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
    float v[7];
#pragma unroll
    for (int k = 0; k < 7; k++)
        v[k] = sensor_sample(in, sensor, t - k);
    sensor_extremes<7>(v);
    v[0] = sensor_sample(in, sensor, t - 7);
    sensor_extremes<6>(v);
    v[0] = sensor_sample(in, sensor, t - 8);
    sensor_extremes<5>(v);
    v[0] = sensor_sample(in, sensor, t - 9);
    sensor_extremes<4>(v);
    v[0] = sensor_sample(in, sensor, t - 10);
    sensor_extremes<3>(v);
    out[t * MEDIAN_SENSORS + sensor] = v[1];
}

// Each sample replaces the oldest one in a sorted list.
__global__ void sensor_median_window_kernel(const float *in, float *out)
{
    const int sensor = blockIdx.x * blockDim.x + threadIdx.x;
    float sorted[MEDIAN_WINDOW];
    for (int k = 0; k < MEDIAN_WINDOW; k++)
        sorted[k] = in[sensor];
    for (int t = 0; t < MEDIAN_SAMPLES; t++) {
        const float value = sensor_sample(in, sensor, t);
        const float old = sensor_sample(in, sensor, t - MEDIAN_WINDOW);
        int at = 0;
        while (sorted[at] != old)
            at++;
        for (; at > 0 && sorted[at - 1] > value; at--)
            sorted[at] = sorted[at - 1];
        for (; at < MEDIAN_WINDOW - 1 && sorted[at + 1] < value; at++)
            sorted[at] = sorted[at + 1];
        sorted[at] = value;
        out[t * MEDIAN_SENSORS + sensor] = sorted[MEDIAN_WINDOW / 2];
    }
}

static void sensor_median(Run &run, bool window)
{
    const std::vector<float> in = floats(MEDIAN_SENSORS * MEDIAN_SAMPLES, 16001, 10, 30);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(in.size());
    run.measure([=] {
        if (window)
            sensor_median_window_kernel<<<MEDIAN_SENSORS / 64, 64>>>(from, to);
        else
            sensor_median_chosen_kernel<<<dim3(MEDIAN_SENSORS / 256, MEDIAN_SAMPLES), 256>>>(from,
                                                                                             to);
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const int t = (int) (i / MEDIAN_SENSORS), sensor = (int) (i % MEDIAN_SENSORS);
            std::vector<float> v;
            for (int k = 0; k < MEDIAN_WINDOW; k++)
                v.push_back(in[std::max(t - k, 0) * MEDIAN_SENSORS + sensor]);
            std::sort(v.begin(), v.end());
            return v[MEDIAN_WINDOW / 2];
        },
        0, 211);
}

static void sensor_median_chosen(Run &run)
{
    sensor_median(run, false);
}

static void sensor_median_window(Run &run)
{
    sensor_median(run, true);
}

// ---- Alarms: how often a series rises above its limit; the longest series come first ----

enum { ALARM_SENSORS = 24000 };

__global__ void sensor_alarms_thread_kernel(const float *in, const int *starts, const float *limits,
                                            int *out)
{
    const int sensor = blockIdx.x * blockDim.x + threadIdx.x;
    if (sensor >= ALARM_SENSORS)
        return;
    const float limit = limits[sensor];
    bool above = false;
    int count = 0;
    for (int i = starts[sensor]; i < starts[sensor + 1]; i++) {
        const bool now = in[i] > limit;
        count += now && !above;
        above = now;
    }
    out[sensor] = count;
}

// Bit k of `above` is that of sample k; the sample before has bit k - 1.
__global__ void sensor_alarms_warp_kernel(const float *in, const int *starts, const float *limits,
                                          int *out)
{
    const int sensor = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float limit = limits[sensor];
    const int end = starts[sensor + 1];
    uint32_t last = 0;
    int count = 0;
    for (int i = starts[sensor]; i < end; i += 32) {
        const uint32_t above = __ballot_sync(~0u, i + lane < end && in[i + lane] > limit);
        count += __popc(above & ~(above << 1 | last));
        last = above >> 31;
    }
    if (lane == 0)
        out[sensor] = count;
}

static std::vector<int> sensor_alarm_starts()
{
    std::vector<int> lengths = integers(ALARM_SENSORS, 560, 16002), starts(1, 0);
    std::sort(lengths.rbegin(), lengths.rend());
    for (int length : lengths)
        starts.push_back(starts.back() + 40 + length);
    return starts;
}

static void sensor_alarms(Run &run,
                          void (*kernel)(const float *, const int *, const float *, int *),
                          int threads)
{
    const std::vector<int> starts = sensor_alarm_starts();
    const std::vector<float> in = floats(starts.back(), 16003);
    const std::vector<float> limits = floats(ALARM_SENSORS, 16004, 0.2f, 0.95f);
    const float *from = run.upload(in), *dl = run.upload(limits);
    const int *ds = run.upload(starts);
    int *to = run.zeros<int>(ALARM_SENSORS);
    run.measure([=] {
        kernel<<<blocks_for((size_t) ALARM_SENSORS * threads, 256), 256>>>(from, ds, dl, to);
    });
    run.expect_all(
        run.output(to, ALARM_SENSORS),
        [&](size_t s) {
            int count = 0;
            for (int i = starts[s]; i < starts[s + 1]; i++)
                count += in[i] > limits[s] && (i == starts[s] || in[i - 1] <= limits[s]);
            return count;
        },
        0, 7);
}

static void sensor_alarms_thread(Run &run)
{
    sensor_alarms(run, sensor_alarms_thread_kernel, 1);
}

static void sensor_alarms_warp(Run &run)
{
    sensor_alarms(run, sensor_alarms_warp_kernel, 32);
}

// ---- Exponential smoothing: one thread per sensor in time order, or a scan by each warp ----

enum { SMOOTH_SENSORS = 4096, SMOOTH_SAMPLES = 1024 };

// Stored by time.
__global__ void sensor_smooth_chain_kernel(const float *in, const float *weights, float *out)
{
    const int sensor = blockIdx.x * blockDim.x + threadIdx.x;
    const float weight = weights[sensor];
    float level = in[sensor];
    for (int t = 0; t < SMOOTH_SAMPLES; t++) {
        level += weight * (in[t * SMOOTH_SENSORS + sensor] - level);
        out[t * SMOOTH_SENSORS + sensor] = level;
    }
}

// Stored by sensor. A lane's level is factor * (level before the warp's samples) + sum.
__global__ void sensor_smooth_scan_kernel(const float *in, const float *weights, float *out)
{
    const int sensor = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float weight = weights[sensor];
    const float *row = in + (size_t) sensor * SMOOTH_SAMPLES;
    float level = row[0];
    for (int t = lane; t < SMOOTH_SAMPLES; t += 32) {
        float factor = 1 - weight, sum = weight * row[t];
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const float before = __shfl_up_sync(~0u, factor, d);
            const float earlier = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) {
                sum += factor * earlier;
                factor *= before;
            }
        }
        sum += factor * level;
        out[(size_t) sensor * SMOOTH_SAMPLES + t] = sum;
        level = __shfl_sync(~0u, sum, 31);
    }
}

static void sensor_smooth(Run &run, bool scan)
{
    const std::vector<float> in = floats((size_t) SMOOTH_SENSORS * SMOOTH_SAMPLES, 16005, 0, 50);
    const std::vector<float> weights = floats(SMOOTH_SENSORS, 16006, 0.05f, 0.5f);
    const float *from = run.upload(in), *dw = run.upload(weights);
    float *to = run.zeros<float>(in.size());
    run.measure([=] {
        if (scan)
            sensor_smooth_scan_kernel<<<SMOOTH_SENSORS / 8, 256>>>(from, dw, to);
        else
            sensor_smooth_chain_kernel<<<SMOOTH_SENSORS / 32, 32>>>(from, dw, to);
    });
    const int next_sensor = scan ? SMOOTH_SAMPLES : 1, next_time = scan ? 1 : SMOOTH_SENSORS;
    const std::vector<float> got = run.output(to, in.size());
    for (int sensor = 0; sensor < SMOOTH_SENSORS; sensor += 97) {
        double level = in[sensor * next_sensor];
        for (int t = 0; t < SMOOTH_SAMPLES; t++) {
            const int at = sensor * next_sensor + t * next_time;
            level += weights[sensor] * (in[at] - level);
            run.expect(got[at], level, 1e-4);
        }
    }
}

static void sensor_smooth_chain(Run &run)
{
    sensor_smooth(run, false);
}

static void sensor_smooth_scan(Run &run)
{
    sensor_smooth(run, true);
}

#endif
