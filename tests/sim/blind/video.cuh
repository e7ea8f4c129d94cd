// video.cuh - parts of codecs for images and video: costs of motion, predictions, quantisation,
// edges smoothed.
#ifndef BLIND_VIDEO_CUH
#define BLIND_VIDEO_CUH

#include "blind.cuh"

// ---- Costs of six motions by sums of Hadamard-transformed differences of 4 x 4 pixels ----

enum { SATD_W = 2048, SATD_H = 1024, SATD_MOTIONS = 6 };

__host__ __device__ inline void satd_four(int *v, int step)
{
    const int a = v[0] + v[2 * step], b = v[step] + v[3 * step];
    const int c = v[0] - v[2 * step], d = v[step] - v[3 * step];
    v[0] = a + b;
    v[step] = a - b;
    v[2 * step] = c + d;
    v[3 * step] = c - d;
}

__host__ __device__ inline int satd_block(const unsigned char *now, const unsigned char *before)
{
    int v[16], sum = 0;
    for (int k = 0; k < 16; k++)
        v[k] = now[k / 4 * SATD_W + k % 4] - before[k / 4 * SATD_W + k % 4];
    for (int k = 0; k < 4; k++)
        satd_four(v + 4 * k, 1);
    for (int k = 0; k < 4; k++)
        satd_four(v + k, 4);
    for (int k = 0; k < 16; k++)
        sum += v[k] < 0 ? -v[k] : v[k];
    return sum;
}

// The least cost, and which motion: the image is moved by 0 to 5 pixels.
__global__ void satd_thread_kernel(const unsigned char *now, const unsigned char *before, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int at = i / (SATD_W / 4) * 4 * SATD_W + i % (SATD_W / 4) * 4;
    int best = 1 << 30;
    for (int m = 0; m < SATD_MOTIONS; m++)
        best = min(best, satd_block(now + at, before + at + m) * 8 + m);
    out[i] = best;
}

// A row of the block per lane; the columns are transformed by shuffles.
__device__ inline int satd_row(const unsigned char *now, const unsigned char *before, int row)
{
    int v[4], sum = 0;
    for (int k = 0; k < 4; k++)
        v[k] = now[k] - before[k];
    satd_four(v, 1);
    for (int k = 0; k < 4; k++) {
        for (int by = 2; by; by /= 2) {
            const int other = __shfl_xor_sync(~0u, v[k], by);
            v[k] = row & by ? other - v[k] : v[k] + other;
        }
        sum += abs(v[k]);
    }
    sum += __shfl_xor_sync(~0u, sum, 1);
    return sum + __shfl_xor_sync(~0u, sum, 2);
}

__global__ void satd_lanes_kernel(const unsigned char *now, const unsigned char *before, int *out)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / 4, row = thread % 4;
    const int at = (i / (SATD_W / 4) * 4 + row) * SATD_W + i % (SATD_W / 4) * 4;
    int best = 1 << 30;
    for (int m = 0; m < SATD_MOTIONS; m++)
        best = min(best, satd_row(now + at, before + at + m, row) * 8 + m);
    if (row == 0)
        out[i] = best;
}

static void satd(Run &run, bool lanes)
{
    const std::vector<int> v = integers(2 * SATD_W * SATD_H + 8, 256, 10401);
    const std::vector<unsigned char> in(v.begin(), v.end());
    const unsigned char *now = run.upload(in), *before = now + SATD_W * SATD_H;
    const int blocks = SATD_W * SATD_H / 16;
    int *to = run.zeros<int>(blocks);
    run.measure([=] {
        if (lanes)
            satd_lanes_kernel<<<blocks * 4 / 256, 256>>>(now, before, to);
        else
            satd_thread_kernel<<<blocks / 128, 128>>>(now, before, to);
    });
    run.expect_all(
        run.output(to, blocks),
        [&](size_t i) {
            const size_t at = i / (SATD_W / 4) * 4 * SATD_W + i % (SATD_W / 4) * 4;
            int best = 1 << 30;
            for (int m = 0; m < SATD_MOTIONS; m++)
                best = std::min(best, satd_block(&in[at], &in[SATD_W * SATD_H + at + m]) * 8 + m);
            return best;
        },
        0, 101);
}

