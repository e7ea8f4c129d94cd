// ciphers.cuh - ciphers and codes: AES rounds, ChaCha20, parity of disks, UTF-8, Mersenne twister.
#ifndef BLIND_CIPHERS_CUH
#define BLIND_CIPHERS_CUH

#include "blind.cuh"

// Products in the field of 256 elements. `polynomial`: its low 8 bits.
static inline int field_product(int a, int b, int polynomial)
{
    int product = 0;
    for (; b; b >>= 1) {
        product ^= b & 1 ? a : 0;
        a = (a << 1 & 255) ^ (a & 128 ? polynomial : 0);
    }
    return product;
}

// ---- AES-128 rounds by four tables of 256 words: from global or from shared memory ----

enum { AES_ROUNDS = 10, AES_WORDS = 4 * 256 };

__constant__ uint32_t aes_key[4 * (AES_ROUNDS + 1)];

// The last round mixes like the others: the tables have no plain bytes.
__host__ __device__ inline uint4 aes_rounds(uint4 v, const uint32_t *table, const uint32_t *key)
{
    v = make_uint4(v.x ^ key[0], v.y ^ key[1], v.z ^ key[2], v.w ^ key[3]);
    for (int round = 1; round <= AES_ROUNDS; round++) {
        const uint32_t *a = table, *b = a + 256, *c = b + 256, *d = c + 256, *k = key + 4 * round;
        uint32_t x = a[v.x & 255] ^ b[v.y >> 8 & 255] ^ c[v.z >> 16 & 255] ^ d[v.w >> 24] ^ k[0];
        uint32_t y = a[v.y & 255] ^ b[v.z >> 8 & 255] ^ c[v.w >> 16 & 255] ^ d[v.x >> 24] ^ k[1];
        uint32_t z = a[v.z & 255] ^ b[v.w >> 8 & 255] ^ c[v.x >> 16 & 255] ^ d[v.y >> 24] ^ k[2];
        uint32_t w = a[v.w & 255] ^ b[v.x >> 8 & 255] ^ c[v.y >> 16 & 255] ^ d[v.z >> 24] ^ k[3];
        v = make_uint4(x, y, z, w);
    }
    return v;
}

__global__ void aes_global_kernel(const uint4 *in, uint4 *out, const uint32_t *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = aes_rounds(in[i], table, aes_key);
}

__global__ void aes_shared_kernel(const uint4 *in, uint4 *out, const uint32_t *table, int n)
{
    __shared__ uint32_t local[AES_WORDS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < AES_WORDS; k += blockDim.x)
        local[k] = table[k];
    __syncthreads(); // the tables are complete
    if (i < n)
        out[i] = aes_rounds(in[i], local, aes_key);
}

static std::vector<uint32_t> aes_tables()
{
    std::vector<uint32_t> table(AES_WORDS);
    for (int v = 0; v < 256; v++) {
        int inverse = 0, s = 0x63;
        while (v && field_product(v, inverse, 0x1b) != 1)
            inverse++;
        for (int k = 0; k < 5; k++)
            s ^= (inverse << k | inverse >> (8 - k)) & 255;
        uint32_t word = field_product(s, 2, 0x1b) | s << 8 | s << 16 |
                        (uint32_t) field_product(s, 3, 0x1b) << 24;
        for (int k = 0; k < 4; k++, word = word << 8 | word >> 24)
            table[256 * k + v] = word;
    }
    return table;
}

static void aes(Run &run, void (*kernel)(const uint4 *, uint4 *, const uint32_t *, int))
{
    const int n = 130000;
    const std::vector<uint32_t> in = words(n * 4, 671), key = words(4 * (AES_ROUNDS + 1), 672);
    const std::vector<uint32_t> table = aes_tables();
    const uint4 *from = (uint4 *) run.upload(in), *host = (const uint4 *) in.data();
    const uint32_t *dt = run.upload(table);
    uint4 *to = run.zeros<uint4>(n);
    CHECK(cudaMemcpyToSymbol(aes_key, key.data(), sizeof(aes_key)));
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(from, to, dt, n); });
    const std::vector<uint4> got = run.output(to, n);
    for (int i = 0; i < n; i += 17) {
        const uint4 wanted = aes_rounds(host[i], table.data(), key.data());
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].w, wanted.w, 0);
    }
}

