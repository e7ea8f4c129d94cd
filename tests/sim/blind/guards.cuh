// guards.cuh - codes that guard data, and random numbers: parity words, Reed-Solomon, bit matrices.
#ifndef BLIND_GUARDS_CUH
#define BLIND_GUARDS_CUH

#include "blind.cuh"

// ---- Four random numbers per thread: computed from a counter, or from a state in memory ----

enum { DRAWS = 3 << 19 };

__host__ __device__ inline void draw_multiply(uint32_t a, uint32_t b, uint32_t *high, uint32_t *low)
{
    const unsigned long long product = (unsigned long long) a * b;
    *high = (uint32_t) (product >> 32);
    *low = (uint32_t) product;
}

// Ten rounds that mix a counter of four words with two keys.
__host__ __device__ inline uint4 draw_counter(uint32_t i)
{
    uint4 c = make_uint4(i, 0, 9701, 0);
    uint32_t k0 = 0x1234567u, k1 = 0x89abcdefu;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint32_t h0, l0, h1, l1;
        draw_multiply(0xd2511f53u, c.x, &h0, &l0);
        draw_multiply(0xcd9e8d57u, c.z, &h1, &l1);
        c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return c;
}

// Shifts and exclusive ors of five words, and a counter.
__host__ __device__ inline uint32_t draw_state(uint32_t *s)
{
    uint32_t t = s[0] ^ s[0] >> 2;
    for (int k = 0; k < 4; k++)
        s[k] = s[k + 1];
    s[4] = s[4] ^ s[4] << 4 ^ t ^ t << 1;
    s[5] += 362437;
    return s[4] + s[5];
}

__host__ __device__ inline float draw_float(uint32_t bits)
{
    return (bits >> 8) * 0x1p-24f;
}

__global__ void draws_counter_kernel(float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 c = draw_counter(i);
    out[i] = make_float4(draw_float(c.x), draw_float(c.y), draw_float(c.z), draw_float(c.w));
}

__global__ void draws_state_kernel(uint32_t *states, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t s[6];
    for (int k = 0; k < 6; k++)
        s[k] = states[k * DRAWS + i];
    float4 v;
    v.x = draw_float(draw_state(s));
    v.y = draw_float(draw_state(s));
    v.z = draw_float(draw_state(s));
    v.w = draw_float(draw_state(s));
    out[i] = v;
    for (int k = 0; k < 6; k++)
        states[k * DRAWS + i] = s[k];
}

static void draws_counter(Run &run)
{
    float *to = run.zeros<float>(4 * DRAWS);
    run.measure([=] { draws_counter_kernel<<<DRAWS / 256, 256>>>((float4 *) to); });
    const std::vector<float> got = run.output(to, 4 * DRAWS);
    for (int i = 0; i < DRAWS; i += 1009) {
        const uint4 c = draw_counter(i);
        run.expect(got[4 * i], draw_float(c.x), 0);
        run.expect(got[4 * i + 3], draw_float(c.w), 0);
    }
}

static void draws_state(Run &run)
{
    const std::vector<uint32_t> states = words(6 * DRAWS, 9702);
    const uint32_t *from = run.upload(states);
    uint32_t *ds = run.zeros<uint32_t>(6 * DRAWS);
    float *to = run.zeros<float>(4 * DRAWS);
    run.measure([=] { draws_state_kernel<<<DRAWS / 256, 256>>>(ds, (float4 *) to); },
                [=] {
                    const size_t size = 6 * DRAWS * sizeof(uint32_t);
                    CHECK(cudaMemcpy(ds, from, size, cudaMemcpyDeviceToDevice));
                });
    const std::vector<float> got = run.output(to, 4 * DRAWS);
    for (int i = 0; i < DRAWS; i += 1009) {
        uint32_t s[6];
        for (int k = 0; k < 6; k++)
            s[k] = states[k * DRAWS + i];
        for (int k = 0; k < 4; k++)
            run.expect(got[4 * i + k], draw_float(draw_state(s)), 0);
    }
}

// ---- Eight check bits per 64-bit word: parities of masks, or a table per byte ----

enum { PARITY_WORDS = 5 << 19 };

struct ParityMasks {
    unsigned long long bits[8];
};

__host__ __device__ inline unsigned long long parity_mask(int k)
{
    const unsigned long long m[8] = { 0x56aaad5baaaad5abull, 0x9b33366d33336cd5ull,
                                      0xe3c3c78e3c3c78f1ull, 0x03fc07f03fc07f01ull,
                                      0x03fff800003fff80ull, 0xfc0000003fffff80ull,
                                      0x5a5a3c3c0ff0f0ffull, 0xffffffffffffffffull };
    return m[k];
}

static int parity_bits(unsigned long long v)
{
    int check = 0;
    for (int k = 0; k < 8; k++)
        check |= (__builtin_popcountll(v & parity_mask(k)) & 1) << k;
    return check;
}

