// numbers.cuh - arithmetic of all widths: quotients, remainders, half precision, bits and bytes.
#ifndef FLOWS_NUMBERS_CUH
#define FLOWS_NUMBERS_CUH

#include <cuda_fp16.h>

#include "flows.cuh"

__global__ void quotient_64(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = (unsigned long long) a[2 * i] << 20 | a[2 * i + 1];
    unsigned long long y = a[2 * i + 1] >> (a[2 * i] & 15) | 1;
    if (i % 3 == 0)
        y <<= 18;
    out[i] = (unsigned) (x / y + x % y);
}

__global__ void signed_64_in_loop(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long x = (long long) a[i] * 1000003 - 400000000000ll;
    int digits = 0;
    while (x) {
        digits += (int) (x % 7);
        x /= 7 + (digits & 1);
    }
    out[i] = digits;
}

__global__ void signed_constants(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i] - 500;
    out[i] = x / 8 + x % 10 + x / 3 - x % 16;
}

__global__ void variable_modulo(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[2 * i], y = a[2 * i + 1];
    if (y != 0) {
        int q = x / y, r = x - q * y;
        out[i] = r < 0 ? r + y : r;
    }
}

__global__ void short_sums(const int *a, short *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    short s = 0;
    for (int k = 0; k < 7; k++) {
        short x = (short) a[k * n + i];
        if (x < 0)
            x = -x;
        s = (short) (s * 3 + x);
    }
    out[i] = s;
}

__global__ void char_case(const unsigned char *a, unsigned char *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        char c = a[i];
        if (c >= 'a' && c <= 'z')
            c -= 32;
        else if (c >= 'A' && c <= 'Z')
            c += 32;
        else if (c >= '0' && c <= '9')
            c = '0' + (c - '0' + 5) % 10;
        out[i] = c;
    }
}

__global__ void half_polynomial(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half x = __float2half(a[i]), y = __float2half(0.5f);
    for (int k = 0; k < 5; k++) {
        y = __hfma(y, x, __float2half(0.25f));
        if (__hgt(y, x))
            y = __hsub(y, x);
    }
    out[i] = __half2float(y);
}

__global__ void double_power(const double *a, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = fabs(a[i]) + 0.1;
    out[i] = x > 0.5 ? exp(-x) / x : log(x) * sqrt(x);
}

__global__ void power_float(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[2 * i] + 0.2f, y = 3 * a[2 * i + 1];
    out[i] = x > 0 ? powf(x, y) : cosf(100 * x) + atan2f(x, y);
}

__global__ void angle_reduction(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float t = a[i] * 40;
    while (t > 3.14159265f)
        t -= 6.2831853f;
    while (t < -3.14159265f)
        t += 6.2831853f;
    out[i] = __sinf(t);
}

__global__ void quotients_float(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
    for (int k = 1; k < 6; k++) {
        float d = a[k * n + i];
        if (fabsf(d) > 0.2f)
            s += a[i] / d;
    }
    out[i] = s;
}

__global__ void normalize_three(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[3 * i], y = a[3 * i + 1], z = a[3 * i + 2], length = sqrtf(x * x + y * y + z * z);
    if (length > 1) {
        x /= length;
        y /= length;
        z /= length;
    }
    out[i] = x + 2 * y + 3 * z;
}

__global__ void bytes_of_words(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], sum = 0;
    for (int b = 0; b < 4; b++) {
        unsigned char c = x >> (8 * b);
        if (c > 127)
            sum += 255 - c;
        else
            sum += c;
    }
    out[i] = sum;
}

__global__ void crc_bits(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned crc = ~a[i];
    for (int k = 0; k < 32; k++)
        crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    out[i] = ~crc;
}

__global__ void utf8_length(const unsigned char *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *p = a + i * 20, *end = p + 20;
    int letters = 0;
    while (p < end) {
        unsigned char c = *p;
        if (c < 0x80)
            p += 1;
        else if (c < 0xe0)
            p += 2;
        else if (c < 0xf0)
            p += 3;
        else
            p += 4;
        letters++;
    }
    out[i] = letters;
}

__global__ void find_first_set(const unsigned *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i];
    int sum = 0;
    while (x) {
        int bit = __ffs(x) - 1;
        sum += bit * (__popc(x) & 3);
        x &= ~(3u << bit);
    }
    out[i] = sum;
}

__global__ void parse_number(const unsigned char *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *s = a + i * 12;
    int value = 0, sign = 1, k = 0;
    while (k < 12 && s[k] % 4 == 0)
        k++;
    if (k < 12 && s[k] % 4 == 1) {
        sign = -1;
        k++;
    }
    while (k < 12 && s[k] > 20) {
        value = value * 10 + s[k] % 10;
        k++;
    }
    out[i] = sign * value;
}

__global__ void compare_strings(const unsigned char *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *s = a + i * 16, *t = a + (i * 5 % n) * 16;
    int k = 0;
    while (k < 15 && s[k] && s[k] == t[k])
        k++;
    out[i] = s[k] - t[k];
}

__global__ void run_lengths(const unsigned char *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int runs = 0, longest = 0, k = 0;
    while (k < 30) {
        int from = k;
        unsigned char c = a[i * 30 + k];
        while (k < 30 && a[i * 30 + k] == c)
            k++;
        runs++;
        if (k - from > longest)
            longest = k - from;
    }
    out[i] = runs * 100 + longest;
}

__global__ void sieve_small(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i] + 2, prime = 1;
    for (int d = 2; d * d <= x && prime; d++)
        if (x % d == 0)
            prime = 0;
    out[i] = prime;
}

__global__ void factor_out(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = (a[i] & 0xffff) + 2, factors = 0;
    for (unsigned p = 2; p * p <= x; p++)
        while (x % p == 0) {
            x /= p;
            factors++;
        }
    if (x > 1)
        factors++;
    out[i] = factors;
}

__global__ void power_modulo(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long base = a[2 * i] % 1000003u, result = 1;
    unsigned e = a[2 * i + 1] >> 12;
    while (e) {
        if (e & 1)
            result = result * base % 1000003u;
        base = base * base % 1000003u;
        e >>= 1;
    }
    out[i] = (unsigned) result;
}

__global__ void integer_root(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], root = 0, bit = 1u << 30;
    while (bit > x)
        bit >>= 2;
    while (bit) {
        if (x >= root + bit) {
            x -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    out[i] = root;
}

#define NUMBERS                                                                                    \
    MAP(quotient_64, hashes(), 2), MAP(signed_64_in_loop, ints(1000000), 1),                       \
        MAP(signed_constants, ints(1000), 1), MAP(variable_modulo, ints(200), 2),                  \
        MAP(short_sums, ints(65536), 7), FEW(char_case, bytes(128)),                               \
        MAP(half_polynomial, reals(), 1), MAP(double_power, doubles(), 1),                         \
        MAP(power_float, reals(), 2), MAP(angle_reduction, reals(), 1),                            \
        MAP(quotients_float, reals(), 6), MAP(normalize_three, reals(), 3),                        \
        MAP(bytes_of_words, hashes(), 1), MAP(crc_bits, hashes(), 1),                              \
        MAP(utf8_length, bytes(256), 20), MAP(find_first_set, hashes(), 1),                        \
        MAP(parse_number, bytes(64), 12), MAP(compare_strings, bytes(3), 16),                      \
        MAP(run_lengths, bytes(2), 30), MAP(sieve_small, ints(5000), 1),                           \
        MAP(factor_out, hashes(), 1), MAP(power_modulo, hashes(), 2),                              \
        MAP(integer_root, hashes(), 1)

#endif
