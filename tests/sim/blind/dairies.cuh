// dairies.cuh - dairies: the yield of cows, cheese in brine, heated milk, cultures in vats.
#ifndef BLIND_DAIRIES_CUH
#define BLIND_DAIRIES_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- Curves of lactation, a * t^b * exp(-c * t), fitted to the records of each cow by least
// squares of logarithms: a thread per cow, or a warp ----

enum { DAIRY_COWS = 6000 };

// The normal equations: sums of products of 1, log t, t and the milk's logarithm.
struct dairy_sums {
    double x, t, y, xx, xt, tt, xy, ty;
};

__host__ __device__ inline void dairy_add(dairy_sums &s, float2 record)
{
    const float x = logf(record.x), t = record.x / 100, y = logf(record.y);
    s.x += x;
    s.t += t;
    s.y += y;
    s.xx += x * x;
    s.xt += x * t;
    s.tt += t * t;
    s.xy += x * y;
    s.ty += t * y;
}

// log a, b and c per 100 days.
__host__ __device__ inline float4 dairy_solve(const dairy_sums &s, double n)
{
    const double xx = s.xx - s.x * s.x / n, xt = s.xt - s.x * s.t / n, tt = s.tt - s.t * s.t / n;
    const double xy = s.xy - s.x * s.y / n, ty = s.ty - s.t * s.y / n, d = xx * tt - xt * xt;
    const double b = (xy * tt - ty * xt) / d, c = (xy * xt - ty * xx) / d;
    return make_float4((float) ((s.y - b * s.x + c * s.t) / n), (float) b, (float) c, 0);
}

__global__ void dairy_curve_thread_kernel(const float2 *records, const int *first, float4 *out)
{
    const int cow = blockIdx.x * blockDim.x + threadIdx.x;
    if (cow >= DAIRY_COWS)
        return;
    dairy_sums s = {};
    for (int i = first[cow]; i < first[cow + 1]; i++)
        dairy_add(s, records[i]);
    out[cow] = dairy_solve(s, first[cow + 1] - first[cow]);
}

__device__ inline double dairy_all(double v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}

__global__ void dairy_curve_warp_kernel(const float2 *records, const int *first, float4 *out)
{
    const int cow = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int begin = first[cow], end = first[cow + 1];
    dairy_sums s = {};
    for (int i = begin + threadIdx.x % 32; i < end; i += 32)
        dairy_add(s, records[i]);
    s = { dairy_all(s.x),  dairy_all(s.t),  dairy_all(s.y),  dairy_all(s.xx),
          dairy_all(s.xt), dairy_all(s.tt), dairy_all(s.xy), dairy_all(s.ty) };
    if (threadIdx.x % 32 == 0)
        out[cow] = dairy_solve(s, end - begin);
}

static void dairy_curve(Run &run, bool warp)
{
    const std::vector<int> days = integers(DAIRY_COWS, 285, 24200);
    std::vector<int> first(1, 0);
    for (int i = 0; i < DAIRY_COWS; i++)
        first.push_back(first[i] + 20 + days[i]);
    const std::vector<float> noise = floats(first.back(), 24201, 0.9f, 1.1f);
    std::vector<float2> records(first.back());
    for (int i = 0; i < DAIRY_COWS; i++)
        for (int k = first[i]; k < first[i + 1]; k++) {
            const float t = 5.0f + k - first[i];
            records[k] = { t, (12 + i % 9) * powf(t, 0.2f) * expf(-0.003f * t) * noise[k] };
        }
    const float2 *from = run.upload(records);
    const int *df = run.upload(first);
    float4 *to = run.zeros<float4>(DAIRY_COWS);
    run.measure([=] {
        if (warp)
            dairy_curve_warp_kernel<<<DAIRY_COWS / 8, 256>>>(from, df, to);
        else
            dairy_curve_thread_kernel<<<blocks_for(DAIRY_COWS, 128), 128>>>(from, df, to);
    });
    const std::vector<float4> got = run.output(to, DAIRY_COWS);
    for (int i = 0; i < DAIRY_COWS; i++) {
        dairy_sums s = {};
        for (int k = first[i]; k < first[i + 1]; k++)
            dairy_add(s, records[k]);
        const float4 wanted = dairy_solve(s, first[i + 1] - first[i]);
        run.expect(got[i].x, wanted.x, 1e-3);
        run.expect(got[i].y, wanted.y, 1e-3);
        run.expect(got[i].z, wanted.z, 1e-3);
    }
}

static void dairy_curve_thread(Run &run)
{
    dairy_curve(run, false);
}

static void dairy_curve_warp(Run &run)
{
    dairy_curve(run, true);
}

// ---- Salt that enters cheeses in brine, a block per cheese: the section in global or in shared
// memory, in two copies that take turns ----

enum { DAIRY_CHEESES = 160, DAIRY_SIDE = 32, DAIRY_HOURS = 80 };
enum { DAIRY_PLACES = DAIRY_SIDE * DAIRY_SIDE };