__global__ void parity_masks_kernel(const unsigned long long *in, ParityMasks masks,
                                    const unsigned char *, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long v = in[i];
    int check = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        check |= (__popcll(v & masks.bits[k]) & 1) << k;
    out[i] = (unsigned char) check;
}

__global__ void parity_table_kernel(const unsigned long long *in, ParityMasks,
                                    const unsigned char *table, unsigned char *out)
{
    __shared__ unsigned char t[8 * 256];
    for (int k = threadIdx.x; k < 512; k += blockDim.x)
        ((uint32_t *) t)[k] = ((const uint32_t *) table)[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long v = in[i];
    int check = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        check ^= t[k * 256 + (v >> 8 * k & 255)];
    out[i] = (unsigned char) check;
}

static void parity(Run &run, void (*kernel)(const unsigned long long *, ParityMasks,
                                            const unsigned char *, unsigned char *))
{
    const std::vector<uint32_t> in = words(2 * PARITY_WORDS, 9703);
    std::vector<unsigned char> table(8 * 256);
    for (int k = 0; k < 8 * 256; k++)
        table[k] = (unsigned char) parity_bits((k & 255ull) << k / 256 * 8);
    ParityMasks masks;
    for (int k = 0; k < 8; k++)
        masks.bits[k] = parity_mask(k);
    const unsigned long long *from = (const unsigned long long *) run.upload(in);
    const unsigned char *dt = run.upload(table);
    unsigned char *to = run.zeros<unsigned char>(PARITY_WORDS);
    run.measure([=] { kernel<<<PARITY_WORDS / 512, 512>>>(from, masks, dt, to); });
    run.expect_all(
        run.output(to, PARITY_WORDS),
        [&](size_t i) { return parity_bits(in[2 * i] | (unsigned long long) in[2 * i + 1] << 32); },
        0, 607);
}

static void parity_masks(Run &run)
{
    parity(run, parity_masks_kernel);
}

static void parity_table(Run &run)
{
    parity(run, parity_table_kernel);
}

// ---- Matrices of 32 x 32 bits are transposed: one per thread, or one per warp by shuffles ----

enum { BITMAT_COUNT = 1 << 17 };

// Exchanges the blocks of `by` bits off the diagonal, by = 16, 8, 4, 2, 1.
__host__ __device__ inline void bitmat_transpose(uint32_t *row)
{
    uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int by = 16; by; by /= 2, mask ^= mask << by)
#pragma unroll
        for (int k = 0; k < 32; k++)
            if (!(k & by)) {
                const uint32_t t = (row[k] >> by ^ row[k + by]) & mask;
                row[k] ^= t << by;
                row[k + by] ^= t;
            }
}

__global__ void bitmat_thread_kernel(const uint32_t *in, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t row[32];
#pragma unroll
    for (int k = 0; k < 32; k++)
        row[k] = in[i * 32 + k];
    bitmat_transpose(row);
#pragma unroll
    for (int k = 0; k < 32; k++)
        out[i * 32 + k] = row[k];
}

__global__ void bitmat_warp_kernel(const uint32_t *in, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    uint32_t row = in[i], mask = 0x0000ffffu;
#pragma unroll
    for (int by = 16; by; by /= 2, mask ^= mask << by) {
        const uint32_t other = __shfl_xor_sync(~0u, row, by);
        row =
            lane & by ? (row & ~mask) | (other >> by & mask) : (row & mask) | (other & mask) << by;
    }
    out[i] = row;
}

static void bitmat(Run &run, bool warps)
{
    const std::vector<uint32_t> in = words((size_t) BITMAT_COUNT * 32, 9704);
    const uint32_t *from = run.upload(in);
    uint32_t *to = run.zeros<uint32_t>(in.size());
    run.measure([=] {
        if (warps)
            bitmat_warp_kernel<<<BITMAT_COUNT * 32 / 256, 256>>>(from, to);
        else
            bitmat_thread_kernel<<<BITMAT_COUNT / 64, 64>>>(from, to);
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            uint32_t row = 0;
            for (int k = 0; k < 32; k++)
                row |= (in[i / 32 * 32 + k] >> i % 32 & 1) << k;
            return row;
        },
        0, 331);
}

static void bitmat_thread(Run &run)
{
    bitmat(run, false);
}

static void bitmat_warp(Run &run)
{
    bitmat(run, true);
}

// ---- Reed-Solomon: 16 syndromes of 255 bytes, all by one thread, or one each by 16 lanes ----

enum { RS_COUNT = 4096, RS_LENGTH = 255, RS_CHECKS = 16 };

// Doubles in the field of 256 elements.
__host__ __device__ inline int rs_double(int v)
{
    return v << 1 ^ (v & 128 ? 0x11d : 0);
}

