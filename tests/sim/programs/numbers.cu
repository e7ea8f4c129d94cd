/* numbers.cu - integers of 32, 64 and 128 bits, bits, conversions, halves, roundings, functions.
 *
 * expect: ok
 */
#include "digest.h"

#include <cfenv>
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { N = 1024, THREADS = 128 };

#define EACH(i) int i = blockIdx.x * blockDim.x + threadIdx.x

template <typename... Parameters, typename... Arguments>
static void each(void (*kernel)(Parameters...), Arguments... arguments)
{
    kernel<<<N / THREADS, THREADS>>>(arguments...);
}

/* ---- 64 and 128 bits, with the compiler's long division ---- */

enum { WIDE = 12 };

static __host__ __device__ void wide_one(uint64_t a, uint64_t b, uint64_t *out)
{
    int64_t x = (int64_t) a, y = (int64_t) b;
    unsigned __int128 product = (unsigned __int128) a * b;
    __int128 mixed = (__int128) x * y - (__int128) a;

    out[0] = a * b;
    out[1] = a / b;
    out[2] = a % b;
    out[3] = (uint64_t) (x / y);
    out[4] = (uint64_t) (x % y);
    out[5] = (uint64_t) (product >> 64);
    out[6] = (uint64_t) (product >> (b & 127));
    out[7] = (uint64_t) (mixed >> 3);
    out[8] = (uint64_t) (mixed / (x >> 40 ? x >> 40 : 1));
    out[9] = a << (b & 63) | a >> (-b & 63);
    out[10] = (uint64_t) (x >> (b & 63)) ^ (a < b) ^ (uint64_t) (x < y) << 1;
    out[11] = (a & 0xffffffff) / ((b & 0xffff) | 1) + (uint32_t) a % ((uint32_t) b | 1);
}

static __global__ void wide(const uint64_t *x, uint64_t *y)
{
    EACH(i);

    wide_one(x[i], x[i + N] | 1, y + i * WIDE);
}

static void wides()
{
    Array<uint64_t> x(2 * N), y(N * WIDE);
    Random random(30);

    for (int i = 0; i < 2 * N; i++)
        x[i] = random.next64() >> random.below(63);
    x[0] = 0x8000000000000001ull, x[1] = ~0ull, x[N + 1] = 3;
    x.up();
    each(wide, x.device, y.device);
    y.down();
    for (int i = 0; i < N; i++) {
        uint64_t want[WIDE];
        wide_one(x[i], x[i + N] | 1, want);
        CHECK(!memcmp(want, y.host + i * WIDE, sizeof want));
    }
    digest("wide", y);
}

/* ---- Bits ---- */

enum { BITS = 16 };

static __global__ void bits(const uint32_t *x, uint32_t *y)
{
    EACH(i);
    uint32_t a = x[i], b = x[i + N], *out = y + i * BITS, field, inserted;
    uint64_t ab = (uint64_t) a << 32 | b;

    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(b & 31), "r"(b >> 5 & 31));
    asm("bfi.b32 %0, %1, %2, %3, %4;"
        : "=r"(inserted)
        : "r"(a), "r"(b), "r"(a & 31), "r"(a >> 5 & 31));
    out[0] = __popc(a);
    out[1] = __clz(a);
    out[2] = __brev(a);
    out[3] = __ffs(a);
    out[4] = __byte_perm(a, b, b);
    out[5] = __funnelshift_l(a, b, b);
    out[6] = __funnelshift_rc(a, b, b & 63);
    out[7] = field;
    out[8] = inserted;
    out[9] = __popcll(ab) + __clzll(ab) + __ffsll(ab);
    out[10] = __umulhi(a, b);
    out[11] = __sad((int) a, (int) b, 5) + __usad(a, b, 1);
    out[12] = __dp4a(a, b, 9u);
    out[13] = (uint32_t) (__brevll(ab) >> 7);
    out[14] = __mul24((int) a, (int) b);
    out[15] = (a & b) ^ (~a | b) ^ (a & ~b); /* lop3 on hardware */
}

static uint32_t reversed(uint32_t x)
{
    uint32_t y = 0;

    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}

static uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t both = (uint64_t) b << 32 | a;
    uint32_t y = 0;

    for (int i = 0; i < 4; i++)
        y |= (uint32_t) (both >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    return y;
}