__host__ __device__ inline float dairy_soak(const float *salt, int i, float speed)
{
    const int x = i % DAIRY_SIDE, y = i / DAIRY_SIDE;
    const float left = x ? salt[i - 1] : 1, right = x < DAIRY_SIDE - 1 ? salt[i + 1] : 1;
    const float above = y ? salt[i - DAIRY_SIDE] : 1;
    const float below = y < DAIRY_SIDE - 1 ? salt[i + DAIRY_SIDE] : 1;
    return salt[i] + speed * (left + right + above + below - 4 * salt[i]);
}

__global__ void dairy_brine_global_kernel(const float *speeds, float *salt, float *other)
{
    const float speed = speeds[blockIdx.x];
    float *from = salt + blockIdx.x * DAIRY_PLACES, *to = other + blockIdx.x * DAIRY_PLACES;
    for (int hour = 0; hour < DAIRY_HOURS; hour++) {
        for (int i = threadIdx.x; i < DAIRY_PLACES; i += blockDim.x)
            to[i] = dairy_soak(from, i, speed);
        __syncthreads();
        float *swap = from;
        from = to;
        to = swap;
    }
}

__global__ void dairy_brine_shared_kernel(const float *speeds, float *salt, float *)
{
    __shared__ float copies[2][DAIRY_PLACES];
    const float speed = speeds[blockIdx.x];
    salt += blockIdx.x * DAIRY_PLACES;
    for (int i = threadIdx.x; i < DAIRY_PLACES; i += blockDim.x)
        copies[0][i] = salt[i];
    __syncthreads();
    for (int hour = 0; hour < DAIRY_HOURS; hour++) {
        for (int i = threadIdx.x; i < DAIRY_PLACES; i += blockDim.x)
            copies[1 - hour % 2][i] = dairy_soak(copies[hour % 2], i, speed);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < DAIRY_PLACES; i += blockDim.x)
        salt[i] = copies[DAIRY_HOURS % 2][i];
}

static void dairy_brine(Run &run, void (*kernel)(const float *, float *, float *))
{
    const int count = DAIRY_CHEESES * DAIRY_PLACES;
    const std::vector<float> speeds = floats(DAIRY_CHEESES, 24210, 0.05f, 0.24f);
    std::vector<float> salt = floats(count, 24211, 0, 0.1f), next(DAIRY_PLACES);
    const float *ds = run.upload(speeds), *from = run.upload(salt);
    float *to = run.zeros<float>(count), *other = run.zeros<float>(count);
    run.measure(
        [=] { kernel<<<DAIRY_CHEESES, 256>>>(ds, to, other); },
        [=] { CHECK(cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice)); });
    for (int k = 0; k < DAIRY_CHEESES; k++)
        for (int hour = 0; hour < DAIRY_HOURS; hour++) {
            for (int i = 0; i < DAIRY_PLACES; i++)
                next[i] = dairy_soak(&salt[k * DAIRY_PLACES], i, speeds[k]);
            std::copy(next.begin(), next.end(), salt.begin() + k * DAIRY_PLACES);
        }
    run.expect_all(
        run.output(to, count), [&](size_t i) { return salt[i]; }, 1e-4);
}

static void dairy_brine_global(Run &run)
{
    dairy_brine(run, dairy_brine_global_kernel);
}

static void dairy_brine_shared(Run &run)
{
    dairy_brine(run, dairy_brine_shared_kernel);
}

// ---- How far batches of milk were heated: sums of 10^((temperature - 72) / z) over readings,
// which are bytes. A block per batch; a few batches took long. By the formula, or by a table of the
// batch ----

enum { DAIRY_BATCHES = 600 };

__host__ __device__ inline float dairy_deaths(int reading, float z)
{
    return exp2f((40 + 0.2f * reading - 72) * (3.3219281f / z));
}

// The block's sum, in thread 0.
__device__ inline float dairy_block_sum(float sum)
{
    __shared__ float sums[256];
    sums[threadIdx.x] = sum;
    for (int d = 128; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            sums[threadIdx.x] += sums[threadIdx.x + d];
    }
    return sums[threadIdx.x];
}