static void aes_global(Run &run)
{
    aes(run, aes_global_kernel);
}

static void aes_shared(Run &run)
{
    aes(run, aes_shared_kernel);
}

// ---- ChaCha20: a thread per block of 64 bytes, or four lanes per block ----

enum { CHACHA_DOUBLE_ROUNDS = 10 };

struct ChachaKey {
    uint32_t word[16]; // constants, key, counter, nonce
};

__host__ __device__ inline uint32_t rotated_left(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

__host__ __device__ inline void chacha_quarter(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d)
{
    a += b;
    d = rotated_left(d ^ a, 16);
    c += d;
    b = rotated_left(b ^ c, 12);
    a += b;
    d = rotated_left(d ^ a, 8);
    c += d;
    b = rotated_left(b ^ c, 7);
}

__host__ __device__ inline void chacha_block(const ChachaKey &key, uint32_t counter,
                                             uint32_t (&v)[16])
{
    for (int k = 0; k < 16; k++)
        v[k] = key.word[k] + (k == 12 ? counter : 0);
    for (int round = 0; round < CHACHA_DOUBLE_ROUNDS; round++) {
        chacha_quarter(v[0], v[4], v[8], v[12]);
        chacha_quarter(v[1], v[5], v[9], v[13]);
        chacha_quarter(v[2], v[6], v[10], v[14]);
        chacha_quarter(v[3], v[7], v[11], v[15]);
        chacha_quarter(v[0], v[5], v[10], v[15]);
        chacha_quarter(v[1], v[6], v[11], v[12]);
        chacha_quarter(v[2], v[7], v[8], v[13]);
        chacha_quarter(v[3], v[4], v[9], v[14]);
    }
    for (int k = 0; k < 16; k++)
        v[k] += key.word[k] + (k == 12 ? counter : 0);
}

__global__ void chacha_thread_kernel(const uint4 *in, uint4 *out, ChachaKey key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t v[16];
    if (i >= n)
        return;
    chacha_block(key, i, v);
    for (int k = 0; k < 4; k++) {
        uint4 text = in[4 * i + k];
        out[4 * i + k] = make_uint4(text.x ^ v[4 * k], text.y ^ v[4 * k + 1], text.z ^ v[4 * k + 2],
                                    text.w ^ v[4 * k + 3]);
    }
}

// A lane has one column; it turns rows so that the diagonals become columns.
__global__ void chacha_lanes_kernel(const uint32_t *in, uint32_t *out, ChachaKey key, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 4, block = i / 4;
    const uint32_t count = lane == 0 ? block : 0;
    uint32_t a = key.word[lane], b = key.word[4 + lane], c = key.word[8 + lane];
    uint32_t d = key.word[12 + lane] + count;
    for (int round = 0; round < CHACHA_DOUBLE_ROUNDS; round++) {
        chacha_quarter(a, b, c, d);
        b = __shfl_sync(~0u, b, lane + 1, 4);
        c = __shfl_sync(~0u, c, lane + 2, 4);
        d = __shfl_sync(~0u, d, lane + 3, 4);
        chacha_quarter(a, b, c, d);
        b = __shfl_sync(~0u, b, lane + 3, 4);
        c = __shfl_sync(~0u, c, lane + 2, 4);
        d = __shfl_sync(~0u, d, lane + 1, 4);
    }
    if (block >= n)
        return;
    const int at = 16 * block + lane;
    out[at] = in[at] ^ (a + key.word[lane]);
    out[at + 4] = in[at + 4] ^ (b + key.word[4 + lane]);
    out[at + 8] = in[at + 8] ^ (c + key.word[8 + lane]);
    out[at + 12] = in[at + 12] ^ (d + key.word[12 + lane] + count);
}

static void chacha(Run &run, bool lanes)
{
    const int n = 110000;
    const std::vector<uint32_t> in = words((size_t) n * 16, 673), drawn = words(16, 674);
    ChachaKey key;
    std::copy(drawn.begin(), drawn.end(), key.word);
    uint32_t *from = run.upload(in), *to = run.zeros<uint32_t>(in.size());
    run.measure([=] {
        if (lanes)
            chacha_lanes_kernel<<<blocks_for(n * 4, 256), 256>>>(from, to, key, n);
        else
            chacha_thread_kernel<<<blocks_for(n, 128), 128>>>((uint4 *) from, (uint4 *) to, key, n);
    });
    const std::vector<uint32_t> got = run.output(to, in.size());
    for (int i = 0; i < n; i += 41) {
        uint32_t v[16];
        chacha_block(key, i, v);
        for (int k = 0; k < 16; k++)
            run.expect(got[16 * i + k], v[k] ^ in[16 * i + k], 0);
    }
}

static void chacha_thread(Run &run)
{
    chacha(run, false);
}

static void chacha_lanes(Run &run)
{
    chacha(run, true);
}

// ---- Two parities of 8 disks: a byte per thread by logarithms, or a word per thread by shifts
// ----

enum { DISKS = 8, DISK_BYTES = 1600000 };

struct FieldTables {
    unsigned char power[512], logarithm[256];
};

__global__ void raid_tables_kernel(const unsigned char *disk, unsigned char *parity,
                                   const FieldTables *tables)
{
    __shared__ FieldTables local;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = threadIdx.x; k < sizeof(local); k += blockDim.x)
        ((unsigned char *) &local)[k] = ((const unsigned char *) tables)[k];
    __syncthreads(); // the tables are complete
    if (i >= DISK_BYTES)
        return;
    int p = 0, q = 0;
    for (int d = 0; d < DISKS; d++) {
        int v = disk[d * DISK_BYTES + i];
        p ^= v;
        if (v)
            q ^= local.power[local.logarithm[v] + d];
    }
    parity[i] = (unsigned char) p;
    parity[DISK_BYTES + i] = (unsigned char) q;
}

