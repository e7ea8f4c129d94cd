// residues.cuh - arithmetic of remainders: inverses, powers, Chinese remainders, symbols.
#ifndef BLIND_RESIDUES_CUH
#define BLIND_RESIDUES_CUH

#include "blind.cuh"

enum { RESIDUE_PRIME = 1000000007 };

// ---- Inverses modulo a prime: Euclid's algorithm, or a power ----

enum { INVERSES = 393216 };

__host__ __device__ inline int inverse_euclid(int a)
{
    int r = RESIDUE_PRIME, s = a, x = 0, y = 1;
    while (s) {
        const int q = r / s, rest = r - q * s, next = x - q * y;
        r = s;
        s = rest;
        x = y;
        y = next;
    }
    return x < 0 ? x + RESIDUE_PRIME : x;
}

__host__ __device__ inline int inverse_power(int a)
{
    unsigned long long result = 1, square = a;
    for (unsigned e = RESIDUE_PRIME - 2; e; e >>= 1) {
        if (e & 1)
            result = result * square % RESIDUE_PRIME;
        square = square * square % RESIDUE_PRIME;
    }
    return (int) result;
}

template <bool POWER> __global__ void inverses_kernel(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = POWER ? inverse_power(in[i]) : inverse_euclid(in[i]);
}

template <bool POWER> static void inverses(Run &run)
{
    std::vector<int> in = integers(INVERSES, RESIDUE_PRIME - 1, 11060);
    for (int &v : in)
        v++;
    const int *from = run.upload(in);
    int *to = run.zeros<int>(INVERSES);
    run.measure([=] { inverses_kernel<POWER><<<INVERSES / 128, 128>>>(from, to); });
    run.expect_all(
        run.output(to, INVERSES), [&](size_t i) { return inverse_power(in[i]); }, 0, 41);
}

static void modinverse_euclid(Run &run)
{
    inverses<false>(run);
}

static void modinverse_power(Run &run)
{
    inverses<true>(run);
}

// ---- Products of chunks modulo a number known when the program runs: %, or Barrett's way ----

enum { BARRETT_THREADS = 4096, BARRETT_EACH = 512 };

struct BarrettModulus {
    unsigned value;
    unsigned long long inverse; // 2^64 / value
};

template <bool BARRETT>
__device__ inline unsigned modulo_product(unsigned a, unsigned b, BarrettModulus m)
{
    const unsigned long long product = (unsigned long long) a * b;
    if (!BARRETT)
        return (unsigned) (product % m.value);
    const unsigned long long rest = product - __umul64hi(product, m.inverse) * m.value;
    return (unsigned) (rest >= m.value ? rest - m.value : rest);
}

template <bool BARRETT>
__global__ void chunk_products_kernel(const unsigned *in, BarrettModulus m, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned result = 1;
    for (int k = 0; k < BARRETT_EACH; k++)
        result = modulo_product<BARRETT>(result, in[k * BARRETT_THREADS + i], m);
    out[i] = result;
}

template <bool BARRETT> static void chunk_products(Run &run)
{
    const BarrettModulus m = { 998244353u, ~0ull / 998244353u };
    std::vector<uint32_t> in = words(BARRETT_THREADS * BARRETT_EACH, 11061);
    for (uint32_t &v : in)
        v %= m.value;
    const unsigned *from = run.upload(in);
    unsigned *to = run.zeros<unsigned>(BARRETT_THREADS);
    run.measure([=] { chunk_products_kernel<BARRETT><<<BARRETT_THREADS / 64, 64>>>(from, m, to); });
    run.expect_all(
        run.output(to, BARRETT_THREADS),
        [&](size_t i) {
            unsigned long long result = 1;
            for (int k = 0; k < BARRETT_EACH; k++)
                result = result * in[k * BARRETT_THREADS + i] % m.value;
            return result;
        },
        0, 17);
}

static void modproduct_remainder(Run &run)
{
    chunk_products<false>(run);
}

static void modproduct_barrett(Run &run)
{
    chunk_products<true>(run);
}

// ---- Numbers from 8 residues by mixed radix: residues of a number together, or in planes ----

enum { CHINESE = 1 << 18, CHINESE_PARTS = 8 };

struct ChinesePrimes {
    int prime[CHINESE_PARTS], inverse[CHINESE_PARTS][CHINESE_PARTS]; // of prime[i] modulo prime[j]
};

__constant__ ChinesePrimes chinese_constants;