static void bits_host(uint32_t a, uint32_t b, uint32_t *out)
{
    uint64_t ab = (uint64_t) a << 32 | b, ba = (uint64_t) b << 32 | a;
    uint32_t at = b & 31, length = b >> 5 & 31, into = a & 31, bits = a >> 5 & 31;
    uint32_t mask = (uint32_t) ((1ull << bits) - 1) << into, dot = 9;
    int64_t difference = llabs((int64_t) (int) a - (int) b), low = (int) (a << 8) >> 8;

    for (int i = 0; i < 4; i++)
        dot += (a >> 8 * i & 255) * (b >> 8 * i & 255);
    out[0] = __builtin_popcount(a);
    out[1] = a ? __builtin_clz(a) : 32;
    out[2] = reversed(a);
    out[3] = __builtin_ffs(a);
    out[4] = permuted(a, b, b);
    out[5] = (uint32_t) (ba << (b & 31) >> 32);
    out[6] = (uint32_t) (ba >> ((b & 63) > 32 ? 32 : b & 63));
    out[7] = (uint32_t) (((uint64_t) a >> at) & ((1ull << length) - 1));
    out[8] = (a << into & mask) | (b & ~mask);
    out[9] = __builtin_popcountll(ab) + (ab ? __builtin_clzll(ab) : 64) + __builtin_ffsll(ab);
    out[10] = (uint32_t) ((uint64_t) a * b >> 32);
    out[11] = (uint32_t) difference + 5 + (a > b ? a - b : b - a) + 1;
    out[12] = dot;
    out[13] = (uint32_t) (((uint64_t) reversed(b) << 32 | reversed(a)) >> 7);
    out[14] = (uint32_t) (low * ((int) (b << 8) >> 8));
    out[15] = (a & b) ^ (~a | b) ^ (a & ~b);
}

static void all_bits()
{
    Array<uint32_t> x(2 * N), y(N * BITS);
    Random random(31);

    for (int i = 0; i < 2 * N; i++)
        x[i] = i % 50 ? random.next() : 0;
    x.up();
    each(bits, x.device, y.device);
    y.down();
    for (int i = 0; i < N; i++) {
        uint32_t want[BITS];
        bits_host(x[i], x[i + N], want);
        CHECK(!memcmp(want, y.host + i * BITS, sizeof want));
    }
    digest("bits", y);
}

/* ---- Single and double precision, in the four rounding modes ---- */

enum { ROUNDED = 4 };

