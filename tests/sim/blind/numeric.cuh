// numeric.cuh - kernels that compute: n-body, fractals, finance, number theory, double and half
// precision.
#ifndef BLIND_NUMERIC_CUH
#define BLIND_NUMERIC_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- n-body: accelerations ----

__device__ float3 pull(float3 a, float4 me, float4 other)
{
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float s = other.w * inverse * inverse * inverse;
    a.x += dx * s;
    a.y += dy * s;
    a.z += dz * s;
    return a;
}

__global__ void nbody_kernel(const float4 *body, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float3 a = { 0, 0, 0 };
    for (int j = 0; j < n; j++)
        a = pull(a, me, body[j]);
    out[i] = make_float4(a.x, a.y, a.z, 0);
}

__global__ void nbody_tiled_kernel(const float4 *body, float4 *out, int n)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = body[i];
    float3 a = { 0, 0, 0 };
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads(); // the tile is complete
        for (int j = 0; j < 128; j++)
            a = pull(a, me, tile[j]);
        __syncthreads(); // the tile has been read
    }
    out[i] = make_float4(a.x, a.y, a.z, 0);
}

template <class Launch> static void nbody(Run &run, Launch launch)
{
    const int n = 3072;
    const std::vector<float> body = floats(4 * n, 51, 0, 1);
    float4 *in = (float4 *) run.upload(body);
    float *out = run.zeros<float>(4 * n);
    run.measure([=] { launch(in, (float4 *) out, n); });
    run.expect_all(
        run.output(out, 4 * n),
        [&](size_t k) {
            const size_t i = k / 4, axis = k % 4;
            double sum = 0;
            for (int j = 0; j < n && axis < 3; j++) {
                double r2 = 0.01;
                for (int c = 0; c < 3; c++)
                    r2 += pow((double) body[4 * j + c] - body[4 * i + c], 2);
                sum += body[4 * j + 3] * ((double) body[4 * j + axis] - body[4 * i + axis]) /
                       (r2 * sqrt(r2));
            }
            return sum;
        },
        1e-3, 53);
}

static void nbody_naive(Run &run)
{
    nbody(run, [](float4 *in, float4 *out, int n) { nbody_kernel<<<n / 128, 128>>>(in, out, n); });
}

static void nbody_tiled(Run &run)
{
    nbody(run,
          [](float4 *in, float4 *out, int n) { nbody_tiled_kernel<<<n / 128, 128>>>(in, out, n); });
}

// ---- Mandelbrot ----

__global__ void mandelbrot_kernel(int *out, int width, int height, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height, x = 0, y = 0;
    int i = 0;
    while (i < most && x * x + y * y <= 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        i++;
    }
    out[py * width + px] = i;
}

static void mandelbrot(Run &run)
{
    const int width = 640, height = 480, most = 200;
    int *out = run.zeros<int>(width * height), inside = 0;
    run.measure([=] {
        mandelbrot_kernel<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out, width, height,
                                                                           most);
    });
    for (int i : run.output(out, width * height))
        inside += i == most;
    run.expect(6.0 * inside / (width * height), 1.52, 0.05); // the area of the set, about 1.507
}

// ---- Black-Scholes ----

__device__ float normal_cdf(float d)
{
    return 0.5f * erfcf(-d * 0.70710678f);
}

__global__ void black_scholes_kernel(const float *spot, const float *strike, const float *years,
                                     float *call, float *put, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float rate = 0.02f, volatility = 0.3f;
    float root = sqrtf(years[i]);
    float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
               (volatility * root);
    float d2 = d1 - volatility * root, discounted = strike[i] * expf(-rate * years[i]);
    call[i] = spot[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
    put[i] = discounted * normal_cdf(-d2) - spot[i] * normal_cdf(-d1);
}

static void black_scholes(Run &run)
{
    const int n = 1 << 19;
    const std::vector<float> s = floats(n, 52, 5, 30), k = floats(n, 53, 1, 100),
                             t = floats(n, 54, 0.25f, 10);
    float *ds = run.upload(s), *dk = run.upload(k), *dt = run.upload(t),
          *call = run.zeros<float>(n), *put = run.zeros<float>(n);
    run.measure(
        [=] { black_scholes_kernel<<<blocks_for(n, 128), 128>>>(ds, dk, dt, call, put, n); });
    const std::vector<float> c = run.output(call, n), p = run.output(put, n);
    for (int i = 0; i < n; i += 17) // put-call parity
        run.expect(c[i] - p[i], s[i] - k[i] * exp(-0.02 * t[i]), 1e-3);
}

// ---- Number theory ----

__global__ void collatz_kernel(int *length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = i + 1;
    int steps = 0;
    while (x != 1) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        steps++;
    }
    length[i] = steps;
}

