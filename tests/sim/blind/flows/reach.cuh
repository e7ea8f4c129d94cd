// reach.cuh - host memory that kernels filter, gather, turn and append to in place.
#ifndef REACH_CUH
#define REACH_CUH

#include "scenery.cuh"

// ---- As many words out as in, and twice as many ----

static void erode_mapped(Flow &flow)
{
    const auto picture = floats(SCENE, 200, 0, 1);
    float *in = flow.pinned(picture), *out = flow.pinned<float>(SCENE);

    flow.time(1, [&] {
        erode<<<SCENE / 256, 256, 0, flow.stream[0]>>>(flow.mapped(in), flow.mapped(out));
    });
    flow.expect_some(out, SCENE, 211, [&](size_t i) { return eroded(picture.data(), (int) i); });
}

static void polar_mapped(Flow &flow)
{
    const auto values = floats(ANGLES, 205, 0, 3);
    float *angles = flow.pinned(values);
    float2 *points = flow.pinned<float2>(ANGLES);

    flow.time(1, [&] {
        to_points<<<ANGLES / 256, 256, 0, flow.stream[0]>>>(flow.mapped(angles),
                                                            flow.mapped(points));
    });
    expect_points(flow, values, points);
}

// ---- Two kernels read votes of the host while others are copied up ----

// The bits of all words that agree with `pattern`.
__global__ void count_agreeing(const uint2 *votes, uint32_t pattern, int *total, int count)
{
    int agreeing = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        agreeing += __popc(~(votes[i].x ^ pattern)) + __popc(~(votes[i].y ^ pattern));
    agreeing = __reduce_add_sync(~0u, agreeing);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, agreeing);
}

static int agreeing_bits(const std::vector<uint32_t> &votes, uint32_t pattern)
{
    int agreeing = 0;

    for (uint32_t v : votes)
        for (uint32_t same = ~(v ^ pattern); same; same &= same - 1)
            agreeing++;
    return agreeing;
}

static void votes_with_copy(Flow &flow)
{
    enum { COUNT = 1 << 20, COPIED = 5 << 18 };
    const auto votes = words(COUNT, 210), more = words(COPIED, 211);
    const uint32_t patterns[] = { 0x0f0f0f0f, 0x12345678 };
    const uint2 *in = (const uint2 *) flow.mapped(flow.pinned(votes));
    const uint32_t *from = flow.pinned(more);
    uint32_t *to = flow.zeros<uint32_t>(COPIED);
    int *totals = flow.zeros<int>(2);

    flow.time(3, [&] {
        for (int k = 0; k < 2; k++)
            count_agreeing<<<64, 256, 0, flow.stream[k]>>>(in + k * (COUNT / 4), patterns[k],
                                                           totals + k, COUNT / 4);
        CHECK(cudaMemcpyAsync(to, from, COPIED * 4, cudaMemcpyHostToDevice, flow.stream[2]));
    });
    const auto got = flow.download(totals, 2);
    for (int k = 0; k < 2; k++) {
        const auto half = votes.begin() + k * (COUNT / 2);
        flow.expect(got[k], agreeing_bits({ half, half + COUNT / 2 }, patterns[k]));
    }
    flow.expect_some(flow.download(to, COPIED), COPIED, 499, [&](size_t i) { return more[i]; });
}

// ---- Records of 16 bytes at random places: in words or as a whole ----

struct Cards {
    enum { COUNT = 384 << 10, DRAWN = 80 << 10 };
};

// Four threads per record.
__global__ void draw_words(const uint32_t *cards, const int *drawn, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = cards[4 * drawn[i / 4] + i % 4] ^ 0x5a5a5a5a;
}

__global__ void draw_quads(const uint4 *cards, const int *drawn, uint4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 c = cards[drawn[i]];
    const uint32_t key = 0x5a5a5a5a;

    out[i] = make_uint4(c.x ^ key, c.y ^ key, c.z ^ key, c.w ^ key);
}