// Doubles four bytes at once.
__device__ inline uint32_t doubled_bytes(uint32_t v)
{
    uint32_t high = v & 0x80808080;
    return (v << 1 & 0xfefefefe) ^ ((high >> 7) * 0x1d);
}

__global__ void raid_words_kernel(const uint32_t *disk, uint32_t *parity)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, words = DISK_BYTES / 4;
    uint32_t p = 0, q = 0;
    if (i >= words)
        return;
    for (int d = DISKS - 1; d >= 0; d--) {
        uint32_t v = disk[d * words + i];
        p ^= v;
        q = doubled_bytes(q) ^ v;
    }
    parity[i] = p;
    parity[words + i] = q;
}

static FieldTables field_tables()
{
    FieldTables tables = {};
    for (int k = 0, v = 1; k < 512; k++, v = field_product(v, 2, 0x1d)) {
        tables.power[k] = (unsigned char) v;
        if (k < 255)
            tables.logarithm[v] = (unsigned char) k;
    }
    return tables;
}

static void raid(Run &run, bool by_words)
{
    const std::vector<uint32_t> in = words(DISKS * DISK_BYTES / 4, 675);
    const unsigned char *byte = (const unsigned char *) in.data();
    uint32_t *from = run.upload(in), *to = run.zeros<uint32_t>(2 * DISK_BYTES / 4);
    const FieldTables *tables = run.upload(std::vector<FieldTables>(1, field_tables()));
    run.measure([=] {
        if (by_words)
            raid_words_kernel<<<blocks_for(DISK_BYTES / 4, 256), 256>>>(from, to);
        else
            raid_tables_kernel<<<blocks_for(DISK_BYTES, 512), 512>>>((unsigned char *) from,
                                                                     (unsigned char *) to, tables);
    });
    run.expect_all(
        run.output((unsigned char *) to, 2 * DISK_BYTES),
        [&](size_t i) {
            int sum = 0;
            for (int d = DISKS - 1; d >= 0; d--)
                sum = byte[d * DISK_BYTES + i % DISK_BYTES] ^
                      (i < DISK_BYTES ? sum : field_product(sum, 2, 0x1d));
            return sum;
        },
        0, 31);
}

