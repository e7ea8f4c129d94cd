// codecs.cuh - coders of pictures: texture blocks, camera mosaics, checksums, motion search.
#ifndef BLIND_CODECS_CUH
#define BLIND_CODECS_CUH

#include "blind.cuh"

// ---- BC1 textures: 4 x 4 pixels from 8 bytes; a thread per pixel or per block ----

enum { BC_WIDTH = 2560, BC_HEIGHT = 1600 };

__host__ __device__ inline uint32_t bc_expand(uint32_t c)
{
    const uint32_t r = c >> 11 & 31, g = c >> 5 & 63, b = c & 31;
    return (r << 3 | r >> 2) | (g << 2 | g >> 4) << 8 | (b << 3 | b >> 2) << 16;
}

__host__ __device__ inline uint32_t bc_blend(uint32_t a, uint32_t b, uint32_t of_a, uint32_t of_b)
{
    uint32_t out = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const uint32_t sum = of_a * (a >> shift & 255) + of_b * (b >> shift & 255);
        out |= sum / (of_a + of_b) << shift;
    }
    return out;
}

__host__ __device__ inline uint32_t bc_colour(uint2 block, int index)
{
    const uint32_t first = block.x & 0xffff, second = block.x >> 16;
    const uint32_t a = bc_expand(first), b = bc_expand(second);
    if (index < 2)
        return index ? b : a;
    if (first > second)
        return index == 2 ? bc_blend(a, b, 2, 1) : bc_blend(a, b, 1, 2);
    return index == 2 ? bc_blend(a, b, 1, 1) : 0;
}

__global__ void bc1_pixel_kernel(const uint2 *blocks, uint32_t *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const uint2 block = blocks[y / 4 * (BC_WIDTH / 4) + x / 4];
    const int index = block.y >> 2 * (y % 4 * 4 + x % 4) & 3;
    out[y * BC_WIDTH + x] = bc_colour(block, index);
}

__global__ void bc1_block_kernel(const uint2 *blocks, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int x = i % (BC_WIDTH / 4), y = i / (BC_WIDTH / 4);
    uint2 block;
    uint32_t palette[4];
    if (i >= BC_WIDTH * BC_HEIGHT / 16)
        return;
    block = blocks[i];
    for (int k = 0; k < 4; k++)
        palette[k] = bc_colour(block, k);
    for (int row = 0; row < 4; row++) {
        const uint32_t bits = block.y >> 8 * row;
        ((uint4 *) out)[(y * 4 + row) * (BC_WIDTH / 4) + x] =
            make_uint4(palette[bits & 3], palette[bits >> 2 & 3], palette[bits >> 4 & 3],
                       palette[bits >> 6 & 3]);
    }
}

template <class Launch> static void bc1(Run &run, Launch launch)
{
    const int n = BC_WIDTH * BC_HEIGHT;
    const std::vector<uint32_t> bits = words(n / 8, 3001);
    std::vector<uint2> blocks(n / 16);
    for (int i = 0; i < n / 16; i++)
        blocks[i] = make_uint2(bits[2 * i], bits[2 * i + 1]);
    uint2 *from = run.upload(blocks);
    uint32_t *to = run.zeros<uint32_t>(n);
    run.measure([=] { launch(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int x = i % BC_WIDTH, y = i / BC_WIDTH;
            const uint2 block = blocks[y / 4 * (BC_WIDTH / 4) + x / 4];
            return bc_colour(block, block.y >> 2 * (y % 4 * 4 + x % 4) & 3);
        },
        0, 13);
}

static void bc1_pixel(Run &run)
{
    bc1(run, [](const uint2 *from, uint32_t *to) {
        bc1_pixel_kernel<<<dim3(BC_WIDTH / 16, BC_HEIGHT / 16), dim3(16, 16)>>>(from, to);
    });
}

static void bc1_block(Run &run)
{
    bc1(run, [](const uint2 *from, uint32_t *to) {
        bc1_block_kernel<<<blocks_for(BC_WIDTH * BC_HEIGHT / 16, 128), 128>>>(from, to);
    });
}

// ---- Colours from a camera's mosaic of red, green and blue: a thread per pixel or per 2 x 2 ----

enum { MOSAIC_WIDTH = 2016, MOSAIC_HEIGHT = 1500 };

// `p`: the pixel's upper left neighbour.
__host__ __device__ inline uint32_t mosaic_colour(const int *p, int stride, int odd_x, int odd_y)
{
    const int *q = p + stride, *r = q + stride;
    const int across = (q[0] + q[2]) / 2, down = (p[1] + r[1]) / 2;
    const int cross = (q[0] + q[2] + p[1] + r[1]) / 4, diagonal = (p[0] + p[2] + r[0] + r[2]) / 4;
    if (odd_x == odd_y) {
        const int red = odd_x ? diagonal : q[1], blue = odd_x ? q[1] : diagonal;
        return red | cross << 8 | blue << 16;
    }
    return (odd_y ? down : across) | q[1] << 8 | (odd_y ? across : down) << 16;
}

__host__ __device__ inline int mosaic_at(const uint8_t *in, int x, int y)
{
    x = x < 0 ? 0 : x >= MOSAIC_WIDTH ? MOSAIC_WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= MOSAIC_HEIGHT ? MOSAIC_HEIGHT - 1 : y;
    return in[y * MOSAIC_WIDTH + x];
}

__host__ __device__ inline uint32_t mosaic_pixel(const uint8_t *in, int x, int y)
{
    int p[9];
    for (int k = 0; k < 9; k++)
        p[k] = mosaic_at(in, x + k % 3 - 1, y + k / 3 - 1);
    return mosaic_colour(p, 3, x % 2, y % 2);
}

__global__ void mosaic_pixel_kernel(const uint8_t *in, uint32_t *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < MOSAIC_WIDTH && y < MOSAIC_HEIGHT)
        out[y * MOSAIC_WIDTH + x] = mosaic_pixel(in, x, y);
}