static void collatz(Run &run)
{
    const int n = 160000;
    int *length = run.zeros<int>(n);
    run.measure([=] { collatz_kernel<<<blocks_for(n, 256), 256>>>(length, n); });
    run.expect_all(
        run.output(length, n),
        [](size_t i) {
            int steps = 0;
            for (unsigned long long x = i + 1; x != 1; steps++)
                x = x % 2 ? 3 * x + 1 : x / 2;
            return steps;
        },
        0, 11);
}

__global__ void sieve_kernel(unsigned *composite, int n, int root)
{
    int p = blockIdx.x + 2;
    if (p > root)
        return;
    for (int q = 2; q * q <= p; q++)
        if (p % q == 0)
            return;
    for (int m = p * p + threadIdx.x * p; m < n; m += blockDim.x * p)
        atomicOr(&composite[m / 32], 1u << m % 32);
}

static void prime_sieve(Run &run)
{
    const int n = 1 << 20;
    unsigned *composite = run.zeros<unsigned>(n / 32);
    int primes = 0;
    run.measure([=] { sieve_kernel<<<1023, 256>>>(composite, n, 1024); },
                [=] { CHECK(cudaMemset(composite, 0, n / 8)); });
    for (unsigned w : run.output(composite, n / 32))
        primes += 32 - __builtin_popcount(w);
    run.expect(primes - 2, 82025, 0); // without 0 and 1
}

__global__ void trial_division_kernel(int *prime, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int found = i > 1;
    for (int d = 2; d * d <= i; d++)
        if (i % d == 0) {
            found = 0;
            break;
        }
    prime[i] = found;
}

static void prime_trial(Run &run)
{
    const int n = 100000;
    int *prime = run.zeros<int>(n), sum = 0;
    run.measure([=] { trial_division_kernel<<<blocks_for(n, 256), 256>>>(prime, n); });
    for (int p : run.output(prime, n))
        sum += p;
    run.expect(sum, 9592, 0);
}

template <class T> __global__ void divide_kernel(const T *a, const T *b, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        T x = a[i], y = b[i] | 1;
        out[i] = x / y + x % (y + 2);
    }
}

template <class T> static void divide(Run &run)
{
    const int n = 1 << 20;
    const std::vector<uint32_t> low = words(n, 55), high = words(n, 56);
    std::vector<T> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = (T) ((uint64_t) high[i] << 32 | low[i]);
        b[i] = (T) (low[n - 1 - i] >> 8);
    }
    T *da = run.upload(a), *db = run.upload(b), *out = run.zeros<T>(n);
    run.measure([=] { divide_kernel<<<blocks_for(n, 256), 256>>>(da, db, out, n); });
    const std::vector<T> got = run.output(out, n);
    for (int i = 0; i < n; i++)
        run.expect(got[i] == (T) (a[i] / (b[i] | 1) + a[i] % ((b[i] | 1) + 2)), 1, 0);
}

static void divide_32(Run &run)
{
    divide<uint32_t>(run);
}

static void divide_64(Run &run)
{
    divide<uint64_t>(run);
}

