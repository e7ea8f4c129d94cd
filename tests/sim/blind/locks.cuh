// locks.cuh - keyed hashes and block ciphers that fit in registers, and one with large tables.
#ifndef BLIND_LOCKS_CUH
#define BLIND_LOCKS_CUH

#include "blind.cuh"

// ---- XTEA: 32 rounds, with one block per thread or four at once ----

enum { XTEA_BLOCKS = 1 << 18 };

__host__ __device__ inline uint2 xtea_block(uint2 v, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (int r = 0; r < 32; r++) {
        v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + (sum & 1 ? a : b));
        sum += 0x9e3779b9u;
        v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + (sum >> 11 & 1 ? a : b));
    }
    return v;
}

template <int EACH> __global__ void xtea_kernel(const uint2 *in, uint2 *out, uint32_t a, uint32_t b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = XTEA_BLOCKS / EACH;
    uint2 v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++)
        v[k] = in[i + k * threads];
    uint32_t sum = 0;
#pragma unroll 1
    for (int r = 0; r < 32; r++) {
        const uint32_t first = sum + (sum & 1 ? a : b);
        sum += 0x9e3779b9u;
        const uint32_t second = sum + (sum >> 11 & 1 ? a : b);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            v[k].x += ((v[k].y << 4 ^ v[k].y >> 5) + v[k].y) ^ first;
            v[k].y += ((v[k].x << 4 ^ v[k].x >> 5) + v[k].x) ^ second;
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        out[i + k * threads] = v[k];
}

template <int EACH> static void xtea(Run &run)
{
    const std::vector<uint32_t> w = words(2 * XTEA_BLOCKS, 6301);
    const uint2 *from = (const uint2 *) run.upload(w);
    uint32_t *to = run.zeros<uint32_t>(2 * XTEA_BLOCKS);
    run.measure([=] {
        xtea_kernel<EACH><<<XTEA_BLOCKS / EACH / 128, 128>>>(from, (uint2 *) to, 77, 0xabcdef);
    });
    const std::vector<uint32_t> got = run.output(to, 2 * XTEA_BLOCKS);
    for (int i = 0; i < XTEA_BLOCKS; i += 509) {
        const uint2 wanted = xtea_block(make_uint2(w[2 * i], w[2 * i + 1]), 77, 0xabcdef);
        run.expect(got[2 * i], wanted.x, 0);
        run.expect(got[2 * i + 1], wanted.y, 0);
    }
}

static void xtea_one(Run &run)
{
    xtea<1>(run);
}

static void xtea_four(Run &run)
{
    xtea<4>(run);
}

// ---- SipHash of keys of 32 bytes: keys lie one after another, or as columns of words ----

enum { SIP_KEYS = 1 << 19, SIP_WORDS = 4 };