static void draw_cards(Flow &flow, bool by_words)
{
    const auto cards = words(4 * Cards::COUNT, 212);
    const auto drawn = integers(Cards::DRAWN, Cards::COUNT, 213);
    const uint32_t *in = flow.mapped(flow.pinned(cards));
    const int *ddrawn = flow.upload(drawn), blocks = Cards::DRAWN / 256;
    uint32_t *out = flow.zeros<uint32_t>(4 * Cards::DRAWN);

    flow.time(1, [&] {
        if (by_words)
            draw_words<<<4 * blocks, 256, 0, flow.stream[0]>>>(in, ddrawn, out);
        else
            draw_quads<<<blocks, 256, 0, flow.stream[0]>>>((const uint4 *) in, ddrawn,
                                                           (uint4 *) out);
    });
    flow.expect_some(flow.download(out, 4 * Cards::DRAWN), 4 * Cards::DRAWN, 97,
                     [&](size_t i) { return cards[4 * drawn[i / 4] + i % 4] ^ 0x5a5a5a5a; });
}

static void cards_by_words(Flow &flow)
{
    draw_cards(flow, true);
}

static void cards_by_quads(Flow &flow)
{
    draw_cards(flow, false);
}

// ---- A plan of the host, turned by a right angle into device memory ----

enum { PLAN_WIDE = 1152, PLAN_HIGH = 896 };

// Reads follow each other, writes lie a row apart.
__global__ void turn_plan(const float *plan, float *turned)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    turned[x * PLAN_HIGH + PLAN_HIGH - 1 - y] = plan[y * PLAN_WIDE + x];
}

static void plan_turned(Flow &flow)
{
    enum { COUNT = PLAN_WIDE * PLAN_HIGH };
    const auto plan = floats(COUNT, 214);
    const float *in = flow.mapped(flow.pinned(plan));
    float *turned = flow.zeros<float>(COUNT);

    flow.time(1, [&] {
        turn_plan<<<dim3(PLAN_WIDE / 32, PLAN_HIGH / 8), dim3(32, 8), 0, flow.stream[0]>>>(in,
                                                                                           turned);
    });
    const auto wanted = [&](size_t i) {
        return plan[(PLAN_HIGH - 1 - i % PLAN_HIGH) * PLAN_WIDE + i / PLAN_HIGH];
    };
    flow.expect_some(flow.download(turned, COUNT), COUNT, 499, wanted);
}

// ---- A few threads append the peaks of a curve to the host's memory ----

struct Peak {
    int at, height;
};

__host__ __device__ inline bool is_peak(const int *curve, int i)
{
    return curve[i] > curve[i - 1] && curve[i] > curve[i + 1] && curve[i] > 900;
}

__global__ void find_peaks(const int *curve, int count, int *found, Peak *peaks)
{
    const int first = 1 + blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = first; i < count - 1; i += gridDim.x * blockDim.x)
        if (is_peak(curve, i))
            peaks[atomicAdd(found, 1)] = { i, curve[i] };
}

static void peaks_appended(Flow &flow)
{
    enum { COUNT = 32 << 10 };
    const auto curve = integers(COUNT, 1000, 215);
    const int *dcurve = flow.upload(curve);
    int *found = flow.zeros<int>(1);
    Peak *peaks = flow.pinned<Peak>(COUNT);
    int wanted = 0;

    flow.time(1, [&] {
        find_peaks<<<3, 64, 0, flow.stream[0]>>>(dcurve, COUNT, found, flow.mapped(peaks));
    });
    const int got = flow.download(found, 1)[0];
    std::sort(peaks, peaks + got, [](const Peak &a, const Peak &b) { return a.at < b.at; });
    for (int i = 1; i < COUNT - 1; i++)
        if (is_peak(curve.data(), i)) {
            flow.expect(peaks[wanted].at, i);
            flow.expect(peaks[wanted++].height, curve[i]);
        }
    flow.expect(got, wanted);
}

#endif