// The n-th power of a matrix of 3 x 3, modulo a prime.
__global__ void matrix_power_kernel(const unsigned *start, unsigned *out, int count,
                                    unsigned exponent)
{
    const unsigned prime = 65521;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned base[9], result[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, product[9];
    for (int k = 0; k < 9; k++)
        base[k] = start[i * 9 + k] % prime;
    for (unsigned e = exponent; e; e >>= 1) {
        if (e & 1) {
            for (int k = 0; k < 9; k++)
                product[k] = (result[k / 3 * 3] * base[k % 3] % prime +
                              result[k / 3 * 3 + 1] * base[k % 3 + 3] % prime +
                              result[k / 3 * 3 + 2] * base[k % 3 + 6] % prime) %
                             prime;
            for (int k = 0; k < 9; k++)
                result[k] = product[k];
        }
        for (int k = 0; k < 9; k++)
            product[k] = (base[k / 3 * 3] * base[k % 3] % prime +
                          base[k / 3 * 3 + 1] * base[k % 3 + 3] % prime +
                          base[k / 3 * 3 + 2] * base[k % 3 + 6] % prime) %
                         prime;
        for (int k = 0; k < 9; k++)
            base[k] = product[k];
    }
    for (int k = 0; k < 9; k++)
        out[i * 9 + k] = result[k];
}

static void matrix_power(Run &run)
{
    const int count = 65536;
    const unsigned prime = 65521, exponent = 1000;
    const std::vector<uint32_t> start = words((size_t) count * 9, 57);
    unsigned *in = run.upload(start), *out = run.zeros<unsigned>((size_t) count * 9);
    run.measure(
        [=] { matrix_power_kernel<<<blocks_for(count, 128), 128>>>(in, out, count, exponent); });
    const std::vector<unsigned> got = run.output(out, (size_t) count * 9);
    uint64_t result[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, product[9];
    for (unsigned e = 0; e < exponent; e++) { // the first matrix
        for (int k = 0; k < 9; k++)
            product[k] = (result[k / 3 * 3] * (start[k % 3] % prime) +
                          result[k / 3 * 3 + 1] * (start[k % 3 + 3] % prime) +
                          result[k / 3 * 3 + 2] * (start[k % 3 + 6] % prime)) %
                         prime;
        std::copy(product, product + 9, result);
    }
    for (int k = 0; k < 9; k++)
        run.expect(got[k], (double) result[k], 0);
}

// ---- Double precision ----

__global__ void pi_double_kernel(double *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    double sum = 0;
    for (int k = 0; k < steps; k++) {
        double x = ((double) k * all + i + 0.5) / ((double) steps * all);
        sum += 4.0 / (1.0 + x * x);
    }
    out[i] = sum / ((double) steps * all);
}

static void pi_double(Run &run)
{
    const int threads = 264 * 128;
    double *out = run.zeros<double>(threads), pi = 0;
    run.measure([=] { pi_double_kernel<<<264, 128>>>(out, 100); });
    for (double d : run.output(out, threads))
        pi += d;
    run.expect(pi, 3.14159265358979, 1e-10);
}

__global__ void sum_double_kernel(const double *x, double *out, int n)
{
    __shared__ double part[256];
    double sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += x[i];
    part[threadIdx.x] = sum;
    __syncthreads(); // all parts are written
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads(); // this round's sums are written
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

static void sum_double(Run &run)
{
    const int n = 4 << 20, blocks = 528;
    const std::vector<float> raw = floats(n, 58);
    const std::vector<double> x(raw.begin(), raw.end());
    double *dx = run.upload(x), *out = run.zeros<double>(blocks), sum = 0, wanted = 0;
    run.measure([=] { sum_double_kernel<<<blocks, 256>>>(dx, out, n); });
    for (double d : run.output(out, blocks))
        sum += d;
    for (double d : x)
        wanted += d;
    run.expect(sum, wanted, 1e-9);
}

// ---- Half precision ----

__global__ void axpy_half2_kernel(const __half2 *x, __half2 *y, __half2 a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2(a, x[i], y[i]);
}

__global__ void polynomial_half2_kernel(const __half2 *x, __half2 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half2 v = x[i], sum = __float2half2_rn(0.5f);
    for (int k = 0; k < 64; k++)
        sum = __hfma2(sum, v, __float2half2_rn(0.25f));
    y[i] = __hmul2(sum, v);
}

static void half2_axpy(Run &run)
{
    const int n = 4 << 20;
    const std::vector<float> raw = floats(2 * n, 59);
    std::vector<__half> x(raw.begin(), raw.end());
    __half *dx = run.upload(x), *dy = run.zeros<__half>(2 * n);
    run.measure(
        [=] {
            axpy_half2_kernel<<<blocks_for(n, 256), 256>>>((__half2 *) dx, (__half2 *) dy,
                                                           __float2half2_rn(2.0f), n);
        },
        [=] { CHECK(cudaMemset(dy, 0, 4 * (size_t) n)); });
    const std::vector<__half> y = run.output(dy, 2 * n);
    for (int i = 0; i < 2 * n; i += 3)
        run.expect(__half2float(y[i]), 2 * __half2float(x[i]), 1e-3);
}

static void half2_polynomial(Run &run)
{
    const int n = 1 << 20;
    const std::vector<float> raw = floats(2 * n, 60, -0.9f, 0.9f);
    std::vector<__half> x(raw.begin(), raw.end());
    __half *dx = run.upload(x), *dy = run.zeros<__half>(2 * n);
    run.measure([=] {
        polynomial_half2_kernel<<<blocks_for(n, 256), 256>>>((__half2 *) dx, (__half2 *) dy, n);
    });
    const std::vector<__half> y = run.output(dy, 2 * n);
    for (int i = 0; i < 2 * n; i += 3) {
        const double v = __half2float(x[i]);
        run.expect(__half2float(y[i]), 0.25 * v * (1 - pow(v, 64)) / (1 - v) + 0.5 * pow(v, 65),
                   2e-2);
    }
}

#endif
