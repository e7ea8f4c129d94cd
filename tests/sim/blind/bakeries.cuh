// bakeries.cuh - bakeries: loaves in the oven, pores of the crumb, orders, tests of quality.
#ifndef BLIND_BAKERIES_CUH
#define BLIND_BAKERIES_CUH

#include <cuda_fp16.h>

#include "blind.cuh"

// ---- How long round loaves bake until their centre is hot, by shells of the loaf: a thread per
// loaf, or 16 lanes. Loaves are sorted by size: the last ones take the longest ----

enum { BAKERY_LOAVES = 8000, BAKERY_SHELLS = 16, BAKERY_LONGEST = 1500 };

// `spread` is small in large loaves. The crust is as hot as the oven from the beginning.
__host__ __device__ inline int bakery_bake(float spread, float oven)
{
    float heat[BAKERY_SHELLS];
#pragma unroll
    for (int i = 0; i < BAKERY_SHELLS; i++)
        heat[i] = i == BAKERY_SHELLS - 1 ? oven : 24.0f;
    int steps = 0;
    for (; steps < BAKERY_LONGEST && heat[0] < 94; steps++) {
        float inner = heat[0];
#pragma unroll
        for (int i = 0; i < BAKERY_SHELLS - 1; i++) {
            const float own = heat[i];
            const float out = i ? 1 + 1.0f / i : 6.0f, in = i ? 1 - 1.0f / i : 0.0f;
            heat[i] = own + spread * (out * (heat[i + 1] - own) - in * (own - inner));
            inner = own;
        }
    }
    return steps;
}

__global__ void bakery_oven_thread_kernel(const float2 *loaves, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BAKERY_LOAVES)
        out[i] = bakery_bake(loaves[i].x, loaves[i].y);
}

__global__ void bakery_oven_lanes_kernel(const float2 *loaves, int *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / BAKERY_SHELLS;
    const int lane = threadIdx.x % BAKERY_SHELLS;
    const uint32_t mask = 0xffffu << (threadIdx.x & 16);
    const bool crust = lane == BAKERY_SHELLS - 1;
    const float spread = crust ? 0 : loaves[i].x;
    const float out_rate = lane ? 1 + 1.0f / lane : 6.0f, in_rate = lane ? 1 - 1.0f / lane : 0.0f;
    float heat = crust ? loaves[i].y : 24.0f;
    int steps = 0;
    while (steps < BAKERY_LONGEST && __shfl_sync(mask, heat, 0, BAKERY_SHELLS) < 94) {
        const float outer = __shfl_down_sync(mask, heat, 1, BAKERY_SHELLS);
        const float inner = __shfl_up_sync(mask, heat, 1, BAKERY_SHELLS);
        heat += spread * (out_rate * (outer - heat) - in_rate * (heat - inner));
        steps++;
    }
    if (lane == 0)
        out[i] = steps;
}

static void bakery_oven(Run &run, bool lanes)
{
    std::vector<float> spreads = floats(BAKERY_LOAVES, 21000, 0.05f, 0.15f);
    const std::vector<float> ovens = floats(BAKERY_LOAVES, 21001, 180, 260);
    std::sort(spreads.rbegin(), spreads.rend());
    std::vector<float2> loaves(BAKERY_LOAVES);
    for (int i = 0; i < BAKERY_LOAVES; i++)
        loaves[i] = { spreads[i], ovens[i] };
    const float2 *from = run.upload(loaves);
    int *to = run.zeros<int>(BAKERY_LOAVES);
    run.measure([=] {
        if (lanes)
            bakery_oven_lanes_kernel<<<BAKERY_LOAVES * BAKERY_SHELLS / 128, 128>>>(from, to);
        else
            bakery_oven_thread_kernel<<<blocks_for(BAKERY_LOAVES, 64), 64>>>(from, to);
    });
    run.expect_all(
        run.output(to, BAKERY_LOAVES),
        [&](size_t i) { return bakery_bake(loaves[i].x, loaves[i].y); }, 0.02, 11);
}

static void bakery_oven_thread(Run &run)
{
    bakery_oven(run, false);
}

static void bakery_oven_lanes(Run &run)
{
    bakery_oven(run, true);
}