__host__ __device__ inline uint64_t sip_turn(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

__host__ __device__ inline void sip_round(uint64_t *v)
{
    v[0] += v[1];
    v[1] = sip_turn(v[1], 13) ^ v[0];
    v[0] = sip_turn(v[0], 32);
    v[2] += v[3];
    v[3] = sip_turn(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = sip_turn(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = sip_turn(v[1], 17) ^ v[2];
    v[2] = sip_turn(v[2], 32);
}

__host__ __device__ inline uint64_t sip_hash(const uint64_t *key, size_t stride)
{
    uint64_t v[4] = { 0x736f6d6570736575ull, 0x646f72616e646f6dull, 0x6c7967656e657261ull,
                      0x7465646279746573ull };
    for (int w = 0; w < SIP_WORDS; w++) {
        const uint64_t m = key[w * stride];
        v[3] ^= m;
        sip_round(v);
        sip_round(v);
        v[0] ^= m;
    }
    v[2] ^= 255;
    for (int r = 0; r < 4; r++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

template <bool COLUMNS> __global__ void sip_kernel(const uint64_t *keys, uint64_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = COLUMNS ? sip_hash(keys + i, SIP_KEYS) : sip_hash(keys + i * SIP_WORDS, 1);
}

template <bool COLUMNS> static void sip(Run &run)
{
    const std::vector<uint32_t> w = words(2 * SIP_KEYS * SIP_WORDS, 6302);
    const uint64_t *keys = (const uint64_t *) w.data();
    const uint64_t *from = (const uint64_t *) run.upload(w);
    uint64_t *to = run.zeros<uint64_t>(SIP_KEYS);
    run.measure([=] { sip_kernel<COLUMNS><<<SIP_KEYS / 256, 256>>>(from, to); });
    run.expect_all(
        run.output(to, SIP_KEYS),
        [&](size_t i) {
            return COLUMNS ? sip_hash(keys + i, SIP_KEYS) : sip_hash(keys + i * SIP_WORDS, 1);
        },
        0, 307);
}

static void sip_records(Run &run)
{
    sip<false>(run);
}

static void sip_columns(Run &run)
{
    sip<true>(run);
}

// ---- A Feistel cipher with four tables of 256 words: in constant memory, or in shared ----

enum { FEISTEL_BLOCKS = 1 << 18, FEISTEL_ROUNDS = 16 };

__constant__ uint32_t feistel_tables[1024];

template <class Tables> __host__ __device__ inline uint2 feistel_block(uint2 v, Tables s)
{
    for (int r = 0; r < FEISTEL_ROUNDS; r++) {
        const uint32_t x = v.x ^ r * 0x9e3779b9u;
        const uint32_t f = ((s[x >> 24] + s[256 + (x >> 16 & 255)]) ^ s[512 + (x >> 8 & 255)]) +
                           s[768 + (x & 255)];
        v = make_uint2(v.y ^ f, x);
    }
    return v;
}

__global__ void feistel_constant_kernel(const uint32_t *, const uint2 *in, uint2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = feistel_block(in[i], feistel_tables);
}

__global__ void feistel_shared_kernel(const uint32_t *tables, const uint2 *in, uint2 *out)
{
    __shared__ uint32_t s[1024];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        s[k] = tables[k];
    __syncthreads();
    out[i] = feistel_block(in[i], s);
}

static void feistel(Run &run, void (*kernel)(const uint32_t *, const uint2 *, uint2 *))
{
    const std::vector<uint32_t> w = words(2 * FEISTEL_BLOCKS, 6303), tables = words(1024, 6304);
    CHECK(cudaMemcpyToSymbol(feistel_tables, tables.data(), 4096));
    const uint32_t *dt = run.upload(tables);
    const uint2 *from = (const uint2 *) run.upload(w);
    uint32_t *to = run.zeros<uint32_t>(2 * FEISTEL_BLOCKS);
    run.measure([=] { kernel<<<FEISTEL_BLOCKS / 256, 256>>>(dt, from, (uint2 *) to); });
    const std::vector<uint32_t> got = run.output(to, 2 * FEISTEL_BLOCKS);
    for (int i = 0; i < FEISTEL_BLOCKS; i += 127)
        run.expect(got[2 * i], feistel_block(make_uint2(w[2 * i], w[2 * i + 1]), tables.data()).x,
                   0);
}

static void feistel_constant(Run &run)
{
    feistel(run, feistel_constant_kernel);
}

static void feistel_shared(Run &run)
{
    feistel(run, feistel_shared_kernel);
}

// ---- A PIN of five digits from its salted hash: threads of a user try all, or stop early ----

enum { PIN_USERS = 32, PIN_ROUNDS = 12, PIN_COUNT = 100000 };

__host__ __device__ inline uint32_t pin_hash(uint32_t pin, uint32_t salt)
{
    uint32_t h = salt ^ pin * 2654435761u;
    for (int r = 0; r < PIN_ROUNDS; r++) {
        h ^= h >> 16;
        h *= 0x7feb352du;
        h ^= h >> 15;
        h += salt;
    }
    return h;
}

template <bool STOP> __global__ void pin_kernel(const uint32_t *hashes, int *out)
{
    __shared__ int found;
    const uint32_t wanted = hashes[blockIdx.x];
    if (threadIdx.x == 0)
        found = PIN_COUNT;
    __syncthreads();
    for (int at = 0; at < PIN_COUNT; at += blockDim.x) {
        const int pin = at + threadIdx.x;
        if (pin < PIN_COUNT && pin_hash(pin, blockIdx.x) == wanted)
            atomicMin(&found, pin);
        if (STOP && __syncthreads_or(found < PIN_COUNT))
            break;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = found;
}

template <bool STOP> static void pins(Run &run)
{
    const std::vector<int> secret = integers(PIN_USERS, PIN_COUNT, 6305);
    std::vector<uint32_t> hashes(PIN_USERS);
    for (int u = 0; u < PIN_USERS; u++)
        hashes[u] = pin_hash(secret[u], u);
    const uint32_t *from = run.upload(hashes);
    int *to = run.zeros<int>(PIN_USERS);
    run.measure([=] { pin_kernel<STOP><<<PIN_USERS, 128>>>(from, to); });
    run.expect_all(
        run.output(to, PIN_USERS), [&](size_t u) { return secret[u]; }, 0);
}

static void pin_all(Run &run)
{
    pins<false>(run);
}

static void pin_stop(Run &run)
{
    pins<true>(run);
}

#endif