static void satd_thread(Run &run)
{
    satd(run, false);
}

static void satd_lanes(Run &run)
{
    satd(run, true);
}

// ---- Pixels minus a prediction from left, top and corner: a byte per thread, or four ----

enum { PAETH_W = 3072, PAETH_H = 1920 };

// That of the three which is closest to left + up - corner.
__host__ __device__ inline int paeth_predict(int left, int up, int corner)
{
    const int p = left + up - corner;
    const int a = abs(p - left), b = abs(p - up), c = abs(p - corner);
    return a <= b && a <= c ? left : b <= c ? up : corner;
}

__global__ void paeth_bytes_kernel(const unsigned char *in, unsigned char *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, at = blockIdx.y * PAETH_W + x;
    const int left = x ? in[at - 1] : 0, up = blockIdx.y ? in[at - PAETH_W] : 0;
    const int corner = x && blockIdx.y ? in[at - PAETH_W - 1] : 0;
    out[at] = (unsigned char) (in[at] - paeth_predict(left, up, corner));
}

__global__ void paeth_words_kernel(const unsigned char *in, unsigned char *out)
{
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, at = blockIdx.y * PAETH_W + x;
    const uint32_t v = *(const uint32_t *) (in + at);
    const uint32_t above = blockIdx.y ? *(const uint32_t *) (in + at - PAETH_W) : 0;
    int left = x ? in[at - 1] : 0, corner = x && blockIdx.y ? in[at - PAETH_W - 1] : 0;
    uint32_t result = 0;
#pragma unroll
    for (int k = 0; k < 32; k += 8) {
        const int here = v >> k & 255, up = above >> k & 255;
        result |= (uint32_t) (here - paeth_predict(left, up, corner) & 255) << k;
        left = here;
        corner = up;
    }
    *(uint32_t *) (out + at) = result;
}

static void paeth(Run &run, bool four)
{
    const std::vector<int> v = integers(PAETH_W * PAETH_H, 256, 10402);
    const std::vector<unsigned char> in(v.begin(), v.end());
    const unsigned char *from = run.upload(in);
    unsigned char *to = run.zeros<unsigned char>(in.size());
    run.measure([=] {
        if (four)
            paeth_words_kernel<<<dim3(PAETH_W / 1024, PAETH_H), 256>>>(from, to);
        else
            paeth_bytes_kernel<<<dim3(PAETH_W / 256, PAETH_H), 256>>>(from, to);
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const bool left = i % PAETH_W, up = i >= PAETH_W;
            const int p = paeth_predict(left ? in[i - 1] : 0, up ? in[i - PAETH_W] : 0,
                                        left && up ? in[i - PAETH_W - 1] : 0);
            return (in[i] - p) & 255;
        },
        0, 1009);
}

static void paeth_bytes(Run &run)
{
    paeth(run, false);
}

static void paeth_words(Run &run)
{
    paeth(run, true);
}

// ---- Coefficients of 8 x 8 blocks, quantised in zigzag order: divisions, or reciprocals ----

enum { ZIGZAG_COUNT = 9 << 19 };

// Place `i` of the zigzag: the index of the coefficient.
static std::vector<unsigned char> zigzag_order()
{
    std::vector<unsigned char> order;
    for (int d = 0; d < 15; d++)
        for (int k = 0; k <= d; k++) {
            const int x = d & 1 ? d - k : k, y = d - x;
            if (x < 8 && y < 8)
                order.push_back((unsigned char) (y * 8 + x));
        }
    return order;
}

__host__ __device__ inline int zigzag_divide(int v, unsigned q)
{
    const int m = (int) (((unsigned) abs(v) + q / 2) / q);
    return v < 0 ? -m : m;
}

__global__ void zigzag_divide_kernel(const short *in, const unsigned char *order, const int *q,
                                     const float *, short *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, from = order[i % 64];
    out[i] = (short) zigzag_divide(in[i / 64 * 64 + from], q[from]);
}

__global__ void zigzag_multiply_kernel(const short *in, const unsigned char *order, const int *,
                                       const float *inverse, short *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, from = order[i % 64];
    out[i] = (short) __float2int_rn(in[i / 64 * 64 + from] * inverse[from]);
}