// ---- How wide pores are along the lines of pictures of the crumb: a byte per pixel, or a bit ----

enum { BAKERY_LINES = 40960, BAKERY_PIXELS = 256, BAKERY_WIDTHS = 48, BAKERY_CRUMB = 128 };

__device__ inline void bakery_pore(int *counts, int width)
{
    atomicAdd(&counts[min(width, BAKERY_WIDTHS - 1)], 1);
}

__device__ inline void bakery_line(const uint8_t *line, int *counts)
{
    int width = 0;
    for (int x = 0; x < BAKERY_PIXELS; x++) {
        if (line[x]) {
            width++;
        } else if (width) {
            bakery_pore(counts, width);
            width = 0;
        }
    }
    if (width)
        bakery_pore(counts, width);
}

__device__ inline void bakery_line(const uint32_t *line, int *counts)
{
    int width = 0;
    for (int k = 0; k < BAKERY_PIXELS / 32; k++) {
        uint32_t bits = line[k];
        for (int left = 32; left;) {
            const bool pore = bits & 1;
            const int same = min(__clz(__brev(pore ? ~bits : bits)), left);
            if (!pore && width)
                bakery_pore(counts, width);
            width = pore ? width + same : 0;
            bits = __funnelshift_rc(bits, 0, same);
            left -= same;
        }
    }
    if (width)
        bakery_pore(counts, width);
}

template <class T> __global__ void bakery_crumb_kernel(const T *lines, int length, int *out)
{
    __shared__ int counts[BAKERY_WIDTHS];
    if (threadIdx.x < BAKERY_WIDTHS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    bakery_line(lines + (size_t) (blockIdx.x * blockDim.x + threadIdx.x) * length, counts);
    __syncthreads();
    if (threadIdx.x < BAKERY_WIDTHS)
        atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}

static std::vector<uint8_t> bakery_pixels()
{
    const std::vector<int> draws = integers((size_t) BAKERY_LINES * BAKERY_PIXELS, 100, 21010);
    std::vector<uint8_t> pixels(draws.size());
    bool pore = false;
    for (size_t i = 0; i < draws.size(); i++)
        pixels[i] = pore = pore ? draws[i] >= 18 : draws[i] < 11;
    return pixels;
}

static void bakery_crumb(Run &run, bool bits)
{
    const std::vector<uint8_t> pixels = bakery_pixels();
    std::vector<uint32_t> packed(pixels.size() / 32);
    std::vector<int> wanted(BAKERY_WIDTHS);
    int width = 0;
    for (size_t i = 0; i < pixels.size(); i++) {
        packed[i / 32] |= (uint32_t) pixels[i] << i % 32;
        width += pixels[i];
        if (width && (!pixels[i] || i % BAKERY_PIXELS == BAKERY_PIXELS - 1)) {
            wanted[std::min(width, BAKERY_WIDTHS - 1)]++;
            width = 0;
        }
    }
    const uint8_t *dp = run.upload(pixels);
    const uint32_t *db = run.upload(packed);
    int *to = run.zeros<int>(BAKERY_WIDTHS);
    run.measure(
        [=] {
            const int blocks = BAKERY_LINES / BAKERY_CRUMB;
            if (bits)
                bakery_crumb_kernel<<<blocks, BAKERY_CRUMB>>>(db, BAKERY_PIXELS / 32, to);
            else
                bakery_crumb_kernel<<<blocks, BAKERY_CRUMB>>>(dp, BAKERY_PIXELS, to);
        },
        [=] { CHECK(cudaMemset(to, 0, BAKERY_WIDTHS * sizeof(int))); });
    run.expect_all(
        run.output(to, BAKERY_WIDTHS), [&](size_t i) { return wanted[i]; }, 0);
}

static void bakery_crumb_bytes(Run &run)
{
    bakery_crumb(run, false);
}

static void bakery_crumb_bits(Run &run)
{
    bakery_crumb(run, true);
}

// ---- What the ingredients of orders cost, a warp per order: each warp takes every 2112th order,
// or the next by a ticket. Each 96th order is a canteen's, with hundreds of lines ----

enum { BAKERY_ORDERS = 14000, BAKERY_PRODUCTS = 1500, BAKERY_PARTS = 12, BAKERY_GOODS = 64 };

struct BakeryTables {
    const int *parts;  // how many ingredients a product has
    const int2 *needs; // per product: ingredients and their grams
    const int *prices; // per ingredient
};

__host__ __device__ inline uint32_t bakery_line_cost(const BakeryTables &t, int2 line)
{
    uint32_t cost = 0;
    for (int k = 0; k < t.parts[line.x]; k++) {
        const int2 need = t.needs[line.x * BAKERY_PARTS + k];
        cost += (uint32_t) (need.y * t.prices[need.x]) >> 3;
    }
    return cost * line.y;
}

// Lines of an order: the product and how many.
__device__ inline void bakery_order(const BakeryTables &t, const int *first, const int2 *lines,
                                    int order, uint32_t *out)
{
    const int lane = threadIdx.x % 32, end = first[order + 1];
    uint32_t cost = 0;
    for (int k = first[order] + lane; k < end; k += 32)
        cost += bakery_line_cost(t, lines[k]);
    cost = __reduce_add_sync(~0u, cost);
    if (lane == 0)
        out[order] = cost;
}

__global__ void bakery_orders_shares_kernel(BakeryTables t, const int *first, const int2 *lines,
                                            uint32_t *out)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int order = warp; order < BAKERY_ORDERS; order += gridDim.x * blockDim.x / 32)
        bakery_order(t, first, lines, order, out);
}

