// tides.cuh - seas and coasts: shallow water, drifting tracers, water columns, waves' lengths.
#ifndef BLIND_TIDES_CUH
#define BLIND_TIDES_CUH

#include "blind.cuh"

// ---- A step of shallow water on a ring, with float or with double ----

enum { SHALLOW_SIDE = 896 };

template <class T> struct ShallowState {
    T h, u, v;
};

template <class T> __host__ __device__ inline ShallowState<T> shallow_at(const T *s, int x, int y)
{
    const int side = SHALLOW_SIDE, at = (y + side) % side * side + (x + side) % side;
    return { s[at], s[side * side + at], s[2 * side * side + at] };
}

// Lax-Friedrichs: the mean of four neighbours minus differences of fluxes.
template <class T> __host__ __device__ inline ShallowState<T> shallow_step(const T *s, int x, int y)
{
    const ShallowState<T> w = shallow_at(s, x - 1, y), e = shallow_at(s, x + 1, y);
    const ShallowState<T> n = shallow_at(s, x, y - 1), o = shallow_at(s, x, y + 1);
    const T r = (T) 0.05, g = (T) 4.905, quarter = (T) 0.25;
    ShallowState<T> to;
    to.h = quarter * (w.h + e.h + n.h + o.h) - r * (e.u - w.u + o.v - n.v);
    to.u =
        quarter * (w.u + e.u + n.u + o.u) - r * (e.u * e.u / e.h + g * e.h * e.h - w.u * w.u / w.h -
                                                 g * w.h * w.h + o.u * o.v / o.h - n.u * n.v / n.h);
    to.v =
        quarter * (w.v + e.v + n.v + o.v) - r * (o.v * o.v / o.h + g * o.h * o.h - n.v * n.v / n.h -
                                                 g * n.h * n.h + e.u * e.v / e.h - w.u * w.v / w.h);
    return to;
}

template <class T> __global__ void shallow_kernel(const T *in, T *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = y * SHALLOW_SIDE + x, size = SHALLOW_SIDE * SHALLOW_SIDE;
    const ShallowState<T> to = shallow_step(in, x, y);
    out[at] = to.h;
    out[size + at] = to.u;
    out[2 * size + at] = to.v;
}

template <class T> static void shallow(Run &run)
{
    const int size = SHALLOW_SIDE * SHALLOW_SIDE;
    const std::vector<float> f = floats(3 * size, 10501);
    std::vector<T> in(3 * size);
    for (int i = 0; i < 3 * size; i++)
        in[i] = (T) (i < size ? 2 + f[i] / 2 : f[i]);
    const T *from = run.upload(in);
    T *to = run.zeros<T>(3 * size);
    const dim3 grid(SHALLOW_SIDE / 32, SHALLOW_SIDE / 8), block(32, 8);
    run.measure([=] { shallow_kernel<T><<<grid, block>>>(from, to); });
    const std::vector<T> got = run.output(to, 3 * size);
    for (int i = 0; i < size; i += 607) {
        const ShallowState<T> s = shallow_step(in.data(), i % SHALLOW_SIDE, i / SHALLOW_SIDE);
        run.expect(got[i], s.h, 1e-4);
        run.expect(got[size + i], s.u, 1e-4);
        run.expect(got[2 * size + i], s.v, 1e-4);
    }
}

static void shallow_float(Run &run)
{
    shallow<float>(run);
}

static void shallow_double(Run &run)
{
    shallow<double>(run);
}

// ---- Tracers drift for four steps: velocities in pairs, or in two planes ----

enum { TRACER_SIDE = 1024, TRACER_COUNT = 3 << 17, TRACER_STEPS = 4 };

template <bool PLANES>
__host__ __device__ inline float2 tracer_velocity(const float *field, int x, int y)
{
    const int at = (y & TRACER_SIDE - 1) * TRACER_SIDE + (x & TRACER_SIDE - 1);
    if (PLANES)
        return make_float2(field[at], field[TRACER_SIDE * TRACER_SIDE + at]);
    return ((const float2 *) field)[at];
}

template <bool PLANES> __host__ __device__ inline float2 tracer_drift(const float *field, float2 p)
{
    for (int step = 0; step < TRACER_STEPS; step++) {
        const float fx = floorf(p.x), fy = floorf(p.y), a = p.x - fx, b = p.y - fy;
        const int x = (int) fx, y = (int) fy;
        const float2 v00 = tracer_velocity<PLANES>(field, x, y);
        const float2 v10 = tracer_velocity<PLANES>(field, x + 1, y);
        const float2 v01 = tracer_velocity<PLANES>(field, x, y + 1);
        const float2 v11 = tracer_velocity<PLANES>(field, x + 1, y + 1);
        p.x += (1 - b) * ((1 - a) * v00.x + a * v10.x) + b * ((1 - a) * v01.x + a * v11.x);
        p.y += (1 - b) * ((1 - a) * v00.y + a * v10.y) + b * ((1 - a) * v01.y + a * v11.y);
    }
    return p;
}

template <bool PLANES>
__global__ void tracers_kernel(const float *field, const float2 *from, float2 *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = tracer_drift<PLANES>(field, from[i]);
}

