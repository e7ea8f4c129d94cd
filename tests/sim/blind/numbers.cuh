// numbers.cuh - arithmetic: common divisors, special functions, pairs of floats, decimal digits.
#ifndef BLIND_NUMBERS_CUH
#define BLIND_NUMBERS_CUH

#include "blind.cuh"

// ---- Greatest common divisors: by remainders, or by shifts and differences ----

__host__ __device__ inline unsigned gcd_by_remainders(unsigned a, unsigned b)
{
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

__global__ void gcd_remainders_kernel(const uint2 *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gcd_by_remainders(in[i].x, in[i].y);
}

__global__ void gcd_shifts_kernel(const uint2 *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = in[i].x, b = in[i].y;
    int common = __ffs((int) (a | b)) - 1;
    a >>= __ffs((int) a) - 1;
    while (b) {
        b >>= __ffs((int) b) - 1;
        unsigned least = min(a, b);
        b = max(a, b) - least;
        a = least;
    }
    out[i] = a << common;
}

template <class Launch> static void divisors(Run &run, Launch launch)
{
    const int n = 400000;
    std::vector<uint32_t> in = words(2 * n, 371);
    for (uint32_t &v : in)
        v |= 1u << v % 7; // never zero
    uint2 *from = (uint2 *) run.upload(in);
    unsigned *to = run.zeros<unsigned>(n);
    run.measure([=] { launch(from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return gcd_by_remainders(in[2 * i], in[2 * i + 1]); }, 0,
        7);
}

static void gcd_remainders(Run &run)
{
    divisors(run, [](uint2 *in, unsigned *out, int n) {
        gcd_remainders_kernel<<<blocks_for(n, 128), 128>>>(in, out, n);
    });
}

static void gcd_shifts(Run &run)
{
    divisors(run, [](uint2 *in, unsigned *out, int n) {
        gcd_shifts_kernel<<<blocks_for(n, 128), 128>>>(in, out, n);
    });
}

// ---- Special functions in double precision ----

__global__ void special_kernel(const float *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = lgamma(fabs((double) in[i]) + 0.5) + erf((double) in[i]) * j0((double) in[i]);
}

static void special_functions(Run &run)
{
    const int n = 300000;
    const std::vector<float> in = floats(n, 372, -12, 12);
    float *from = run.upload(in);
    double *to = run.zeros<double>(n);
    run.measure([=] { special_kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const double x = in[i];
            return lgamma(fabs(x) + 0.5) + erf(x) * j0(x);
        },
        1e-9, 17);
}

// ---- A polynomial of degree 31, applied 24 times: in double, or in pairs of floats ----

enum { PAIR_TERMS = 32, PAIR_ROUNDS = 24 };
__constant__ double pair_term[PAIR_TERMS];
__constant__ float2 pair_term_split[PAIR_TERMS];

__host__ __device__ inline double mapped(double x, const double *term)
{
    double sum = term[PAIR_TERMS - 1];
    for (int k = PAIR_TERMS - 2; k >= 0; k--)
        sum = sum * x + term[k];
    return sum;
}

__global__ void chain_double_kernel(const float *in, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    for (int round = 0; round < PAIR_ROUNDS; round++)
        x = mapped(x, pair_term);
    out[i] = x;
}

// The value is x + y; |y| is below half a unit in the last place of x.
__device__ inline float2 normal_pair(float x, float y)
{
    float sum = __fadd_rn(x, y);
    return make_float2(sum, __fadd_rn(y, -__fadd_rn(sum, -x)));
}

__device__ inline float2 pair_product(float2 a, float2 b)
{
    float high = __fmul_rn(a.x, b.x), low = __fmaf_rn(a.x, b.x, -high);
    low = __fmaf_rn(a.x, b.y, low);
    return normal_pair(high, __fmaf_rn(a.y, b.x, low));
}

__device__ inline float2 pair_sum(float2 a, float2 b)
{
    float sum = __fadd_rn(a.x, b.x), part = __fadd_rn(sum, -a.x);
    float low = __fadd_rn(__fadd_rn(a.x, -__fadd_rn(sum, -part)), __fadd_rn(b.x, -part));
    return normal_pair(sum, __fadd_rn(low, __fadd_rn(a.y, b.y)));
}

__global__ void chain_pairs_kernel(const float *in, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 x = make_float2(in[i], 0);
    for (int round = 0; round < PAIR_ROUNDS; round++) {
        float2 sum = pair_term_split[PAIR_TERMS - 1];
        for (int k = PAIR_TERMS - 2; k >= 0; k--)
            sum = pair_sum(pair_product(sum, x), pair_term_split[k]);
        x = sum;
    }
    out[i] = (double) x.x + x.y;
}

// The terms are small after the second, so that rounding errors do not grow.
template <class Launch> static void chain(Run &run, double tolerance, Launch launch)
{
    const int n = 80 * 96;
    const std::vector<float> raw = floats(PAIR_TERMS, 374), in = floats(n, 375);
    std::vector<double> term(raw.begin(), raw.end());
    std::vector<float2> split(PAIR_TERMS);
    for (int k = 0; k < PAIR_TERMS; k++) {
        term[k] *= k == 1 ? 0.9 : 0.01 / 3;
        split[k].x = (float) term[k];
        split[k].y = (float) (term[k] - split[k].x);
    }
    CHECK(cudaMemcpyToSymbol(pair_term, term.data(), sizeof(double) * PAIR_TERMS));
    CHECK(cudaMemcpyToSymbol(pair_term_split, split.data(), sizeof(float2) * PAIR_TERMS));
    float *from = run.upload(in);
    double *to = run.zeros<double>(n);
    run.measure([=] { launch(from, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double x = in[i];
            for (int round = 0; round < PAIR_ROUNDS; round++)
                x = mapped(x, term.data());
            return x;
        },
        tolerance, 13);
}

static void chain_double(Run &run)
{
    chain(run, 1e-12,
          [](float *in, double *out, int n) { chain_double_kernel<<<n / 96, 96>>>(in, out); });
}

static void chain_pairs(Run &run)
{
    chain(run, 1e-12,
          [](float *in, double *out, int n) { chain_pairs_kernel<<<n / 96, 96>>>(in, out); });
}

// ---- Decimal digits in fields of 12 bytes: one by one, reversed; or two at once by a table ----

__global__ void digits_each_kernel(const unsigned *in, char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    char reversed[10];
    if (i >= n)
        return;
    unsigned v = in[i];
    do {
        reversed[count++] = (char) ('0' + v % 10);
        v /= 10;
    } while (v);
    for (int k = 0; k < count; k++)
        out[i * 12 + k] = reversed[count - 1 - k];
}

__device__ inline int decimal_places(unsigned v)
{
    int places = 1;
    for (; v >= 10; v /= 10)
        places++;
    return places;
}

__global__ void digits_two_kernel(const unsigned *in, const char2 *__restrict__ two, char *out,
                                  int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = in[i];
    char *at = out + i * 12 + decimal_places(v);
    for (; v >= 10; v /= 100) {
        char2 pair = two[v % 100];
        *--at = pair.y;
        *--at = pair.x;
    }
    if (at > out + i * 12)
        *--at = (char) ('0' + v);
}

template <class Launch> static void digits(Run &run, Launch launch)
{
    const int n = 800000;
    std::vector<uint32_t> in = words(n, 376);
    std::vector<char2> two(100);
    for (int i = 0; i < n; i++)
        in[i] >>= mix(i) % 30;
    for (int k = 0; k < 100; k++)
        two[k] = make_char2((char) ('0' + k / 10), (char) ('0' + k % 10));
    unsigned *from = run.upload(in);
    char2 *dt = run.upload(two);
    char *to = run.zeros<char>((size_t) n * 12);
    run.measure([=] { launch(from, dt, to, n); });
    const std::vector<char> got = run.output(to, (size_t) n * 12);
    for (int i = 0; i < n; i += 5) {
        char wanted[12] = {};
        snprintf(wanted, sizeof(wanted), "%u", in[i]);
        for (int k = 0; k < 12; k++)
            run.expect(got[(size_t) i * 12 + k], wanted[k], 0);
    }
}

static void digits_each(Run &run)
{
    digits(run, [](unsigned *in, char2 *, char *out, int n) {
        digits_each_kernel<<<blocks_for(n, 256), 256>>>(in, out, n);
    });
}

static void digits_two(Run &run)
{
    digits(run, [](unsigned *in, char2 *two, char *out, int n) {
        digits_two_kernel<<<blocks_for(n, 256), 256>>>(in, two, out, n);
    });
}

#endif
