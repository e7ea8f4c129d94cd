// codes.cuh - codes and games: a stream cipher, reversed bits, common subsequences, factors, random
// games.
#ifndef BLIND_CODES_CUH
#define BLIND_CODES_CUH

#include "blind.cuh"

// ---- Streams of RC4: the 256 bytes of a thread's state in local or shared memory ----

enum { RC4_STREAMS = 6144, RC4_BYTES = 160, RC4_KEY = 16, RC4_BLOCK = 64 };

// STRIDE: between the bytes of one state.
template <int STRIDE>
__host__ __device__ inline void rc4_stream(unsigned char *s, const unsigned char *key,
                                           unsigned char *out)
{
    for (int i = 0; i < 256; i++)
        s[i * STRIDE] = i;
    for (int i = 0, j = 0; i < 256; i++) {
        const unsigned char a = s[i * STRIDE];
        j = (j + a + key[i % RC4_KEY]) & 255;
        s[i * STRIDE] = s[j * STRIDE];
        s[j * STRIDE] = a;
    }
    for (int k = 0, i = 0, j = 0; k < RC4_BYTES; k++) {
        i = (i + 1) & 255;
        const unsigned char a = s[i * STRIDE];
        j = (j + a) & 255;
        const unsigned char b = s[j * STRIDE];
        s[i * STRIDE] = b;
        s[j * STRIDE] = a;
        out[k] ^= s[((a + b) & 255) * STRIDE];
    }
}

__global__ void rc4_local_kernel(const unsigned char *key, unsigned char *text)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char s[256];
    rc4_stream<1>(s, key + i * RC4_KEY, text + i * RC4_BYTES);
}

__global__ void __launch_bounds__(RC4_BLOCK)
    rc4_shared_kernel(const unsigned char *key, unsigned char *text)
{
    __shared__ unsigned char s[256 * RC4_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rc4_stream<RC4_BLOCK>(s + threadIdx.x, key + i * RC4_KEY, text + i * RC4_BYTES);
}

static void rc4(Run &run, void (*kernel)(const unsigned char *, unsigned char *))
{
    const int n = RC4_STREAMS * RC4_BYTES;
    const std::vector<int> raw = integers(RC4_STREAMS * RC4_KEY, 256, 791);
    const std::vector<unsigned char> key(raw.begin(), raw.end());
    unsigned char *dk = run.upload(key), *text = run.zeros<unsigned char>(n);
    run.measure([=] { kernel<<<RC4_STREAMS / RC4_BLOCK, RC4_BLOCK>>>(dk, text); },
                [=] { CHECK(cudaMemset(text, 0, n)); });
    const std::vector<unsigned char> got = run.output(text, n);
    for (int i = 0; i < RC4_STREAMS; i += 83) {
        unsigned char s[256], wanted[RC4_BYTES] = {};
        rc4_stream<1>(s, &key[i * RC4_KEY], wanted);
        for (int k = 0; k < RC4_BYTES; k++)
            run.expect(got[i * RC4_BYTES + k], wanted[k], 0);
    }
}

static void rc4_local(Run &run)
{
    rc4(run, rc4_local_kernel);
}

static void rc4_shared(Run &run)
{
    rc4(run, rc4_shared_kernel);
}

// ---- Values in the order of reversed bits: directly, or by tiles of 32 by 32 ----

enum { REVERSED_BITS = 21 };

__host__ __device__ inline unsigned reversed(unsigned x, int bits)
{
#ifdef __CUDA_ARCH__
    return __brev(x) >> (32 - bits);
#else
    unsigned y = 0;
    for (int k = 0; k < bits; k++)
        y |= (x >> k & 1) << (bits - 1 - k);
    return y;
#endif
}

__global__ void reversed_direct_kernel(const float2 *in, float2 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[reversed(i, REVERSED_BITS)] = in[i];
}

// The highest and the lowest 5 bits change places through the tile; the block has those between.
__global__ void __launch_bounds__(256) reversed_tiles_kernel(const float2 *in, float2 *out)
{
    __shared__ float2 tile[32][33];
    const int middle = REVERSED_BITS - 10, high = REVERSED_BITS - 5, x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[reversed(y, 5)][x] = in[y << high | blockIdx.x << 5 | x];
    __syncthreads(); // the tile is complete
    for (int y = threadIdx.y; y < 32; y += 8)
        out[y << high | reversed(blockIdx.x, middle) << 5 | x] = tile[x][reversed(y, 5)];
}

static void reversed_order(Run &run, bool tiles)
{
    const int n = 1 << REVERSED_BITS;
    const std::vector<float> in = floats(2 * n, 792);
    const float2 *from = (const float2 *) run.upload(in);
    float2 *to = run.zeros<float2>(n);
    run.measure([=] {
        if (tiles)
            reversed_tiles_kernel<<<n / 1024, dim3(32, 8)>>>(from, to);
        else
            reversed_direct_kernel<<<n / 256, 256>>>(from, to);
    });
    const std::vector<float2> got = run.output(to, n);
    for (int i = 0; i < n; i += 37) {
        run.expect(got[i].x, in[2 * reversed(i, REVERSED_BITS)], 0);
        run.expect(got[i].y, in[2 * reversed(i, REVERSED_BITS) + 1], 0);
    }
}

static void reversed_direct(Run &run)
{
    reversed_order(run, false);
}

static void reversed_tiles(Run &run)
{
    reversed_order(run, true);
}

// ---- The longest common subsequence of 32 and 128 letters: a row of lengths, or bits with carries
// ----

enum { LCS_SHORT = 32, LCS_LONG = 128, LCS_PAIRS = 8000 };

__global__ void lcs_rows_kernel(const unsigned char *a, const unsigned char *b, int *length)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char row[LCS_SHORT], letter[LCS_SHORT];
    if (i >= LCS_PAIRS)
        return;
#pragma unroll
    for (int k = 0; k < LCS_SHORT; k++) {
        row[k] = 0;
        letter[k] = a[i * LCS_SHORT + k];
    }
    for (int j = 0; j < LCS_LONG; j++) {
        const unsigned char other = b[i * LCS_LONG + j];
        unsigned char corner = 0, left = 0;
#pragma unroll
        for (int k = 0; k < LCS_SHORT; k++) {
            const unsigned char up = row[k], longest = left > up ? left : up;
            left = letter[k] == other ? corner + 1 : longest;
            row[k] = left;
            corner = up;
        }
    }
    length[i] = row[LCS_SHORT - 1];
}

