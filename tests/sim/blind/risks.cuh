// risks.cuh - a bank's risks: loans that fail together, options revalued, quantiles, linked
// factors.
#ifndef BLIND_RISKS_CUH
#define BLIND_RISKS_CUH

#include "blind.cuh"

// ---- Losses of loans that share a factor: normal numbers are computed, or read ----

enum { LOAN_CASES = 131072, LOAN_COUNT = 60 };

__host__ __device__ inline uint32_t loan_mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0xd35a2d97u;
    return x ^ x >> 15;
}

// Two normal numbers.
__host__ __device__ inline float2 loan_normals(uint32_t i)
{
    const float u = ((loan_mix(2 * i) >> 9) + 0.5f) * 0x1p-23f;
    const float v = 6.2831853f * ((loan_mix(2 * i + 1) >> 8) * 0x1p-24f - 0.5f);
#ifdef __CUDA_ARCH__
    const float radius = sqrtf(-2 * __logf(u));
    return make_float2(radius * __cosf(v), radius * __sinf(v));
#else
    const float radius = sqrtf(-2 * logf(u));
    return make_float2(radius * cosf(v), radius * sinf(v));
#endif
}

// A loan fails if 0.5 x common + 0.866 x own is below its limit. float2: limit and loss.
template <bool STORED>
__global__ void loans_kernel(const float2 *loans, const float *common, const float *own, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = 0.5f * common[i];
    float loss = 0;
    for (int k = 0; k < LOAN_COUNT; k += 2) {
        const float2 z = STORED
                             ? make_float2(own[k * LOAN_CASES + i], own[(k + 1) * LOAN_CASES + i])
                             : loan_normals(k / 2 * LOAN_CASES + i);
        loss += factor + 0.866f * z.x < loans[k].x ? loans[k].y : 0;
        loss += factor + 0.866f * z.y < loans[k + 1].x ? loans[k + 1].y : 0;
    }
    out[i] = loss;
}

template <bool STORED> static void loans(Run &run)
{
    const std::vector<float> v = floats(2 * LOAN_COUNT, 10201, -1.5f, -0.5f);
    const std::vector<float> common = floats(LOAN_CASES, 10202, -2, 2);
    std::vector<float> own(LOAN_CASES * LOAN_COUNT);
    for (int i = 0; i < LOAN_CASES * LOAN_COUNT / 2; i++) {
        const float2 z = loan_normals(i);
        own[i / LOAN_CASES * 2 * LOAN_CASES + i % LOAN_CASES] = z.x;
        own[(i / LOAN_CASES * 2 + 1) * LOAN_CASES + i % LOAN_CASES] = z.y;
    }
    const float2 *dl = (const float2 *) run.upload(v);
    const float *dc = run.upload(common), *from = run.upload(own);
    float *to = run.zeros<float>(LOAN_CASES);
    run.measure([=] { loans_kernel<STORED><<<LOAN_CASES / 128, 128>>>(dl, dc, from, to); });
    const std::vector<float> got = run.output(to, LOAN_CASES);
    int differ = 0, count = 0; // rounding may decide otherwise
    for (int i = 0; i < LOAN_CASES; i += 37, count++) {
        double loss = 0;
        for (int k = 0; k < LOAN_COUNT; k++)
            if (0.5f * common[i] + 0.866f * own[k * LOAN_CASES + i] < v[2 * k])
                loss += v[2 * k + 1];
        differ += fabs(got[i] - loss) > 1e-3;
    }
    run.expect(differ <= count / 100, 1, 0);
}

static void loans_computed(Run &run)
{
    loans<false>(run);
}

static void loans_stored(Run &run)
{
    loans<true>(run);
}

// ---- 20 options in each of many cases: the normal distribution by erfc, or by a polynomial ----

enum { REVALUE_CASES = 65536, REVALUE_OPTIONS = 20 };

