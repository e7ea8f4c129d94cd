// integers.cuh - integer work: hashes, large numbers, modular powers, Walsh-Hadamard transforms,
// edit distances, bits.
#ifndef BLIND_INTEGERS_CUH
#define BLIND_INTEGERS_CUH

#include "blind.cuh"

// ---- SHA-256 of one block of 64 bytes per thread ----

static const unsigned sha_host[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
__constant__ unsigned sha_constants[64];

__host__ __device__ inline unsigned turn(unsigned x, int by)
{
    return x >> by | x << (32 - by);
}

__host__ __device__ inline void sha_round(unsigned *s, unsigned word)
{
    unsigned a = s[0], e = s[4];
    unsigned t =
        s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + word;
    unsigned u =
        (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
#pragma unroll
    for (int i = 7; i > 0; i--)
        s[i] = s[i - 1];
    s[4] += t;
    s[0] = t + u;
}

// Word k of message i is at k * n + i; the first word of the digest.
__host__ __device__ inline unsigned sha_of(const unsigned *message, int i, int n,
                                           const unsigned *key)
{
    unsigned s[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    unsigned w[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        w[k] = message[k * n + i];
#pragma unroll
    for (int k = 0; k < 64; k++) {
        if (k >= 16) {
            unsigned a = w[(k + 1) % 16], b = w[(k + 14) % 16];
            w[k % 16] += (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[(k + 9) % 16] +
                         (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
        }
        sha_round(s, w[k % 16] + key[k]);
    }
    return s[0] + 0x6a09e667;
}

__global__ void sha_kernel(const unsigned *message, unsigned *digest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        digest[i] = sha_of(message, i, n, sha_constants);
}

static void sha_blocks(Run &run)
{
    const int n = 140000;
    const std::vector<uint32_t> message = words((size_t) n * 16, 171);
    CHECK(cudaMemcpyToSymbol(sha_constants, sha_host, sizeof sha_host));
    unsigned *from = run.upload(message), *to = run.zeros<unsigned>(n);
    run.measure([=] { sha_kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return sha_of(message.data(), (int) i, n, sha_host); },
        0, 97);
}

// ---- Products of 256 bits: limbs of 32 or 64 bits; word k of number i is at k * n + i ----

__global__ void big_product_32_kernel(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned left[8], sum[16] = {};
#pragma unroll
    for (int k = 0; k < 8; k++)
        left[k] = a[k * n + i];
#pragma unroll
    for (int row = 0; row < 8; row++) {
        unsigned long long carry = 0, by = b[row * n + i];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            carry += by * left[k] + sum[row + k];
            sum[row + k] = (unsigned) carry;
            carry >>= 32;
        }
        sum[row + 8] = (unsigned) carry;
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        out[k * n + i] = sum[k];
}

__host__ __device__ inline void big_product_64(const unsigned *a, const unsigned *b, unsigned *out,
                                               int i, int n)
{
    unsigned long long left[4], sum[8] = {};
#pragma unroll
    for (int k = 0; k < 4; k++)
        left[k] = a[2 * k * n + i] | (unsigned long long) a[(2 * k + 1) * n + i] << 32;
#pragma unroll
    for (int row = 0; row < 4; row++) {
        unsigned long long by = b[2 * row * n + i] | (unsigned long long) b[(2 * row + 1) * n + i]
                                                         << 32;
        unsigned __int128 carry = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            carry += (unsigned __int128) by * left[k] + sum[row + k];
            sum[row + k] = (unsigned long long) carry;
            carry >>= 64;
        }
        sum[row + 4] = (unsigned long long) carry;
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        out[k * n + i] = (unsigned) (sum[k / 2] >> k % 2 * 32);
}

__global__ void big_product_64_kernel(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        big_product_64(a, b, out, i, n);
}

template <class Launch> static void big_product(Run &run, Launch launch)
{
    const int n = 380000;
    const std::vector<uint32_t> a = words((size_t) n * 8, 172), b = words((size_t) n * 8, 173);
    std::vector<uint32_t> wanted((size_t) n * 16);
    unsigned *da = run.upload(a), *db = run.upload(b), *out = run.zeros<unsigned>(wanted.size());
    run.measure([=] { launch(da, db, out, n); });
    for (int i = 0; i < n; i++)
        big_product_64(a.data(), b.data(), wanted.data(), i, n);
    run.expect_all(
        run.output(out, wanted.size()), [&](size_t i) { return wanted[i]; }, 0, 7);
}

static void big_limbs_32(Run &run)
{
    big_product(run, [](unsigned *a, unsigned *b, unsigned *out, int n) {
        big_product_32_kernel<<<blocks_for(n, 256), 256>>>(a, b, out, n);
    });
}

static void big_limbs_64(Run &run)
{
    big_product(run, [](unsigned *a, unsigned *b, unsigned *out, int n) {
        big_product_64_kernel<<<blocks_for(n, 256), 256>>>(a, b, out, n);
    });
}

// ---- Powers modulo a number of each thread, by 64-bit remainders ----

__host__ __device__ inline unsigned power_of(unsigned base, unsigned exponent, unsigned modulus)
{
    unsigned long long result = 1, square = base % modulus;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = result * square % modulus;
        square = square * square % modulus;
    }
    return (unsigned) result;
}

__global__ void power_kernel(const unsigned *modulus, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = power_of(i + 2, 65537 + i % 1021, modulus[i]);
}

static void modular_power(Run &run)
{
    const int n = 150000;
    std::vector<uint32_t> modulus = words(n, 174);
    for (uint32_t &m : modulus)
        m |= 1u << 30;
    unsigned *dm = run.upload(modulus), *out = run.zeros<unsigned>(n);
    run.measure([=] { power_kernel<<<blocks_for(n, 256), 256>>>(dm, out, n); });
    run.expect_all(
        run.output(out, n),
        [&](size_t i) {
            return power_of((unsigned) i + 2, 65537 + (unsigned) i % 1021, modulus[i]);
        },
        0, 17);
}

// ---- Walsh-Hadamard transforms of 1024 values: in shared memory, or in a warp's registers ----

__global__ void walsh_shared_kernel(const float *in, float *out)
{
    __shared__ float v[1024];
    int t = threadIdx.x, at = blockIdx.x * 1024;
    for (int i = t; i < 1024; i += 256)
        v[i] = in[at + i];
    for (int half = 1; half < 1024; half *= 2) {
        __syncthreads(); // the previous stage is complete
        for (int i = t; i < 512; i += 256) {
            int low = 2 * i - (i & (half - 1));
            float a = v[low], b = v[low + half];
            v[low] = a + b;
            v[low + half] = a - b;
        }
    }
    __syncthreads(); // the last stage is complete
    for (int i = t; i < 1024; i += 256)
        out[at + i] = v[i];
}

// Value k of a lane is the row's value 32 * k + lane.
__global__ void walsh_warp_kernel(const float *in, float *out, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float v[32];
    if (row >= rows)
        return;
#pragma unroll
    for (int k = 0; k < 32; k++)
        v[k] = in[row * 1024 + 32 * k + lane];
#pragma unroll
    for (int half = 1; half < 32; half *= 2) {
#pragma unroll
        for (int k = 0; k < 32; k++) {
            float other = __shfl_xor_sync(~0u, v[k], half);
            v[k] = lane & half ? other - v[k] : other + v[k];
        }
#pragma unroll
        for (int k = 0; k < 32; k++)
            if (!(k & half)) {
                float a = v[k], b = v[k + half];
                v[k] = a + b;
                v[k + half] = a - b;
            }
    }
#pragma unroll
    for (int k = 0; k < 32; k++)
        out[row * 1024 + 32 * k + lane] = v[k];
}

template <class Launch> static void walsh(Run &run, Launch launch)
{
    const int rows = 2200;
    const std::vector<int> raw = integers((size_t) rows * 1024, 32, 175);
    const std::vector<float> in(raw.begin(), raw.end());
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, rows); });
    const std::vector<float> got = run.output(to, in.size());
    for (int row = 0; row < rows; row += 73)
        for (int f = 0; f < 1024; f += 33) {
            int sum = 0;
            for (int i = 0; i < 1024; i++)
                sum += __builtin_popcount(i & f) % 2 ? -raw[row * 1024 + i] : raw[row * 1024 + i];
            run.expect(got[row * 1024 + f], sum, 0);
        }
}

static void walsh_shared(Run &run)
{
    walsh(run,
          [](float *from, float *to, int rows) { walsh_shared_kernel<<<rows, 256>>>(from, to); });
}

static void walsh_warp(Run &run)
{
    walsh(run, [](float *from, float *to, int rows) {
        walsh_warp_kernel<<<blocks_for((size_t) rows * 32, 64), 64>>>(from, to, rows);
    });
}

// ---- Edit distances of words of 192 letters: a block with barriers, or a warp, per pair ----

enum { LETTERS = 192, WORD_PAIRS = 120 };

// Thread t computes column t + 1; each step is an antidiagonal.
__global__ void __launch_bounds__(LETTERS) edit_block_kernel(const char *a, const char *b, int *out)
{
    __shared__ int line[3][LETTERS + 1];
    __shared__ char word[LETTERS];
    int t = threadIdx.x, pair = blockIdx.x * LETTERS;
    word[t] = a[pair + t];
    char mine = b[pair + t];
    for (int step = 0; step < 2 * LETTERS - 1; step++) {
        int row = step - t, *now = line[step % 3], *last = line[(step + 2) % 3];
        int *before = line[(step + 1) % 3];
        __syncthreads(); // the previous antidiagonal is complete
        if (row < 0 || row >= LETTERS)
            continue;
        int up = row == 0 ? t + 1 : last[t + 1];
        int left = t == 0 ? row + 1 : last[t];
        int both = row == 0 ? t : t == 0 ? row : before[t];
        now[t + 1] = min(both + (word[row] != mine), min(up, left) + 1);
    }
    if (t == LETTERS - 1)
        out[blockIdx.x] = line[(2 * LETTERS - 2) % 3][LETTERS];
}

// Each lane computes six columns; it gets its left neighbour's last column by a shuffle.
__global__ void edit_warp_kernel(const char *a, const char *b, int *out)
{
    int lane = threadIdx.x, pair = blockIdx.x * LETTERS, above[6], last = 0;
    char mine[6];
    for (int k = 0; k < 6; k++) {
        mine[k] = b[pair + lane * 6 + k];
        above[k] = lane * 6 + k + 1;
    }
    int corner = lane * 6;
    for (int step = 0; step < LETTERS + 31; step++) {
        int row = step - lane, left = __shfl_up_sync(~0u, last, 1);
        if (row < 0 || row >= LETTERS)
            continue;
        if (lane == 0)
            left = row + 1;
        int both = corner;
        char letter = a[pair + row];
        corner = left;
#pragma unroll
        for (int k = 0; k < 6; k++) {
            int cell = min(both + (letter != mine[k]), min(above[k], left) + 1);
            both = above[k];
            above[k] = left = cell;
        }
        last = left;
    }
    if (lane == 31)
        out[blockIdx.x] = last;
}

static int edit_distance(const char *a, const char *b)
{
    int line[LETTERS + 1];
    for (int i = 0; i <= LETTERS; i++)
        line[i] = i;
    for (int row = 0; row < LETTERS; row++) {
        int both = line[0]++;
        for (int k = 0; k < LETTERS; k++) {
            const int up = line[k + 1];
            line[k + 1] = std::min(both + (a[row] != b[k]), std::min(up, line[k]) + 1);
            both = up;
        }
    }
    return line[LETTERS];
}

template <class Launch> static void edit(Run &run, Launch launch)
{
    const std::vector<int> x = integers(WORD_PAIRS * LETTERS, 4, 176),
                           y = integers(WORD_PAIRS * LETTERS, 4, 177);
    std::vector<char> a(x.begin(), x.end()), b(y.begin(), y.end());
    char *da = run.upload(a), *db = run.upload(b);
    int *out = run.zeros<int>(WORD_PAIRS);
    run.measure([=] { launch(da, db, out); });
    run.expect_all(
        run.output(out, WORD_PAIRS),
        [&](size_t i) { return edit_distance(&a[i * LETTERS], &b[i * LETTERS]); }, 0);
}

static void edit_block(Run &run)
{
    edit(run,
         [](char *a, char *b, int *out) { edit_block_kernel<<<WORD_PAIRS, LETTERS>>>(a, b, out); });
}

static void edit_warp(Run &run)
{
    edit(run, [](char *a, char *b, int *out) { edit_warp_kernel<<<WORD_PAIRS, 32>>>(a, b, out); });
}

// ---- Differences of signatures of 1024 bits, each with each ----

__global__ void signatures_kernel(const uint4 *a, const uint4 *b, short *out, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, sum = 0;
    if (col >= n)
        return;
    for (int k = 0; k < 8; k++) {
        uint4 x = a[row * 8 + k], y = b[col * 8 + k];
        sum += __popc(x.x ^ y.x) + __popc(x.y ^ y.y) + __popc(x.z ^ y.z) + __popc(x.w ^ y.w);
    }
    out[row * n + col] = (short) sum;
}

static void signatures(Run &run)
{
    const int m = 700, n = 900;
    const std::vector<uint32_t> a = words(m * 32, 178), b = words(n * 32, 179);
    uint4 *da = (uint4 *) run.upload(a), *db = (uint4 *) run.upload(b);
    short *out = run.zeros<short>(m * n);
    run.measure([=] { signatures_kernel<<<dim3(blocks_for(n, 96), m), 96>>>(da, db, out, n); });
    run.expect_all(
        run.output(out, m * n),
        [&](size_t i) {
            int sum = 0;
            for (size_t k = 0; k < 32; k++)
                sum += __builtin_popcount(a[i / n * 32 + k] ^ b[i % n * 32 + k]);
            return sum;
        },
        0, 101);
}

#endif