__global__ void mosaic_quad_kernel(const uint8_t *in, uint32_t *out)
{
    const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    int p[16];
    if (x >= MOSAIC_WIDTH || y >= MOSAIC_HEIGHT)
        return;
#pragma unroll
    for (int k = 0; k < 16; k++)
        p[k] = mosaic_at(in, x + k % 4 - 1, y + k / 4 - 1);
    for (int odd = 0; odd < 2; odd++)
        *(uint2 *) &out[(y + odd) * MOSAIC_WIDTH + x] = make_uint2(
            mosaic_colour(p + 4 * odd, 4, 0, odd), mosaic_colour(p + 4 * odd + 1, 4, 1, odd));
}

static void mosaic(Run &run, void (*kernel)(const uint8_t *, uint32_t *), int per_thread)
{
    const int n = MOSAIC_WIDTH * MOSAIC_HEIGHT;
    std::vector<uint8_t> raw(n);
    for (int i = 0; i < n; i++)
        raw[i] = (uint8_t) (mix(i + 3002) >> 24);
    uint8_t *from = run.upload(raw);
    uint32_t *to = run.zeros<uint32_t>(n);
    const dim3 grid(blocks_for(MOSAIC_WIDTH / per_thread, 32),
                    blocks_for(MOSAIC_HEIGHT / per_thread, 4));
    run.measure([=] { kernel<<<grid, dim3(32, 4)>>>(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) { return mosaic_pixel(raw.data(), i % MOSAIC_WIDTH, i / MOSAIC_WIDTH); }, 0, 11);
}

static void mosaic_each(Run &run)
{
    mosaic(run, mosaic_pixel_kernel, 1);
}

static void mosaic_quad(Run &run)
{
    mosaic(run, mosaic_quad_kernel, 2);
}

// ---- Adler-32 of messages of 768 bytes: a thread or a warp per message ----

enum { ADLER_BYTES = 768 };

__global__ void adler_thread_kernel(const uint8_t *in, uint32_t *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t a = 1, b = 0;
    if (i >= n)
        return;
    for (int k = 0; k < ADLER_BYTES; k++) {
        a = (a + in[i * ADLER_BYTES + k]) % 65521;
        b = (b + a) % 65521;
    }
    out[i] = b << 16 | a;
}

__global__ void adler_warp_kernel(const uint8_t *in, uint32_t *out, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    uint32_t sum = 0, weighted = 0;
    if (i >= n)
        return;
    const uchar4 *from = (const uchar4 *) (in + i * ADLER_BYTES);
    for (int k = lane; k < ADLER_BYTES / 4; k += 32) {
        const uchar4 v = from[k];
        const uint32_t left = ADLER_BYTES - 4 * k;
        sum += v.x + v.y + v.z + v.w;
        weighted += left * v.x + (left - 1) * v.y + (left - 2) * v.z + (left - 3) * v.w;
    }
    sum = __reduce_add_sync(~0u, sum);
    weighted = __reduce_add_sync(~0u, weighted);
    if (lane == 0)
        out[i] = (weighted + ADLER_BYTES) % 65521 << 16 | (sum + 1) % 65521;
}

static void adler(Run &run, void (*kernel)(const uint8_t *, uint32_t *, int), int per_message)
{
    const int n = 12000;
    std::vector<uint8_t> text(n * ADLER_BYTES);
    for (size_t i = 0; i < text.size(); i++)
        text[i] = (uint8_t) (mix((uint32_t) i + 3003) >> 24);
    uint8_t *from = run.upload(text);
    uint32_t *to = run.zeros<uint32_t>(n);
    run.measure([=] { kernel<<<blocks_for(n * per_message, 128), 128>>>(from, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            uint32_t a = 1, b = 0;
            for (int k = 0; k < ADLER_BYTES; k++) {
                a = (a + text[i * ADLER_BYTES + k]) % 65521;
                b = (b + a) % 65521;
            }
            return b << 16 | a;
        },
        0, 7);
}

static void adler_thread(Run &run)
{
    adler(run, adler_thread_kernel, 1);
}

static void adler_warp(Run &run)
{
    adler(run, adler_warp_kernel, 32);
}

// ---- Motion of blocks of 8 x 8 pixels: the best of 17 x 17 shifts; window read or staged ----

enum { MOVE_WIDTH = 272, MOVE_HEIGHT = 176, MOVE_REACH = 8, MOVE_SHIFTS = 17, MOVE_WINDOW = 24 };

__host__ __device__ inline int move_clamped(int at, int size)
{
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

__host__ __device__ inline int move_difference(const uint8_t *now, const uint8_t *past, int left,
                                               int top, int dx, int dy)
{
    int sum = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            const int row = move_clamped(top + y + dy, MOVE_HEIGHT);
            const int column = move_clamped(left + x + dx, MOVE_WIDTH);
            sum += abs(now[(top + y) * MOVE_WIDTH + left + x] - past[row * MOVE_WIDTH + column]);
        }
    return sum;
}

__global__ void motion_global_kernel(const uint8_t *now, const uint8_t *past, uint32_t *out)
{
    __shared__ uint32_t best;
    const int shift = threadIdx.x, left = blockIdx.x * 8, top = blockIdx.y * 8;
    if (shift == 0)
        best = ~0u;
    __syncthreads(); // `best` is set
    if (shift < MOVE_SHIFTS * MOVE_SHIFTS) {
        const int dx = shift % MOVE_SHIFTS - MOVE_REACH, dy = shift / MOVE_SHIFTS - MOVE_REACH;
        atomicMin(&best, move_difference(now, past, left, top, dx, dy) << 16 | shift);
    }
    __syncthreads(); // all shifts were tried
    if (shift == 0)
        out[blockIdx.y * gridDim.x + blockIdx.x] = best;
}

__global__ void motion_shared_kernel(const uint8_t *now, const uint8_t *past, uint32_t *out)
{
    __shared__ uint8_t block[64], window[MOVE_WINDOW * MOVE_WINDOW];
    __shared__ uint32_t best;
    const int shift = threadIdx.x, left = blockIdx.x * 8, top = blockIdx.y * 8;
    if (shift == 0)
        best = ~0u;
    if (shift < 64)
        block[shift] = now[(top + shift / 8) * MOVE_WIDTH + left + shift % 8];
    for (int i = shift; i < MOVE_WINDOW * MOVE_WINDOW; i += blockDim.x) {
        const int row = move_clamped(top + i / MOVE_WINDOW - MOVE_REACH, MOVE_HEIGHT);
        const int column = move_clamped(left + i % MOVE_WINDOW - MOVE_REACH, MOVE_WIDTH);
        window[i] = past[row * MOVE_WIDTH + column];
    }
    __syncthreads(); // block and window are here
    if (shift < MOVE_SHIFTS * MOVE_SHIFTS) {
        const uint8_t *at = window + shift / MOVE_SHIFTS * MOVE_WINDOW + shift % MOVE_SHIFTS;
        uint32_t sum = 0;
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++)
                sum += abs(block[y * 8 + x] - at[y * MOVE_WINDOW + x]);
        atomicMin(&best, sum << 16 | shift);
    }
    __syncthreads(); // all shifts were tried
    if (shift == 0)
        out[blockIdx.y * gridDim.x + blockIdx.x] = best;
}

static void motion(Run &run, void (*kernel)(const uint8_t *, const uint8_t *, uint32_t *))
{
    const int n = MOVE_WIDTH * MOVE_HEIGHT, across = MOVE_WIDTH / 8, down = MOVE_HEIGHT / 8;
    std::vector<uint8_t> now(n), past(n);
    for (int i = 0; i < n; i++) {
        past[i] = (uint8_t) (mix(i + 3004) >> 24);
        now[i] = i >= 3 * MOVE_WIDTH ? past[i - 3 * MOVE_WIDTH + 2] : 0;
    }
    uint8_t *dn = run.upload(now), *dp = run.upload(past);
    uint32_t *to = run.zeros<uint32_t>(across * down);
    run.measure([=] { kernel<<<dim3(across, down), 320>>>(dn, dp, to); });
    run.expect_all(
        run.output(to, across * down),
        [&](int i) {
            uint32_t best = ~0u;
            for (int s = 0; s < MOVE_SHIFTS * MOVE_SHIFTS; s++)
                best = std::min<uint32_t>(best, move_difference(now.data(), past.data(),
                                                                i % across * 8, i / across * 8,
                                                                s % MOVE_SHIFTS - MOVE_REACH,
                                                                s / MOVE_SHIFTS - MOVE_REACH)
                                                        << 16 |
                                                    s);
            return best;
        },
        0, 5);
}

static void motion_global(Run &run)
{
    motion(run, motion_global_kernel);
}

static void motion_shared(Run &run)
{
    motion(run, motion_shared_kernel);
}

#endif