/* Volatile, so that the host computes after the rounding mode is set. */
#define ROUNDINGS(real, suffix, add, mul, div, sqrt_, function, root)                              \
    static __global__ void rounded_##suffix(const real *x, real *y)                                \
    {                                                                                              \
        EACH(i);                                                                                   \
        real a = x[i], b = x[i + N], *out = y + i * ROUNDED * 4;                                   \
                                                                                                   \
        out[0] = add##_rn(a, b), out[1] = add##_rz(a, b);                                          \
        out[2] = add##_rd(a, b), out[3] = add##_ru(a, b);                                          \
        out[4] = mul##_rn(a, b), out[5] = mul##_rz(a, b);                                          \
        out[6] = mul##_rd(a, b), out[7] = mul##_ru(a, b);                                          \
        out[8] = div##_rn(a, b), out[9] = div##_rz(a, b);                                          \
        out[10] = div##_rd(a, b), out[11] = div##_ru(a, b);                                        \
        a = fabs(a);                                                                               \
        out[12] = sqrt_##_rn(a), out[13] = sqrt_##_rz(a);                                          \
        out[14] = sqrt_##_rd(a), out[15] = sqrt_##_ru(a);                                          \
    }                                                                                              \
    static void function()                                                                         \
    {                                                                                              \
        static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };        \
        Array<real> x(2 * N), y(N *ROUNDED * 4);                                                   \
        Random random(32);                                                                         \
                                                                                                   \
        for (int i = 0; i < 2 * N; i++)                                                            \
            x[i] = (real) ldexp((double) ((int64_t) random.next64() | 1),                          \
                                (int) random.below(90) - 110);                                     \
        x.up();                                                                                    \
        each(rounded_##suffix, x.device, y.device);                                                \
        y.down();                                                                                  \
        for (int mode = 0; mode < 4; mode++) {                                                     \
            fesetround(modes[mode]);                                                               \
            for (int i = 0; i < N; i++) {                                                          \
                volatile real a = x[i], b = x[i + N], size = fabs(a);                              \
                volatile real sum = a + b, product = a * b, quotient = a / b, r = root(size);      \
                const real *got = y.host + i * 16 + mode;                                          \
                CHECK(got[0] == sum && got[4] == product && got[8] == quotient && got[12] == r);   \
            }                                                                                      \
            fesetround(FE_TONEAREST);                                                              \
        }                                                                                          \
        digest("rounded_" #suffix, y);                                                             \
    }
ROUNDINGS(float, f32, __fadd, __fmul, __fdiv, __fsqrt, roundings_f32, sqrtf)
ROUNDINGS(double, f64, __dadd, __dmul, __ddiv, __dsqrt, roundings_f64, sqrt)

/* ---- Conversions, including values out of range ---- */

enum { CONVERSIONS = 14 };

static __global__ void conversions(const double *x, long long *y)
{
    EACH(i);
    double a = x[i];
    float b = (float) a;
    long long *out = y + i * CONVERSIONS;

    out[0] = __double2int_rz(a);
    out[1] = __double2uint_rn(a);
    out[2] = __double2ll_rd(a);
    out[3] = (long long) __double2ull_ru(a);
    out[4] = __float2int_rn(b);
    out[5] = __float2uint_ru(b);
    out[6] = __float2ll_rz(b);
    out[7] = (long long) __float2ull_rd(b);
    out[8] = __float_as_int(__ll2float_rz(out[2]));
    out[9] = __double_as_longlong(__ll2double_ru(out[2]));
    out[10] = __float_as_int(__uint2float_rd((unsigned) out[5]));
    out[11] = __float_as_int(rintf(b)) ^ __float_as_int(floorf(b)) ^ __float_as_int(truncf(b));
    out[12] = __float_as_int(__double2float_ru(a));
    out[13] = (signed char) out[0] + (short) out[0] * 1000 + (unsigned char) out[1];
}

static void all_conversions()
{
    Array<double> x(N);
    Array<long long> y(N * CONVERSIONS);
    Random random(33);

    for (int i = 0; i < N; i++)
        x[i] = ldexp((double) (int64_t) random.next64(), -(int) random.below(80));
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = -0.0, x[4] = 2147483647.5, x[5] = 1e300;
    x.up();
    each(conversions, x.device, y.device);
    y.down();
    for (int i = 6; i < N; i++) {
        const long long *got = y.host + i * CONVERSIONS;
        double a = x[i], up = ceil(a);
        CHECK(got[0] == (a > 2147483647 ? 2147483647 : a < -2147483648. ? -2147483648LL : (int) a));
        CHECK(got[1] == (a < 0 ? 0 : a > 4294967295. ? 4294967295LL : (long long) rint(a)));
        CHECK(got[2] == (a >= 0x1p63 ? INT64_MAX : (long long) floor(a)));
        CHECK((uint64_t) got[3] == (a < 0 ? 0 : up >= 0x1p64 ? UINT64_MAX : (uint64_t) up));
    }
    digest("conversions", y); /* PTX does not define the result for x[0] */
}

/* ---- Halves ---- */

enum { HALVES = 8 };

static __global__ void halves(const __half2 *x, __half2 *y, __nv_bfloat162 *z)
{
    EACH(i);
    __half2 a = x[i], b = x[i + N], *out = y + i * HALVES;
    __nv_bfloat162 p = __float22bfloat162_rn(__half22float2(a));
    __nv_bfloat162 q = __float22bfloat162_rn(__half22float2(b));

    out[0] = __hadd2(a, b);
    out[1] = __hsub2(a, b);
    out[2] = __hmul2(a, b);
    out[3] = __hfma2(a, b, a);
    out[4] = __hmax2(a, b);
    out[5] = __hmin2(__hneg2(a), b);
    out[6] = __hgt2(a, b);
    out[7] = __hadd2_sat(a, b);
    z += i * HALVES;
    z[0] = p;
    z[1] = q;
    z[2] = __hadd2(p, q);
    z[3] = __hsub2(p, q);
    z[4] = __hmul2(p, q);
    z[5] = __hfma2(p, q, p);
    z[6] = __hmax2(p, q);
    z[7] = __hmin2(p, q);
}

static bool same(__half got, double want)
{
    __half h = __double2half(want);

    return !memcmp(&got, &h, sizeof h);
}

static bool same(__nv_bfloat16 got, double want)
{
    __nv_bfloat16 h = __double2bfloat16(want);

    return !memcmp(&got, &h, sizeof h);
}

static void check_halves(const __half2 *got, double a, double b)
{
    double sum = a + b;

    CHECK(same(got[0].x, sum) && same(got[1].x, a - b) && same(got[2].x, a * b));
    CHECK(same(got[3].x, fma(a, b, a)) && same(got[4].x, fmax(a, b)) &&
          same(got[5].x, fmin(-a, b)));
    CHECK(same(got[6].x, a > b) && same(got[7].x, sum < 0 ? 0 : sum > 1 ? 1 : sum));
}

static void check_bfloats(const __nv_bfloat162 *got)
{
    double a = __bfloat162float(got[0].y), b = __bfloat162float(got[1].y);

    CHECK(same(got[2].y, a + b) && same(got[3].y, a - b) && same(got[4].y, a * b));
    CHECK(same(got[5].y, fma(a, b, a)) && same(got[6].y, fmax(a, b)) && same(got[7].y, fmin(a, b)));
}

static void all_halves()
{
    Array<__half2> x(2 * N), y(N * HALVES);
    Array<__nv_bfloat162> z(N * HALVES);
    Random random(34);

    for (int i = 0; i < 2 * N; i++)
        x[i] = __floats2half2_rn(random.real() * 3, random.real() * 200);
    x.up();
    each(halves, x.device, y.device, z.device);
    y.down();
    z.down();
    for (int i = 0; i < N; i++) {
        check_halves(y.host + i * HALVES, __half2float(x[i].x), __half2float(x[i + N].x));
        check_bfloats(z.host + i * HALVES);
    }
    digest("f16", y);
    digest("bf16", z);
}

/* ---- Functions: PTX and CUDA only limit the error. The limits here are CUDA's ---- */

enum { FUNCTIONS = 12 };

static __global__ void functions(const float *x, double *y)
{
    EACH(i);
    float a = x[i];
    double b = a, *out = y + i * FUNCTIONS;

    out[0] = sinf(a);
    out[1] = cosf(a * 1000);
    out[2] = expf(a);
    out[3] = logf(a);
    out[4] = powf(a, 1.7f);
    out[5] = tanhf(a);
    out[6] = rsqrtf(a);
    out[7] = sin(b);
    out[8] = exp(b);
    out[9] = log(b);
    out[10] = pow(b, 1.7);
    out[11] = atan2(b, 2.0);
}

/* Units in the last place, for f32 and then f64 (CUDA programming guide, mathematical functions).
 */
static const double ulps[FUNCTIONS] = { 2, 2, 2, 1, 4, 2, 2, 2, 1, 1, 2, 2 };

static void functions_host(float a, double *out)
{
    double b = a;

    out[0] = sin(b);
    out[1] = cos((double) (a * 1000));
    out[2] = exp(b);
    out[3] = log(b);
    out[4] = pow(b, (double) 1.7f);
    out[5] = tanh(b);
    out[6] = 1 / sqrt(b);
    out[7] = sin(b);
    out[8] = exp(b);
    out[9] = log(b);
    out[10] = pow(b, 1.7);
    out[11] = atan2(b, 2.0);
}

static void all_functions()
{
    Array<float> x(N);
    Array<double> y(N * FUNCTIONS);
    Random random(35);

    for (int i = 0; i < N; i++)
        x[i] = (random.real() + 1.0001f) * 4;
    x.up();
    each(functions, x.device, y.device);
    y.down();
    for (int i = 0; i < N; i++) {
        double want[FUNCTIONS];
        functions_host(x[i], want);
        for (int f = 0; f < FUNCTIONS; f++) {
            double ulp = ldexp(1, ilogb(want[f]) - (f < 7 ? 23 : 52));
            /* the host's error in f64 is at most one unit */
            CHECK(fabs(y[i * FUNCTIONS + f] - want[f]) <= (ulps[f] + (f < 7 ? 0 : 1)) * ulp);
        }
    }
    digest_close("functions", y);
}

int main()
{
    wides();
    all_bits();
    roundings_f32();
    roundings_f64();
    all_conversions();
    all_halves();
    all_functions();
    puts("ok");
}