__global__ void lcs_bits_kernel(const unsigned char *a, const unsigned char *b, int *length)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned same[4] = {}, open = ~0u; // clear bits: the length grows here
    if (i >= LCS_PAIRS)
        return;
    for (int k = 0; k < LCS_SHORT; k++)
        for (int letter = 0; letter < 4; letter++)
            same[letter] |= (unsigned) (a[i * LCS_SHORT + k] == letter) << k;
    for (int j = 0; j < LCS_LONG; j++) {
        const int other = b[i * LCS_LONG + j];
        const unsigned match =
            other < 2 ? (other ? same[1] : same[0]) : (other == 2 ? same[2] : same[3]);
        open = (open + (open & match)) | (open & ~match);
    }
    length[i] = __popc(~open);
}

static int lcs_length(const unsigned char *a, const unsigned char *b)
{
    std::vector<int> row(LCS_SHORT + 1), before;
    for (int j = 0; j < LCS_LONG; j++) {
        before = row;
        for (int k = 1; k <= LCS_SHORT; k++)
            row[k] = a[k - 1] == b[j] ? before[k - 1] + 1 : std::max(row[k - 1], before[k]);
    }
    return row[LCS_SHORT];
}

static void lcs(Run &run, void (*kernel)(const unsigned char *, const unsigned char *, int *))
{
    const std::vector<int> one = integers(LCS_PAIRS * LCS_SHORT, 4, 793),
                           two = integers(LCS_PAIRS * LCS_LONG, 4, 794);
    const std::vector<unsigned char> a(one.begin(), one.end()), b(two.begin(), two.end());
    unsigned char *da = run.upload(a), *db = run.upload(b);
    int *length = run.zeros<int>(LCS_PAIRS);
    run.measure([=] { kernel<<<blocks_for(LCS_PAIRS, 64), 64>>>(da, db, length); });
    run.expect_all(
        run.output(length, LCS_PAIRS),
        [&](size_t i) { return lcs_length(&a[i * LCS_SHORT], &b[i * LCS_LONG]); }, 0, 19);
}

static void lcs_rows(Run &run)
{
    lcs(run, lcs_rows_kernel);
}

static void lcs_bits(Run &run)
{
    lcs(run, lcs_bits_kernel);
}

// ---- Factors by Pollard's rho: remainders of 64 bits, or Montgomery's products ----

struct Remainder {
    unsigned n;

    __host__ __device__ explicit Remainder(unsigned n) : n(n)
    {
    }

    __host__ __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return (unsigned long long) a * b % n;
    }
};