__host__ __device__ inline float normal_erfc(float x)
{
    return 0.5f * erfcf(-0.70710678f * x);
}

__device__ inline float normal_polynomial(float x)
{
    const float a = fabsf(x), t = 1 / (1 + 0.2316419f * a);
    const float sum =
        t * (0.31938153f +
             t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
    const float tail = 0.39894228f * __expf(-0.5f * a * a) * sum;
    return x < 0 ? tail : 1 - tail;
}

// float4: strike, volatility x root of time, discount, amount.
template <bool POLYNOMIAL>
__global__ void revalue_kernel(const float *spots, const float4 *options, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float spot = spots[i];
    float value = 0;
    for (int k = 0; k < REVALUE_OPTIONS; k++) {
        const float4 o = options[k];
        const float d = logf(spot / (o.x * o.z)) / o.y + 0.5f * o.y;
        const float one = POLYNOMIAL ? normal_polynomial(d) : normal_erfc(d);
        const float two = POLYNOMIAL ? normal_polynomial(d - o.y) : normal_erfc(d - o.y);
        value += o.w * (spot * one - o.x * o.z * two);
    }
    out[i] = value;
}

template <bool POLYNOMIAL> static void revalue(Run &run)
{
    const std::vector<float> spots = floats(REVALUE_CASES, 10203, 60, 150);
    const std::vector<float> v = floats(4 * REVALUE_OPTIONS, 10204, 0, 1);
    std::vector<float4> options(REVALUE_OPTIONS);
    for (int k = 0; k < REVALUE_OPTIONS; k++)
        options[k] = make_float4(80 + 40 * v[4 * k], 0.1f + 0.4f * v[4 * k + 1],
                                 0.9f + 0.1f * v[4 * k + 2], v[4 * k + 3]);
    const float *from = run.upload(spots);
    const float4 *dopt = run.upload(options);
    float *to = run.zeros<float>(REVALUE_CASES);
    run.measure([=] { revalue_kernel<POLYNOMIAL><<<REVALUE_CASES / 256, 256>>>(from, dopt, to); });
    run.expect_all(
        run.output(to, REVALUE_CASES),
        [&](size_t i) {
            double value = 0;
            for (const float4 &o : options) {
                const double d = log(spots[i] / ((double) o.x * o.z)) / o.y + 0.5 * o.y;
                value += o.w * (spots[i] * 0.5 * erfc(-d * M_SQRT1_2) -
                                o.x * o.z * 0.5 * erfc(-(d - o.y) * M_SQRT1_2));
            }
            return value;
        },
        1e-3, 101);
}

static void revalue_erfc(Run &run)
{
    revalue<false>(run);
}

static void revalue_polynomial(Run &run)
{
    revalue<true>(run);
}

// ---- Two quantiles of 1024 results per portfolio: all are sorted, or values are halved ----

enum { TAIL_ROWS = 960, TAIL_SIZE = 1024, TAIL_BITS = 20, TAIL_COUNT = 2 };

__host__ __device__ inline int tail_rank(int k)
{
    return k == 0 ? 10 : 51;
}

__global__ void tails_sorted_kernel(const int *in, int *out)
{
    __shared__ int v[TAIL_SIZE];
    const int t = threadIdx.x;
    v[t] = in[blockIdx.x * TAIL_SIZE + t];
    v[t + TAIL_SIZE / 2] = in[blockIdx.x * TAIL_SIZE + t + TAIL_SIZE / 2];
    for (int size = 2; size <= TAIL_SIZE; size *= 2)
        for (int by = size / 2; by; by /= 2) {
            __syncthreads();
            const int low = 2 * t - (t & (by - 1)), high = low + by;
            const int a = v[low], b = v[high];
            if ((a > b) == !(low & size)) {
                v[low] = b;
                v[high] = a;
            }
        }
    __syncthreads();
    if (t < TAIL_COUNT)
        out[blockIdx.x * TAIL_COUNT + t] = v[tail_rank(t)];
}

// The largest value such that at most `rank` results are below it, bit by bit.
__global__ void tails_halved_kernel(const int *in, int *out)
{
    const int a = in[blockIdx.x * TAIL_SIZE + threadIdx.x];
    const int b = in[blockIdx.x * TAIL_SIZE + threadIdx.x + TAIL_SIZE / 2];
    for (int k = 0; k < TAIL_COUNT; k++) {
        int value = 0;
        for (int bit = 1 << (TAIL_BITS - 1); bit; bit /= 2) {
            const int next = value | bit;
            const int below = __syncthreads_count(a < next) + __syncthreads_count(b < next);
            value = below <= tail_rank(k) ? next : value;
        }
        if (threadIdx.x == 0)
            out[blockIdx.x * TAIL_COUNT + k] = value;
    }
}

static void tails(Run &run, void (*kernel)(const int *, int *))
{
    const std::vector<int> in = integers(TAIL_ROWS * TAIL_SIZE, 1 << TAIL_BITS, 10205);
    const int *from = run.upload(in);
    int *to = run.zeros<int>(TAIL_ROWS * TAIL_COUNT);
    run.measure([=] { kernel<<<TAIL_ROWS, TAIL_SIZE / 2>>>(from, to); });
    run.expect_all(
        run.output(to, TAIL_ROWS * TAIL_COUNT),
        [&](size_t i) {
            const int *row = &in[i / TAIL_COUNT * TAIL_SIZE];
            std::vector<int> v(row, row + TAIL_SIZE);
            std::sort(v.begin(), v.end());
            return v[tail_rank((int) (i % TAIL_COUNT))];
        },
        0, 5);
}

static void tails_sorted(Run &run)
{
    tails(run, tails_sorted_kernel);
}

static void tails_halved(Run &run)
{
    tails(run, tails_halved_kernel);
}

// ---- Eight factors are linked by a triangular matrix: a case's factors together, or planes ----

enum { LINK_CASES = 1 << 20, LINK_FACTORS = 8 };

__constant__ float link_matrix[LINK_FACTORS * LINK_FACTORS];

template <bool PLANES> __global__ void correlate_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float z[LINK_FACTORS];
#pragma unroll
    for (int k = 0; k < LINK_FACTORS; k++)
        z[k] = in[PLANES ? k * LINK_CASES + i : i * LINK_FACTORS + k];
#pragma unroll
    for (int r = 0; r < LINK_FACTORS; r++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k <= r; k++)
            sum += link_matrix[r * LINK_FACTORS + k] * z[k];
        out[PLANES ? r * LINK_CASES + i : i * LINK_FACTORS + r] = sum;
    }
}

template <bool PLANES> static void correlate(Run &run)
{
    const std::vector<float> in = floats(LINK_CASES * LINK_FACTORS, 10206);
    const std::vector<float> m = floats(LINK_FACTORS * LINK_FACTORS, 10207);
    CHECK(cudaMemcpyToSymbol(link_matrix, m.data(), m.size() * sizeof(float)));
    const float *from = run.upload(in);
    float *to = run.zeros<float>(in.size());
    run.measure([=] { correlate_kernel<PLANES><<<LINK_CASES / 256, 256>>>(from, to); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const size_t c = PLANES ? i % LINK_CASES : i / LINK_FACTORS;
            const size_t r = PLANES ? i / LINK_CASES : i % LINK_FACTORS;
            double sum = 0;
            for (size_t k = 0; k <= r; k++)
                sum += (double) m[r * LINK_FACTORS + k] *
                       in[PLANES ? k * LINK_CASES + c : c * LINK_FACTORS + k];
            return sum;
        },
        1e-5, 1013);
}

static void correlate_rows(Run &run)
{
    correlate<false>(run);
}

static void correlate_planes(Run &run)
{
    correlate<true>(run);
}

#endif