__global__ void dairy_heat_formula_kernel(const unsigned char *readings, const int *first,
                                          const float *zs, float *out)
{
    const float z = zs[blockIdx.x];
    float sum = 0;
    for (int i = first[blockIdx.x] + threadIdx.x; i < first[blockIdx.x + 1]; i += 256)
        sum += dairy_deaths(readings[i], z);
    sum = dairy_block_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

__global__ void dairy_heat_table_kernel(const unsigned char *readings, const int *first,
                                        const float *zs, float *out)
{
    __shared__ float table[256];
    table[threadIdx.x] = dairy_deaths(threadIdx.x, zs[blockIdx.x]);
    __syncthreads();
    float sum = 0;
    for (int i = first[blockIdx.x] + threadIdx.x; i < first[blockIdx.x + 1]; i += 256)
        sum += table[readings[i]];
    sum = dairy_block_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

static void dairy_heat(Run &run, bool table)
{
    const std::vector<int> draws = integers(DAIRY_BATCHES, 16000, 24220);
    const std::vector<float> zs = floats(DAIRY_BATCHES, 24221, 6, 12);
    std::vector<int> first(1, 0);
    for (int i = 0; i < DAIRY_BATCHES; i++)
        first.push_back(first[i] + 8000 + draws[i] + (draws[i] % 67 ? 0 : 180000));
    const std::vector<int> values = integers(first.back(), 210, 24222);
    const std::vector<unsigned char> readings(values.begin(), values.end());
    const unsigned char *from = run.upload(readings);
    const int *df = run.upload(first);
    const float *dz = run.upload(zs);
    float *to = run.zeros<float>(DAIRY_BATCHES);
    run.measure([=] {
        if (table)
            dairy_heat_table_kernel<<<DAIRY_BATCHES, 256>>>(from, df, dz, to);
        else
            dairy_heat_formula_kernel<<<DAIRY_BATCHES, 256>>>(from, df, dz, to);
    });
    run.expect_all(
        run.output(to, DAIRY_BATCHES),
        [&](size_t i) {
            double sum = 0;
            for (int k = first[i]; k < first[i + 1]; k++)
                sum += dairy_deaths(readings[k], zs[i]);
            return sum;
        },
        1e-4);
}

static void dairy_heat_formula(Run &run)
{
    dairy_heat(run, false);
}

static void dairy_heat_table(Run &run)
{
    dairy_heat(run, true);
}

// ---- Cultures that grow in vats with a flow of fresh milk, until they are nearly steady: a vat
// per thread in floats, or two vats in half2 ----

enum { DAIRY_VATS = 262144, DAIRY_VAT_STEPS = 64 };

// growth: how fast the culture grows on milk, flow: what share of a vat is replaced.
__host__ __device__ inline float2 dairy_steep(float growth, float flow)
{
    float culture = 0.25f, milk = 1;
    for (int step = 0; step < DAIRY_VAT_STEPS; step++) {
        const float eaten = growth * culture * milk;
        culture += eaten - flow * culture;
        milk += flow * (1 - milk) - eaten;
    }
    return make_float2(culture, milk);
}

__global__ void dairy_culture_float_kernel(const __half *growths, const __half *flows,
                                           __half *cultures, __half *milks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 vat = dairy_steep(__half2float(growths[i]), __half2float(flows[i]));
    cultures[i] = __float2half(vat.x);
    milks[i] = __float2half(vat.y);
}

__global__ void dairy_culture_half2_kernel(const __half2 *growths, const __half2 *flows,
                                           __half2 *cultures, __half2 *milks)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 growth = growths[i], flow = flows[i], one = __float2half2_rn(1);
    __half2 culture = __float2half2_rn(0.25f), milk = one;
    for (int step = 0; step < DAIRY_VAT_STEPS; step++) {
        const __half2 eaten = __hmul2(__hmul2(growth, culture), milk);
        culture = __hadd2(culture, __hsub2(eaten, __hmul2(flow, culture)));
        milk = __hadd2(milk, __hsub2(__hmul2(flow, __hsub2(one, milk)), eaten));
    }
    cultures[i] = culture;
    milks[i] = milk;
}

static std::vector<__half> dairy_halves(int seed, float low, float high)
{
    std::vector<__half> v;
    for (float value : floats(DAIRY_VATS, seed, low, high))
        v.push_back(__float2half(value));
    return v;
}

static void dairy_culture(Run &run, bool half2s)
{
    const std::vector<__half> growths = dairy_halves(24230, 0.4f, 0.8f);
    const std::vector<__half> flows = dairy_halves(24231, 0.1f, 0.2f);
    const __half *dg = run.upload(growths), *df = run.upload(flows);
    __half *cultures = run.zeros<__half>(DAIRY_VATS), *milks = run.zeros<__half>(DAIRY_VATS);
    run.measure([=] {
        if (half2s)
            dairy_culture_half2_kernel<<<DAIRY_VATS / 512, 256>>>(
                (const __half2 *) dg, (const __half2 *) df, (__half2 *) cultures,
                (__half2 *) milks);
        else
            dairy_culture_float_kernel<<<DAIRY_VATS / 256, 256>>>(dg, df, cultures, milks);
    });
    const std::vector<__half> culture = run.output(cultures, DAIRY_VATS);
    const std::vector<__half> milk = run.output(milks, DAIRY_VATS);
    for (int i = 0; i < DAIRY_VATS; i += 3) {
        const float2 wanted = dairy_steep(__half2float(growths[i]), __half2float(flows[i]));
        run.expect(__half2float(culture[i]), wanted.x, 0.02);
        run.expect(__half2float(milk[i]), wanted.y, 0.02);
    }
}

static void dairy_culture_float(Run &run)
{
    dairy_culture(run, false);
}

static void dairy_culture_half2(Run &run)
{
    dairy_culture(run, true);
}

#endif