struct Montgomery {
    unsigned n, inverse;

    __host__ __device__ explicit Montgomery(unsigned n) : n(n), inverse(n)
    {
        for (int k = 0; k < 4; k++)
            inverse *= 2 - n * inverse;
    }

    __host__ __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        const unsigned long long product = (unsigned long long) a * b;
        const unsigned multiple = (unsigned) product * inverse;
        const unsigned take = (unsigned long long) multiple * n >> 32, high = product >> 32;
        return high >= take ? high - take : high - take + n;
    }
};

__host__ __device__ inline unsigned common_factor(unsigned a, unsigned b)
{
    while (b) {
        const unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

template <class Product> __host__ __device__ inline unsigned rho_factor(unsigned n)
{
    const Product product(n);
    for (unsigned plus = 1;; plus++) {
        unsigned slow = 2, fast = 2, factor = 1;
        while (factor == 1) {
            unsigned all = 1;
            for (int k = 0; k < 8; k++) {
                slow = (product(slow, slow) + plus) % n;
                fast = (product(fast, fast) + plus) % n;
                fast = (product(fast, fast) + plus) % n;
                all = product(all, slow > fast ? slow - fast : fast - slow);
            }
            factor = common_factor(n, all);
        }
        if (factor != n)
            return factor;
    }
}

template <class Product> __global__ void rho_kernel(const unsigned *number, unsigned *factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        factor[i] = rho_factor<Product>(number[i]);
}

// Products of two primes between 2000 and 12000.
static void rho(Run &run, void (*kernel)(const unsigned *, unsigned *, int))
{
    const int n = 2048;
    std::vector<unsigned> prime, number(n);
    for (unsigned p = 2001; p < 12000; p += 2) {
        unsigned d = 3;
        while (d * d <= p && p % d)
            d += 2;
        if (d * d > p)
            prime.push_back(p);
    }
    const std::vector<int> pick = integers(2 * n, prime.size() / 2, 795);
    for (int i = 0; i < n; i++)
        number[i] = prime[2 * pick[2 * i]] * prime[2 * pick[2 * i + 1] + 1];
    unsigned *dn = run.upload(number), *factor = run.zeros<unsigned>(n);
    run.measure([=] { kernel<<<blocks_for(n, 32), 32>>>(dn, factor, n); });
    const std::vector<unsigned> got = run.output(factor, n);
    for (int i = 0; i < n; i++)
        run.expect(got[i] > 1 && got[i] < number[i] && number[i] % got[i] == 0, 1, 0);
}

static void rho_remainder(Run &run)
{
    rho(run, rho_kernel<Remainder>);
}

static void rho_montgomery(Run &run)
{
    rho(run, rho_kernel<Montgomery>);
}

// ---- Random games of four in a row on 7 by 6 places, as bits ----

__host__ __device__ inline bool has_four(unsigned long long stones)
{
    bool found = false;
    for (int step : { 1, 6, 7, 8 }) { // up, and the three ways to the right
        const unsigned long long two = stones & stones >> step;
        found |= (two & two >> 2 * step) != 0;
    }
    return found;
}

// 1 or 2: the winner; 0: a draw. Columns have 7 bits, the highest of which stays clear.
__host__ __device__ inline int random_game(unsigned seed, int *moves)
{
    unsigned long long own = 0, other = 0;
    unsigned state = seed * 2654435761u + 1;
    for (int move = 0; move < 42; move++) {
        unsigned long long place;
        do {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            const int column = (state >> 8) % 7;
            const unsigned long long all = (own | other) + (1ull << 7 * column);
            place = all & ~(own | other) & 0x3full << 7 * column;
        } while (!place);
        own |= place;
        if (has_four(own)) {
            *moves = move + 1;
            return 1 + move % 2;
        }
        const unsigned long long mine = own;
        own = other;
        other = mine;
    }
    *moves = 42;
    return 0;
}

__global__ void games_kernel(uchar2 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int moves;
    if (i >= n)
        return;
    const int winner = random_game(i, &moves);
    out[i] = make_uchar2(winner, moves);
}

static void games_random(Run &run)
{
    const int n = 40000;
    uchar2 *to = run.zeros<uchar2>(n);
    run.measure([=] { games_kernel<<<blocks_for(n, 128), 128>>>(to, n); });
    const std::vector<uchar2> got = run.output(to, n);
    for (int i = 0; i < n; i += 11) {
        int moves;
        run.expect(got[i].x, random_game(i, &moves), 0);
        run.expect(got[i].y, moves, 0);
    }
}

#endif