static void raid_tables(Run &run)
{
    raid(run, false);
}

static void raid_words(Run &run)
{
    raid(run, true);
}

// ---- Characters of a UTF-8 text: a byte per thread and turn, or 16 bytes ----

__device__ inline void utf8_add_block(int count, int *total)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads(); // the sum is zero
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, count);
    __syncthreads(); // the block's sum is complete
    if (threadIdx.x == 0)
        atomicAdd(total, sum);
}

__global__ void utf8_bytes_kernel(const unsigned char *text, int *total, int n)
{
    int count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if ((text[i] & 0xc0) != 0x80)
            count++;
    utf8_add_block(count, total);
}

// Bytes that begin a character: bit 7 is clear or bit 6 is set.
__device__ inline int utf8_starts(uint32_t v)
{
    return __popc((~v >> 7 | v >> 6) & 0x01010101);
}

__global__ void utf8_words_kernel(const uint4 *text, int *total, int n)
{
    int count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) {
        uint4 v = text[i];
        count += utf8_starts(v.x) + utf8_starts(v.y) + utf8_starts(v.z) + utf8_starts(v.w);
    }
    utf8_add_block(count, total);
}

static void utf8(Run &run, bool by_words)
{
    const int n = 16000000;
    const std::vector<uint32_t> text = words(n / 4, 676);
    const unsigned char *byte = (const unsigned char *) text.data();
    uint32_t *from = run.upload(text);
    int *total = run.zeros<int>(1), wanted = 0;
    run.measure(
        [=] {
            if (by_words)
                utf8_words_kernel<<<660, 256>>>((uint4 *) from, total, n);
            else
                utf8_bytes_kernel<<<1320, 256>>>((unsigned char *) from, total, n);
        },
        [=] { CHECK(cudaMemset(total, 0, sizeof(int))); });
    for (int i = 0; i < n; i++)
        wanted += (byte[i] & 0xc0) != 0x80;
    run.expect(run.output(total, 1)[0], wanted, 0);
}

static void utf8_bytes(Run &run)
{
    utf8(run, false);
}

static void utf8_words(Run &run)
{
    utf8(run, true);
}

// ---- Mersenne twister: a generator of 624 words per thread, in local memory ----

enum { TWISTER_WORDS = 624, TWISTER_AHEAD = 397 };

__host__ __device__ inline uint32_t twister_sum(uint32_t seed)
{
    uint32_t state[TWISTER_WORDS], sum = 0;
    state[0] = seed;
    for (int k = 1; k < TWISTER_WORDS; k++)
        state[k] = 1812433253u * (state[k - 1] ^ state[k - 1] >> 30) + k;
    for (int k = 0; k < TWISTER_WORDS; k++) {
        uint32_t v = (state[k] & 0x80000000u) | (state[(k + 1) % TWISTER_WORDS] & 0x7fffffffu);
        state[k] = state[(k + TWISTER_AHEAD) % TWISTER_WORDS] ^ v >> 1 ^ (v & 1 ? 0x9908b0dfu : 0);
        v = state[k];
        v ^= v >> 11;
        v ^= v << 7 & 0x9d2c5680u;
        v ^= v << 15 & 0xefc60000u;
        sum += v ^ v >> 18;
    }
    return sum;
}

__global__ void twister_kernel(uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = twister_sum(i * 2654435761u + 1);
}

static void twister_local(Run &run)
{
    const int n = 5000;
    uint32_t *to = run.zeros<uint32_t>(n);
    run.measure([=] { twister_kernel<<<blocks_for(n, 64), 64>>>(to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return twister_sum((uint32_t) i * 2654435761u + 1); }, 0,
        9);
}

#endif
