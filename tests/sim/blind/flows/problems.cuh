// problems.cuh - problems of generation 2: their kernels and their host versions.
#ifndef PROBLEMS_CUH
#define PROBLEMS_CUH

#include "kernels.cuh"

// ---- Conjugate gradients: three kernels per step ----

struct Heat {
    enum { SIDE = 128, CELLS = SIDE * SIDE, STEPS = 20 };
    const float *b;
    float *x, *r, *p, *q, *dots;
};

// 4.5 p minus the four neighbours; beyond the border is zero.
template <class T> __host__ __device__ T applied(const T *p, int i)
{
    const int x = i % Heat::SIDE, y = i / Heat::SIDE;

    return T(4.5) * p[i] - (x ? p[i - 1] : 0) - (x < Heat::SIDE - 1 ? p[i + 1] : 0) -
           (y ? p[i - Heat::SIDE] : 0) - (y < Heat::SIDE - 1 ? p[i + Heat::SIDE] : 0);
}

__device__ void add_block(float *total, float x)
{
    x = block_sum(x);
    if (threadIdx.x == 0)
        atomicAdd(total, x);
}

__global__ void start_solve(Heat h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    h.x[i] = 0;
    h.r[i] = h.p[i] = h.b[i];
    add_block(&h.dots[0], h.b[i] * h.b[i]);
}

__global__ void apply(Heat h, int step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float q = applied(h.p, i);

    h.q[i] = q;
    add_block(&h.dots[2 * step + 1], h.p[i] * q);
}

__global__ void advance(Heat h, int step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float length = h.dots[2 * step] / h.dots[2 * step + 1], r = h.r[i] - length * h.q[i];

    h.x[i] += length * h.p[i];
    h.r[i] = r;
    add_block(&h.dots[2 * step + 2], r * r);
}

__global__ void turn(Heat h, int step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    h.p[i] = h.r[i] + h.dots[2 * step + 2] / h.dots[2 * step] * h.p[i];
}

inline double dot(const std::vector<double> &a, const std::vector<double> &b)
{
    double total = 0;

    for (size_t i = 0; i < a.size(); i++)
        total += a[i] * b[i];
    return total;
}

inline std::vector<double> heat_on_host()
{
    const auto b = floats(Heat::CELLS, 81);
    std::vector<double> x(Heat::CELLS), r(b.begin(), b.end()), p = r, q = r;

    for (int s = 0; s < Heat::STEPS; s++) {
        for (int i = 0; i < Heat::CELLS; i++)
            q[i] = applied(p.data(), i);
        const double before = dot(r, r), length = before / dot(p, q);
        for (int i = 0; i < Heat::CELLS; i++) {
            x[i] += length * p[i];
            r[i] -= length * q[i];
        }
        const double keep = dot(r, r) / before;
        for (int i = 0; i < Heat::CELLS; i++)
            p[i] = r[i] + keep * p[i];
    }
    return x;
}

// ---- Markov chains: a block per chain ----

enum { CONDITIONS = 64 };

// Four threads per condition; a step adds up the chances to get there.
__global__ void markov(const float *chances, float *state, int steps)
{
    __shared__ float m[CONDITIONS][CONDITIONS + 1], v[CONDITIONS];
    const int to = threadIdx.x / 4, part = threadIdx.x % 4;

    for (int i = threadIdx.x; i < CONDITIONS * CONDITIONS; i += blockDim.x)
        m[i / CONDITIONS][i % CONDITIONS] = chances[i];
    if (part == 0)
        v[to] = state[to];
    for (int s = 0; s < steps; s++) {
        float total = 0;
        __syncthreads();
        for (int from = part; from < CONDITIONS; from += 4)
            total += m[to][from] * v[from];
        total += __shfl_xor_sync(~0u, total, 1);
        total += __shfl_xor_sync(~0u, total, 2);
        __syncthreads();
        if (part == 0)
            v[to] = total;
    }
    if (part == 0)
        state[to] = v[to];
}