template <bool PLANES> static void tracers(Run &run)
{
    const std::vector<float> field = floats(2 * TRACER_SIDE * TRACER_SIDE, 10502);
    const std::vector<float> start = floats(2 * TRACER_COUNT, 10503, 0, TRACER_SIDE);
    const float *df = run.upload(field);
    const float2 *from = (const float2 *) run.upload(start);
    float *to = run.zeros<float>(2 * TRACER_COUNT);
    run.measure(
        [=] { tracers_kernel<PLANES><<<TRACER_COUNT / 256, 256>>>(df, from, (float2 *) to); });
    const std::vector<float> got = run.output(to, 2 * TRACER_COUNT);
    for (int i = 0; i < TRACER_COUNT; i += 307) {
        const float2 p = make_float2(start[2 * i], start[2 * i + 1]);
        const float2 wanted = tracer_drift<PLANES>(field.data(), p);
        run.expect(got[2 * i], wanted.x, 1e-2);
        run.expect(got[2 * i + 1], wanted.y, 1e-2);
    }
}

static void tracers_pairs(Run &run)
{
    tracers<false>(run);
}

static void tracers_planes(Run &run)
{
    tracers<true>(run);
}

// ---- Means of water columns of up to 40 layers: the loop stops at the ground, or masks it ----

enum { COLUMN_COUNT = 3 << 17, COLUMN_LAYERS = 40 };

template <bool MASKED>
__global__ void columns_kernel(const float *salt, const float *depth, const int *layers, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, mine = layers[i];
    float sum = 0, total = 0;
#pragma unroll 8
    for (int k = 0; k < (MASKED ? (int) COLUMN_LAYERS : mine); k++) {
        const float weight = MASKED && k >= mine ? 0 : depth[k];
        sum += weight * salt[k * COLUMN_COUNT + i];
        total += weight;
    }
    out[i] = sum / total;
}

template <bool MASKED> static void columns(Run &run)
{
    const std::vector<float> salt = floats(COLUMN_COUNT * COLUMN_LAYERS, 10504, 30, 36);
    const std::vector<float> depth = floats(COLUMN_LAYERS, 10505, 1, 20);
    std::vector<int> layers = integers(COLUMN_COUNT, 8, 10506);
    for (int i = 0; i < COLUMN_COUNT; i++) // the ground is rough, and deeper to the right
        layers[i] += 1 + i % 512 * (COLUMN_LAYERS - 8) / 511;
    const float *from = run.upload(salt), *dd = run.upload(depth);
    const int *dl = run.upload(layers);
    float *to = run.zeros<float>(COLUMN_COUNT);
    run.measure([=] { columns_kernel<MASKED><<<COLUMN_COUNT / 128, 128>>>(from, dd, dl, to); });
    run.expect_all(
        run.output(to, COLUMN_COUNT),
        [&](size_t i) {
            double sum = 0, total = 0;
            for (int k = 0; k < layers[i]; k++) {
                sum += (double) depth[k] * salt[k * COLUMN_COUNT + i];
                total += depth[k];
            }
            return sum / total;
        },
        1e-4, 211);
}

static void columns_stop(Run &run)
{
    columns<false>(run);
}

static void columns_masked(Run &run)
{
    columns<true>(run);
}

// ---- Wave numbers by four steps of Newton, with tanhf or by exponentials ----

enum { WAVE_COUNT = 9 << 17, WAVE_STEPS = 4 };

template <bool FAST> __host__ __device__ inline float wave_tanh(float x)
{
#ifdef __CUDA_ARCH__
    if (FAST)
        return 1 - __fdividef(2, __expf(2 * x) + 1);
#endif
    return tanhf(x);
}

// k x depth, such that k d tanh(k d) = w: w is the squared frequency x depth / gravity.
template <bool FAST> __host__ __device__ inline float wave_number(float w)
{
    float kd = w > 1 ? w : sqrtf(w);
    for (int step = 0; step < WAVE_STEPS; step++) {
        const float t = wave_tanh<FAST>(kd);
        kd -= (kd * t - w) / (t + kd * (1 - t * t));
    }
    return kd;
}

template <bool FAST> __global__ void waves_kernel(const float2 *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 v = in[i]; // period, depth
    const float omega = 6.2831853f / v.x;
    out[i] = wave_number<FAST>(omega * omega * v.y / 9.81f) / v.y;
}

template <bool FAST> static void waves(Run &run)
{
    std::vector<float> in = floats(2 * WAVE_COUNT, 10507, 4, 16);
    const float2 *from = (const float2 *) run.upload(in);
    float *to = run.zeros<float>(WAVE_COUNT);
    run.measure([=] { waves_kernel<FAST><<<WAVE_COUNT / 256, 256>>>(from, to); });
    run.expect_all(
        run.output(to, WAVE_COUNT),
        [&](size_t i) {
            const double omega = 2 * M_PI / in[2 * i], depth = in[2 * i + 1];
            const double w = omega * omega * depth / 9.81;
            double kd = w > 1 ? w : sqrt(w);
            for (int step = 0; step < 8; step++) {
                const double t = tanh(kd);
                kd -= (kd * t - w) / (t + kd * (1 - t * t));
            }
            return kd / depth;
        },
        1e-3, 499);
}

static void waves_tanh(Run &run)
{
    waves<false>(run);
}

static void waves_exp(Run &run)
{
    waves<true>(run);
}

#endif
