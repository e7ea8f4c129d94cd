// loops.cuh - loops whose number of rounds depends on data, with break, continue and goto.
#ifndef FLOWS_LOOPS_CUH
#define FLOWS_LOOPS_CUH

#include "flows.cuh"

__global__ void collatz_steps(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i] + 1;
    int steps = 0;
    while (x != 1) {
        if (x % 2 == 0)
            x = x / 2;
        else
            x = 3 * x + 1;
        steps++;
    }
    out[i] = steps;
}

__global__ void gcd_subtract(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int x = a[2 * i] + 1, y = a[2 * i + 1] + 1;
        while (x != y) {
            if (x > y)
                x -= y;
            else
                y -= x;
        }
        out[i] = x;
    }
}

__global__ void gcd_modulo(const int *a, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[2 * i], y = a[2 * i + 1];
    while (y) {
        int t = x % y;
        x = y;
        y = t;
    }
    out[i] = x;
}

__global__ void gcd_binary(const unsigned *a, unsigned *out, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n)
        return;
    unsigned u = a[2 * i] | 1, v = (a[2 * i + 1] & 0xffff) + 1;
    while (v != 0) {
        while ((v & 1) == 0)
            v >>= 1;
        if (u > v) {
            unsigned t = u;
            u = v;
            v = t;
        }
        v -= u;
    }
    out[i] = u;
}

__global__ void sum_until_negative(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0;
    for (int k = 0; k < 32; k++) {
        int x = a[k * n + i] - 40;
        if (x < -36)
            break;
        if (x & 1)
            continue;
        sum += x;
    }
    out[i] = sum;
}

__global__ void two_breaks(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k, found = -1;
    long long product = 1;
    if (i >= n)
        return;
    for (k = 0; k < 24; k++) {
        int x = a[i * 24 + k];
        if (x == 7) {
            found = k;
            break;
        }
        product *= x | 1;
        if (product > 1000000000000ll)
            break;
    }
    out[i] = found * 100 + k + (int) (product & 0xff);
}

__global__ void digits_do(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i] >> (a[i] & 31), sum = 0, digits = 0;
    do {
        sum += x % 10;
        x /= 10;
        digits++;
    } while (x > 0);
    out[i] = sum * 16 + digits;
}

__global__ void kernighan(const unsigned *a, unsigned *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = a[i], bits = 0;
        while (x) {
            x &= x - 1;
            bits++;
        }
        out[i] = bits;
    }
}

__global__ void longest_ones(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned best = 0, run = 0;
    for (unsigned x = a[i]; x; x >>= 1) {
        if (x & 1) {
            run++;
            if (run > best)
                best = run;
        } else {
            run = 0;
        }
    }
    out[i] = best;
}

__global__ void escape_time(const float *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float cx = 1.5f * a[2 * i] - 0.5f, cy = a[2 * i + 1], x = 0, y = 0;
    int k;
    for (k = 0; k < 100; k++) {
        float x2 = x * x, y2 = y * y;
        if (x2 + y2 > 4.0f)
            break;
        y = 2 * x * y + cy;
        x = x2 - y2 + cx;
    }
    out[i] = k;
}

__global__ void julia_double(const float *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double x = 1.5 * a[2 * i], y = 1.5 * a[2 * i + 1];
        int k = 0;
        while (k < 60 && x * x + y * y < 4.0) {
            const double t = x * x - y * y - 0.8;
            y = 2 * x * y + 0.156;
            x = t;
            ++k;
        }
        out[i] = k;
    }
}

__global__ void newton_root(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 50 * fabsf(a[i]) + 0.01f, x = s, last;
    do {
        last = x;
        x = 0.5f * (x + s / x);
    } while (fabsf(x - last) > 1e-4f * x);
    out[i] = x;
}

__global__ void newton_cubic(const double *a, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double c = a[i], x = 1.0;
    for (int k = 0; k < 50; k++) {
        double f = x * x * x - 2 * x - c, d = 3 * x * x - 2;
        if (fabs(d) < 1e-9)
            d = 1e-9;
        double step = f / d;
        x -= step;
        if (fabs(step) < 1e-10)
            break;
    }
    out[i] = x;
}

__global__ void bisect_cosine(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float low = 0, high = 1.5f, slope = 1 + a[i];
    while (high - low > 1e-4f * slope) {
        float mid = 0.5f * (low + high);
        if (__cosf(mid) > slope * mid)
            low = mid;
        else
            high = mid;
    }
    out[i] = low;
}

__global__ void series_until_small(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = 4 * a[i], term = 1, sum = 1;
    int k = 1;
    while (fabsf(term) > 1e-6f && k < 64) {
        term = term * x / k;
        sum += term;
        k++;
    }
    out[i] = sum;
}