static void zigzag(Run &run, void (*kernel)(const short *, const unsigned char *, const int *,
                                            const float *, short *))
{
    const std::vector<int> v = integers(ZIGZAG_COUNT, 4096, 10403);
    std::vector<short> in(ZIGZAG_COUNT);
    for (int i = 0; i < ZIGZAG_COUNT; i++)
        in[i] = (short) (v[i] - 2048);
    std::vector<int> q = integers(64, 50, 10404);
    std::vector<float> inverse(64);
    for (int k = 0; k < 64; k++) {
        q[k] = 2 * q[k] + 3; // odd: no value lies halfway
        inverse[k] = 1.0f / q[k];
    }
    const std::vector<unsigned char> order = zigzag_order();
    const short *from = run.upload(in);
    const unsigned char *dorder = run.upload(order);
    const int *dq = run.upload(q);
    const float *di = run.upload(inverse);
    short *to = run.zeros<short>(ZIGZAG_COUNT);
    run.measure([=] { kernel<<<ZIGZAG_COUNT / 256, 256>>>(from, dorder, dq, di, to); });
    run.expect_all(
        run.output(to, ZIGZAG_COUNT),
        [&](size_t i) { return zigzag_divide(in[i / 64 * 64 + order[i % 64]], q[order[i % 64]]); },
        0, 1013);
}

static void zigzag_divisions(Run &run)
{
    zigzag(run, zigzag_divide_kernel);
}

static void zigzag_reciprocals(Run &run)
{
    zigzag(run, zigzag_multiply_kernel);
}

// ---- Vertical edges every 8 pixels are smoothed: lanes down an edge, or across edges ----

enum { DEBLOCK_W = 4096, DEBLOCK_H = 4096, DEBLOCK_EDGES = DEBLOCK_W / 8 };

// Eight pixels around an edge, in two words. Flat sides and a small step: four pixels change.
__host__ __device__ inline void deblock_edge(uint32_t *left, uint32_t *right)
{
    const int p1 = *left >> 16 & 255, p0 = *left >> 24, q0 = *right & 255, q1 = *right >> 8 & 255;
    if (abs(p0 - q0) >= 40 || abs(p1 - p0) >= 60 || abs(q1 - q0) >= 60)
        return;
    const uint32_t n1 = (2 * p1 + p0 + q0 + 2) / 4, n0 = (p1 + p0 + q0 + 1) / 3;
    const uint32_t m0 = (p0 + q0 + q1 + 1) / 3, m1 = (2 * q1 + q0 + p0 + 2) / 4;
    *left = (*left & 0xffff) | n1 << 16 | n0 << 24;
    *right = (*right & 0xffff0000) | m1 << 8 | m0;
}

template <bool ACROSS> __global__ void deblock_kernel(const uint32_t *in, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = ACROSS ? i / DEBLOCK_EDGES : i % DEBLOCK_H;
    const int edge = ACROSS ? i % DEBLOCK_EDGES : i / DEBLOCK_H;
    const int at = y * (DEBLOCK_W / 4) + 2 * edge;
    uint32_t left = in[at], right = in[at + 1];
    deblock_edge(&left, &right);
    out[at] = left;
    out[at + 1] = right;
}

template <bool ACROSS> static void deblock(Run &run)
{
    std::vector<uint32_t> in = words(DEBLOCK_W * DEBLOCK_H / 4, 10405);
    for (uint32_t &v : in)
        v &= 0x7f7f7f7f;
    const uint32_t *from = run.upload(in);
    uint32_t *to = run.zeros<uint32_t>(in.size());
    run.measure(
        [=] { deblock_kernel<ACROSS><<<DEBLOCK_EDGES * DEBLOCK_H / 256, 256>>>(from, to); });
    const std::vector<uint32_t> got = run.output(to, in.size());
    for (size_t i = 0; i < in.size(); i += 614) {
        uint32_t left = in[i], right = in[i + 1];
        deblock_edge(&left, &right);
        run.expect(got[i], left, 0);
        run.expect(got[i + 1], right, 0);
    }
}

static void deblock_down(Run &run)
{
    deblock<false>(run);
}

static void deblock_across(Run &run)
{
    deblock<true>(run);
}

#endif