__host__ __device__ inline unsigned long long chinese_number(int *digit, const ChinesePrimes &c)
{
    unsigned long long result = 0;
#pragma unroll
    for (int i = 0; i < CHINESE_PARTS; i++)
#pragma unroll
        for (int j = i + 1; j < CHINESE_PARTS; j++)
            digit[j] = (digit[j] - digit[i] + c.prime[j]) * c.inverse[i][j] % c.prime[j];
#pragma unroll
    for (int i = CHINESE_PARTS - 1; i >= 0; i--)
        result = result * c.prime[i] + digit[i];
    return result;
}

template <bool PLANES>
__global__ void chinese_kernel(const unsigned char *in, unsigned long long *out)
{
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    int digit[CHINESE_PARTS];
#pragma unroll
    for (int k = 0; k < CHINESE_PARTS; k++)
        digit[k] = in[PLANES ? k * CHINESE + n : n * CHINESE_PARTS + k];
    out[n] = chinese_number(digit, chinese_constants);
}

static ChinesePrimes chinese_primes()
{
    ChinesePrimes c = { { 197, 199, 211, 223, 227, 229, 233, 239 }, {} };
    for (int i = 0; i < CHINESE_PARTS; i++)
        for (int j = i + 1; j < CHINESE_PARTS; j++)
            for (int v = 1; v < c.prime[j]; v++)
                if (v * c.prime[i] % c.prime[j] == 1)
                    c.inverse[i][j] = v;
    return c;
}

template <bool PLANES> static void chinese(Run &run)
{
    const ChinesePrimes c = chinese_primes();
    const std::vector<uint32_t> numbers = words(2 * CHINESE, 11062);
    std::vector<unsigned char> in(CHINESE * CHINESE_PARTS);
    std::vector<unsigned long long> wanted(CHINESE);
    for (int n = 0; n < CHINESE; n++) {
        wanted[n] = (unsigned long long) numbers[2 * n] << 29 ^ numbers[2 * n + 1];
        for (int k = 0; k < CHINESE_PARTS; k++)
            in[PLANES ? k * CHINESE + n : n * CHINESE_PARTS + k] = wanted[n] % c.prime[k];
    }
    const unsigned char *from = run.upload(in);
    unsigned long long *to = run.zeros<unsigned long long>(CHINESE);
    CHECK(cudaMemcpyToSymbol(chinese_constants, &c, sizeof c));
    run.measure([=] { chinese_kernel<PLANES><<<CHINESE / 256, 256>>>(from, to); });
    const std::vector<unsigned long long> got = run.output(to, CHINESE);
    for (int n = 0; n < CHINESE; n += 71)
        run.expect(got[n] == wanted[n], 1, 0);
}

static void chinese_together(Run &run)
{
    chinese<false>(run);
}

static void chinese_planes(Run &run)
{
    chinese<true>(run);
}

// ---- Quadratic residues: Jacobi's symbol by reciprocity, or Euler's power ----

enum { QUADRATICS = 327680 };

__host__ __device__ inline int symbol_jacobi(unsigned a, unsigned n)
{
    int sign = 1;
    while (a) {
        while (a % 2 == 0) {
            a /= 2;
            if (n % 8 == 3 || n % 8 == 5)
                sign = -sign;
        }
        const unsigned swap = a;
        a = n;
        n = swap;
        if (a % 4 == 3 && n % 4 == 3)
            sign = -sign;
        a %= n;
    }
    return n == 1 ? sign : 0;
}

__host__ __device__ inline int symbol_euler(unsigned a, unsigned p)
{
    unsigned long long result = 1, square = a;
    for (unsigned e = (p - 1) / 2; e; e >>= 1) {
        if (e & 1)
            result = result * square % p;
        square = square * square % p;
    }
    return result == 1 ? 1 : result == 0 ? 0 : -1;
}

template <bool EULER> __global__ void symbols_kernel(const int *in, unsigned p, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = EULER ? symbol_euler(in[i], p) : symbol_jacobi(in[i], p);
}

template <bool EULER> static void symbols(Run &run)
{
    const std::vector<int> in = integers(QUADRATICS, 65521, 11063);
    const int *from = run.upload(in);
    int *to = run.zeros<int>(QUADRATICS);
    run.measure([=] { symbols_kernel<EULER><<<QUADRATICS / 32, 32>>>(from, 65521, to); });
    run.expect_all(
        run.output(to, QUADRATICS), [&](size_t i) { return symbol_euler(in[i], 65521); }, 0, 43);
}

static void quadratic_jacobi(Run &run)
{
    symbols<false>(run);
}

static void quadratic_euler(Run &run)
{
    symbols<true>(run);
}

#endif