// `table`: for each syndrome, its power of the generator times each byte.
__device__ inline void rs_load(unsigned char *t, const unsigned char *table)
{
    for (int k = threadIdx.x; k < RS_CHECKS * 256 / 4; k += blockDim.x)
        ((uint32_t *) t)[k] = ((const uint32_t *) table)[k];
    __syncthreads();
}

// Byte k of word i is at k * RS_COUNT + i.
__global__ void syndromes_thread_kernel(const unsigned char *in, const unsigned char *table,
                                        unsigned char *out)
{
    __shared__ unsigned char t[RS_CHECKS * 256];
    rs_load(t, table);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int syndrome[RS_CHECKS] = {};
    for (int k = 0; k < RS_LENGTH; k++) {
        const int byte = in[k * RS_COUNT + i];
#pragma unroll
        for (int j = 0; j < RS_CHECKS; j++)
            syndrome[j] = t[j * 256 + syndrome[j]] ^ byte;
    }
#pragma unroll
    for (int j = 0; j < RS_CHECKS; j++)
        out[i * RS_CHECKS + j] = (unsigned char) syndrome[j];
}

__global__ void syndromes_lanes_kernel(const unsigned char *in, const unsigned char *table,
                                       unsigned char *out)
{
    __shared__ unsigned char t[RS_CHECKS * 256];
    rs_load(t, table);
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / RS_CHECKS;
    const unsigned char *mine = t + thread % RS_CHECKS * 256;
    int syndrome = 0;
    for (int k = 0; k < RS_LENGTH; k++)
        syndrome = mine[syndrome] ^ in[k * RS_COUNT + i];
    out[thread] = (unsigned char) syndrome;
}

static void syndromes(Run &run, bool lanes)
{
    const std::vector<int> v = integers(RS_COUNT * RS_LENGTH, 256, 9705);
    const std::vector<unsigned char> in(v.begin(), v.end());
    std::vector<unsigned char> table(RS_CHECKS * 256);
    for (int k = 0; k < RS_CHECKS * 256; k++) {
        int value = k % 256;
        for (int j = 0; j < k / 256; j++)
            value = rs_double(value);
        table[k] = (unsigned char) value;
    }
    const unsigned char *from = run.upload(in), *dt = run.upload(table);
    unsigned char *to = run.zeros<unsigned char>(RS_COUNT * RS_CHECKS);
    run.measure([=] {
        if (lanes)
            syndromes_lanes_kernel<<<RS_COUNT * RS_CHECKS / 256, 256>>>(from, dt, to);
        else
            syndromes_thread_kernel<<<RS_COUNT / 32, 32>>>(from, dt, to);
    });
    run.expect_all(
        run.output(to, RS_COUNT * RS_CHECKS),
        [&](size_t i) {
            int syndrome = 0;
            for (int k = 0; k < RS_LENGTH; k++) {
                for (size_t j = 0; j < i % RS_CHECKS; j++)
                    syndrome = rs_double(syndrome);
                syndrome ^= in[k * RS_COUNT + i / RS_CHECKS];
            }
            return syndrome;
        },
        0, 211);
}

static void syndromes_thread(Run &run)
{
    syndromes(run, false);
}

static void syndromes_lanes(Run &run)
{
    syndromes(run, true);
}

// ---- Random numbers of a gamma distribution: drawn until one is accepted ----

enum { GAMMAS = 3 << 18 };

__host__ __device__ inline float gamma_draw(uint32_t i, float shape)
{
    const float d = shape - 1.0f / 3, c = 1 / sqrtf(9 * d);
    uint32_t s = i * 2654435769u + 9706;
    for (;;) {
        float u[3];
        for (int k = 0; k < 3; k++) {
            s = s * 1664525u + 1013904223u;
            const uint32_t mixed = (s ^ s >> 15) * 0x846ca68bu;
            u[k] = ((mixed >> 9) + 0.5f) * 0x1p-23f;
        }
        const float x = sqrtf(-2 * logf(u[0])) * cosf(6.2831853f * u[1]), t = 1 + c * x;
        const float v = t * t * t;
        if (v > 0 && logf(u[2]) < 0.5f * x * x + d - d * v + d * logf(v))
            return d * v;
    }
}

__global__ void gammas_kernel(const float *shapes, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = gamma_draw(i, shapes[i]);
}

static void gammas_rejected(Run &run)
{
    const std::vector<float> shapes = floats(GAMMAS, 9707, 1, 3);
    const float *from = run.upload(shapes);
    float *to = run.zeros<float>(GAMMAS);
    run.measure([=] { gammas_kernel<<<GAMMAS / 192, 192>>>(from, to); });
    const std::vector<float> got = run.output(to, GAMMAS);
    int differ = 0, count = 0; // rounding may decide otherwise
    for (int i = 0; i < GAMMAS; i += 101, count++)
        differ += fabs(got[i] - gamma_draw(i, shapes[i])) > 1e-3;
    run.expect(differ <= count / 200, 1, 0);
}

#endif