__global__ void grid_stride_sum(const float *a, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (a[i] > 0)
            sum += a[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void unknown_count(const int *a, int *out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i >= n)
        return;
    for (int k = 0; k < rounds; k++)
        sum = sum * 3 + (a[i] >> k);
    out[i] = sum;
}

__global__ void triangle(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i >= n)
        return;
    for (int k = 0; k < a[i] % 37; k++)
        sum += a[(i + k) % n] ^ k;
    out[i] = sum;
}

__global__ void unroll_by_two(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int count = a[i] & 31, sum = 0;
#pragma unroll 2
    for (int k = 0; k < count; k++)
        sum += a[(i + k * 7) % n] * k;
    out[i] = sum;
}

__global__ void unroll_by_eight(const float *a, float *out, int n, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < length; k++)
        sum += a[k * n + i] * a[k * n + i];
    out[i] = sum;
}

__global__ void unroll_four_with_if(const int *a, int *out, int n, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int even = 0, odd = 0;
#pragma unroll 4
    for (int k = 0; k < length; k++) {
        int x = a[k * n + i];
        if (x & 1)
            odd += x;
        else if (x > 50)
            even -= x;
        else
            even += 2 * x;
    }
    out[i] = even * 1000 + odd;
}

__global__ void unroll_none(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    if (i >= n)
        return;
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        int x = a[k * n + i];
        if (x > best)
            best = x;
    }
    out[i] = best;
}

__global__ void inner_break(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int pairs = 0;
    for (int p = 0; p < 12; p++) {
        for (int q = p + 1; q < 12; q++) {
            if (a[q * n + i] == a[p * n + i]) {
                pairs++;
                break;
            }
        }
    }
    out[i] = pairs;
}

__global__ void leave_two_loops(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, p, q, rounds = 0;
    if (i >= n)
        return;
    for (p = 0; p < 10; p++)
        for (q = 0; q < 10; q++) {
            rounds++;
            if (a[p * n + i] + a[q * n + i] == 40)
                goto found;
        }
    out[i] = -1;
    return;
found:
    out[i] = p * 100 + q + rounds * 10000;
}

__global__ void retry_goto(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x, tries = 0;
    if (i >= n)
        return;
    x = a[i];
again:
    x = x * 1664525u + 1013904223u;
    tries++;
    if ((x >> 28) < 5)
        goto again;
    if ((x >> 24 & 15) == 3) {
        x ^= 0x5a5a5a5a;
        goto again;
    }
    out[i] = x + tries;
}

__global__ void rejection(const unsigned *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned s = a[i] | 1;
    float x, y, r;
    do {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        x = (s & 0xffff) / 32768.0f - 1;
        y = (s >> 16) / 32768.0f - 1;
        r = x * x + y * y;
    } while (r >= 1 || r == 0);
    out[i] = x * sqrtf(-2 * logf(r) / r);
}

__global__ void return_in_loop(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 20; k++) {
        int x = a[k * n + i];
        if (x == 3)
            return;
        if (x > 90) {
            out[i] = k;
            return;
        }
    }
    out[i] = 100;
}

__global__ void first_match_each(const int *a, int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (a[i] < 10)
            continue;
        int at = i;
        while (at < n && a[at] != a[i] - 10)
            at++;
        out[i] = at - i;
    }
}

#define LOOPS                                                                                      \
    MAP(collatz_steps, ints(4000), 1), MAP(gcd_subtract, ints(200), 2),                            \
        MAP(gcd_modulo, ints(100000), 2), MAP(gcd_binary, hashes(), 2),                            \
        MAP(sum_until_negative, ints(100), 32), MAP(two_breaks, ints(60), 24),                     \
        MAP(digits_do, hashes(), 1), MAP(kernighan, hashes(), 1), MAP(longest_ones, hashes(), 1),  \
        MAP(escape_time, reals(), 2), MAP(julia_double, reals(), 2), MAP(newton_root, reals(), 1), \
        MAP(newton_cubic, doubles(), 1), MAP(bisect_cosine, reals(), 1),                           \
        MAP(series_until_small, reals(), 1), FEW(grid_stride_sum, reals()),                        \
        MAP_WITH(unknown_count, ints(100000), 1, 13), MAP(triangle, ints(1000), 1),                \
        MAP(unroll_by_two, ints(1000), 1), MAP_WITH(unroll_by_eight, reals(), 21, 21),             \
        MAP_WITH(unroll_four_with_if, ints(100), 19, 19), MAP(unroll_none, ints(1000), 16),        \
        MAP(inner_break, ints(30), 12), MAP(leave_two_loops, ints(50), 10),                        \
        MAP(retry_goto, hashes(), 1), MAP(rejection, hashes(), 1),                                 \
        MAP(return_in_loop, ints(100), 20), FEW(first_match_each, ints(60))

#endif