__global__ void tally(const int *keys, unsigned *counts)
{
    atomicAdd(&counts[keys[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}

// A column adds up to 1: most of it stays where it is.
inline std::vector<float> make_chances()
{
    auto chances = floats(CONDITIONS * CONDITIONS, 82, 0, 1);

    for (int from = 0; from < CONDITIONS; from++) {
        float total = 0;
        for (int to = 0; to < CONDITIONS; to++)
            total += chances[to * CONDITIONS + from];
        for (int to = 0; to < CONDITIONS; to++)
            chances[to * CONDITIONS + from] *= 0.01f / total;
        chances[from * (CONDITIONS + 1)] += 0.99f;
    }
    return chances;
}

inline std::vector<float> markov_on_host(const std::vector<float> &chances, int steps)
{
    std::vector<float> state(CONDITIONS), next(CONDITIONS);

    state[0] = 1;
    for (int s = 0; s < steps; s++) {
        for (int to = 0; to < CONDITIONS; to++) {
            next[to] = 0;
            for (int from = 0; from < CONDITIONS; from++)
                next[to] += chances[to * CONDITIONS + from] * state[from];
        }
        state.swap(next);
    }
    return state;
}

// ---- Bodies on a rope: three forces on each one, then a move ----

enum { BODIES = 768, EDDIES = 48 };

struct Bodies {
    float2 *at, *speed, *pull, *strain, *wind;
    const float2 *eddies;
};

__host__ __device__ inline float2 pull_on(const float2 *at, int i)
{
    float2 total = {};

    for (int j = 0; j < BODIES; j++) {
        const float x = at[j].x - at[i].x, y = at[j].y - at[i].y;
        const float near = rsqrtf(x * x + y * y + 0.05f), weight = near * near * near / BODIES;
        total.x += weight * x;
        total.y += weight * y;
    }
    return total;
}

// The ends of the rope are tied to themselves.
__host__ __device__ inline float2 strain_on(const float2 *at, int i)
{
    const float2 here = at[i], left = at[i ? i - 1 : 0];
    const float2 right = at[i + 1 < BODIES ? i + 1 : BODIES - 1];

    return make_float2(0.4f * (left.x + right.x - 2 * here.x),
                       0.4f * (left.y + right.y - 2 * here.y));
}

__host__ __device__ inline float2 wind_at(const float2 *eddies, float2 here)
{
    float2 total = {};

    for (int e = 0; e < EDDIES; e++) {
        const float x = here.x - eddies[e].x, y = here.y - eddies[e].y;
        const float weight = 0.02f / (x * x + y * y + 0.1f);
        total.x -= weight * y;
        total.y += weight * x;
    }
    return total;
}

__host__ __device__ inline void move(const Bodies &b, int i)
{
    const float time = 0.01f;
    float2 &at = b.at[i], &speed = b.speed[i];

    speed.x += time * (b.pull[i].x + b.strain[i].x + b.wind[i].x);
    speed.y += time * (b.pull[i].y + b.strain[i].y + b.wind[i].y);
    at.x += time * speed.x;
    at.y += time * speed.y;
}

__global__ void find_pulls(Bodies b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    b.pull[i] = pull_on(b.at, i);
}

__global__ void find_strains(Bodies b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    b.strain[i] = strain_on(b.at, i);
}

__global__ void find_winds(Bodies b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    b.wind[i] = wind_at(b.eddies, b.at[i]);
}

__global__ void move_bodies(Bodies b)
{
    move(b, blockIdx.x * blockDim.x + threadIdx.x);
}

inline std::vector<float2> points_of(int count, uint32_t seed)
{
    const auto values = floats(2 * count, seed);
    std::vector<float2> points(count);

    for (int i = 0; i < count; i++)
        points[i] = make_float2(values[2 * i], values[2 * i + 1]);
    return points;
}

// Where the bodies are after some steps.
inline std::vector<float2> bodies_on_host(std::vector<float2> at, std::vector<float2> eddies,
                                          int steps)
{
    std::vector<float2> speed(BODIES), pull(BODIES), strain(BODIES), wind(BODIES);
    const Bodies b = { at.data(),     speed.data(), pull.data(),
                       strain.data(), wind.data(),  eddies.data() };

    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < BODIES; i++) {
            pull[i] = pull_on(b.at, i);
            strain[i] = strain_on(b.at, i);
            wind[i] = wind_at(b.eddies, at[i]);
        }
        for (int i = 0; i < BODIES; i++)
            move(b, i);
    }
    return at;
}

// ---- Signals: samples of 16 bits, a filter and the energies of frames ----

enum { SAMPLES = 1 << 17, TAPS = 16, FRAME = 256, FRAMES = SAMPLES / FRAME };

__global__ void to_signal(const short *raw, float *signal)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SAMPLES; i += gridDim.x * blockDim.x)
        signal[i] = raw[i] / 32768.f;
}

__host__ __device__ inline float filtered(const float *signal, const float *taps, int i)
{
    float total = 0;

    for (int k = 0; k < TAPS; k++)
        total += i >= k ? taps[k] * signal[i - k] : 0;
    return total;
}

__global__ void filter(const float *signal, const float *taps, float *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SAMPLES; i += gridDim.x * blockDim.x)
        out[i] = filtered(signal, taps, i);
}

// A warp per frame.
__global__ void energies(const float *signal, float *out)
{
    const int warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;

    for (int f = (blockIdx.x * blockDim.x + threadIdx.x) / 32; f < FRAMES; f += warps) {
        float total = 0;
        for (int i = lane; i < FRAME; i += 32)
            total += signal[f * FRAME + i] * signal[f * FRAME + i];
        total = warp_sum(total);
        if (lane == 0)
            out[f] = total;
    }
}

// ---- A picture, sharpened by what is around each dot ----

enum { ACROSS = 1152, DOWN = 768, DOTS = ACROSS * DOWN };

__host__ __device__ inline int limited(int at, int count)
{
    return at < 0 ? 0 : at < count ? at : count - 1;
}

__host__ __device__ inline float sharpened(const float *in, int i)
{
    const int x = i % ACROSS, y = i / ACROSS;
    float around = 0;

    for (int far = -2; far <= 2; far++) {
        around += in[y * ACROSS + limited(x + far, ACROSS)];
        around += in[limited(y + far, DOWN) * ACROSS + x];
    }
    return 2 * in[i] - 0.1f * around;
}

__global__ void sharpen(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = sharpened(in, i);
}

#endif