__global__ void bakery_orders_tickets_kernel(BakeryTables t, const int *first, const int2 *lines,
                                             int *tickets, uint32_t *out)
{
    for (;;) {
        int order = 0;
        if (threadIdx.x % 32 == 0)
            order = atomicAdd(tickets, 1);
        order = __shfl_sync(~0u, order, 0);
        if (order >= BAKERY_ORDERS)
            return;
        bakery_order(t, first, lines, order, out);
    }
}

static void bakery_orders(Run &run, bool by_tickets)
{
    std::vector<int> parts = integers(BAKERY_PRODUCTS, BAKERY_PARTS - 3, 21020), first(1, 0);
    const std::vector<int> draws = integers(BAKERY_PRODUCTS * BAKERY_PARTS, 6400, 21021);
    const std::vector<int> prices = integers(BAKERY_GOODS, 900, 21022);
    const std::vector<int> sizes = integers(BAKERY_ORDERS, 500, 21023);
    for (int &count : parts)
        count += 3;
    std::vector<int2> needs(draws.size());
    for (size_t i = 0; i < draws.size(); i++)
        needs[i] = { draws[i] % BAKERY_GOODS, 5 + draws[i] / BAKERY_GOODS };
    for (int i = 0; i < BAKERY_ORDERS; i++)
        first.push_back(first[i] + (i % 96 ? 1 + sizes[i] / 16 : 500 + sizes[i]));
    const int count = first.back();
    const std::vector<int> chosen = integers(count, BAKERY_PRODUCTS * 8, 21024);
    std::vector<int2> lines(count);
    for (int i = 0; i < count; i++)
        lines[i] = { chosen[i] / 8, 1 + chosen[i] % 8 };
    const BakeryTables host = { parts.data(), needs.data(), prices.data() };
    const BakeryTables device = { run.upload(parts), run.upload(needs), run.upload(prices) };
    const int *df = run.upload(first);
    const int2 *dl = run.upload(lines);
    int *tickets = run.zeros<int>(1);
    uint32_t *to = run.zeros<uint32_t>(BAKERY_ORDERS);
    run.measure(
        [=] {
            if (by_tickets)
                bakery_orders_tickets_kernel<<<264, 256>>>(device, df, dl, tickets, to);
            else
                bakery_orders_shares_kernel<<<264, 256>>>(device, df, dl, to);
        },
        [=] { CHECK(cudaMemset(tickets, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, BAKERY_ORDERS),
        [&](size_t i) {
            uint32_t cost = 0;
            for (int k = first[i]; k < first[i + 1]; k++)
                cost += bakery_line_cost(host, lines[k]);
            return cost;
        },
        0);
}

static void bakery_orders_shares(Run &run)
{
    bakery_orders(run, false);
}

static void bakery_orders_tickets(Run &run)
{
    bakery_orders(run, true);
}

// ---- Grades of loaves from 16 measured values, by a small neural network whose weights are in
// constant memory: in floats, or two loaves at once in half2 ----

enum { BAKERY_TESTS = 360448, BAKERY_VALUES = 16, BAKERY_HIDDEN = 16 };
enum { BAKERY_WEIGHTS = BAKERY_HIDDEN * (BAKERY_VALUES + 2) };

// Per hidden unit: its threshold, its weights, and its weight in the grade.
__constant__ float bakery_weights[BAKERY_WEIGHTS];
__constant__ uint32_t bakery_weight_pairs[BAKERY_WEIGHTS]; // as half2, both halves alike

__global__ void bakery_grade_float_kernel(const float *values, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[BAKERY_VALUES], grade = 0;
#pragma unroll
    for (int k = 0; k < BAKERY_VALUES; k++)
        v[k] = values[k * BAKERY_TESTS + i];
    const float *w = bakery_weights;
    for (int unit = 0; unit < BAKERY_HIDDEN; unit++, w += BAKERY_VALUES + 2) {
        float sum = w[0];
#pragma unroll
        for (int k = 0; k < BAKERY_VALUES; k++)
            sum += w[k + 1] * v[k];
        grade += w[BAKERY_VALUES + 1] * fmaxf(sum, 0);
    }
    out[i] = grade;
}

__device__ inline half2 bakery_weight_pair(int i)
{
    const uint32_t pair = bakery_weight_pairs[i];
    return *(const half2 *) &pair;
}

__global__ void bakery_grade_half2_kernel(const half2 *values, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half2 zero = __float2half2_rn(0);
    half2 v[BAKERY_VALUES], grade = zero;
#pragma unroll
    for (int k = 0; k < BAKERY_VALUES; k++)
        v[k] = values[k * (BAKERY_TESTS / 2) + i];
    for (int at = 0; at < BAKERY_WEIGHTS; at += BAKERY_VALUES + 2) {
        half2 sum = bakery_weight_pair(at);
#pragma unroll
        for (int k = 0; k < BAKERY_VALUES; k++)
            sum = __hfma2(bakery_weight_pair(at + k + 1), v[k], sum);
        grade = __hfma2(bakery_weight_pair(at + BAKERY_VALUES + 1), __hmax2(sum, zero), grade);
    }
    out[i] = __half22float2(grade);
}

static void bakery_grade(Run &run, bool halves)
{
    const size_t n = BAKERY_TESTS;
    const std::vector<float> values = floats(n * BAKERY_VALUES, 21030, 0, 1);
    const std::vector<float> weights = floats(BAKERY_WEIGHTS, 21031, -0.4f, 0.5f);
    std::vector<half2> pairs(values.size() / 2), weight_pairs;
    for (size_t i = 0; i < pairs.size(); i++)
        pairs[i] = __floats2half2_rn(values[2 * i], values[2 * i + 1]);
    for (const float weight : weights)
        weight_pairs.push_back(__floats2half2_rn(weight, weight));
    CHECK(cudaMemcpyToSymbol(bakery_weights, weights.data(), sizeof bakery_weights));
    CHECK(cudaMemcpyToSymbol(bakery_weight_pairs, weight_pairs.data(), sizeof bakery_weight_pairs));
    const float *dv = run.upload(values);
    const half2 *dp = run.upload(pairs);
    float *to = run.zeros<float>(n);
    run.measure([=] {
        if (halves)
            bakery_grade_half2_kernel<<<n / 512, 256>>>(dp, (float2 *) to);
        else
            bakery_grade_float_kernel<<<n / 256, 256>>>(dv, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double grade = 0;
            const float *w = weights.data();
            for (int unit = 0; unit < BAKERY_HIDDEN; unit++, w += BAKERY_VALUES + 2) {
                double sum = w[0];
                for (int k = 0; k < BAKERY_VALUES; k++)
                    sum += w[k + 1] * values[k * n + i];
                grade += w[BAKERY_VALUES + 1] * std::max(sum, 0.0);
            }
            return grade;
        },
        halves ? 2e-2 : 1e-4, 5);
}

static void bakery_grade_float(Run &run)
{
    bakery_grade(run, false);
}

static void bakery_grade_half2(Run &run)
{
    bakery_grade(run, true);
}

#endif
