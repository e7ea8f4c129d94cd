// nearest.cuh - search for similar vectors: product quantisation, sign hashes, binary codes,
// farthest points, mixtures of Gaussians.
#ifndef BLIND_NEAREST_CUH
#define BLIND_NEAREST_CUH

#include "blind.cuh"

// ---- Distances to codes of 16 bytes: tables of a query in global or in shared memory ----

enum { CODE_COUNT = 1200000, CODE_PARTS = 16 };

__device__ inline float code_distance(const float *tables, uint4 code)
{
    const uint32_t word[4] = { code.x, code.y, code.z, code.w };
    float sum = 0;
#pragma unroll
    for (int k = 0; k < CODE_PARTS; k++)
        sum += tables[k * 256 + (word[k / 4] >> k % 4 * 8 & 255)];
    return sum;
}

__global__ void codes_global_kernel(const uint4 *codes, const float *tables, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CODE_COUNT)
        out[i] = code_distance(tables, codes[i]);
}

__global__ void codes_shared_kernel(const uint4 *codes, const float *tables, float *out)
{
    __shared__ float mine[CODE_PARTS * 256];
    for (int i = threadIdx.x; i < CODE_PARTS * 256; i += blockDim.x)
        mine[i] = tables[i];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < CODE_COUNT; i += gridDim.x * blockDim.x)
        out[i] = code_distance(mine, codes[i]);
}

static void quantised(Run &run, void (*kernel)(const uint4 *, const float *, float *), int blocks)
{
    const std::vector<uint32_t> codes = words(4 * CODE_COUNT, 5021);
    const std::vector<float> tables = floats(CODE_PARTS * 256, 5022, 0, 1);
    uint4 *from = (uint4 *) run.upload(codes);
    float *dt = run.upload(tables), *to = run.zeros<float>(CODE_COUNT);
    run.measure([=] { kernel<<<blocks, 256>>>(from, dt, to); });
    run.expect_all(
        run.output(to, CODE_COUNT),
        [&](int i) {
            double sum = 0;
            for (int k = 0; k < CODE_PARTS; k++)
                sum += tables[k * 256 + (codes[4 * i + k / 4] >> k % 4 * 8 & 255)];
            return sum;
        },
        1e-5, 97);
}

static void codes_global(Run &run)
{
    quantised(run, codes_global_kernel, blocks_for(CODE_COUNT, 256));
}

static void codes_shared(Run &run)
{
    quantised(run, codes_shared_kernel, 264);
}

// ---- Hashes of 32 signs of projections: a thread per vector, or a lane per bit and a ballot ----

enum { SIGN_VECTORS = 28000, SIGN_DIMS = 64 };

__global__ void signs_thread_kernel(const float *vectors, const float *planes, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t bits = 0;
    if (i >= SIGN_VECTORS)
        return;
    for (int b = 0; b < 32; b++) {
        float sum = 0;
        for (int k = 0; k < SIGN_DIMS; k++)
            sum += vectors[i * SIGN_DIMS + k] * planes[k * 32 + b];
        bits |= (uint32_t) (sum > 0) << b;
    }
    out[i] = bits;
}

__global__ void signs_ballot_kernel(const float *vectors, const float *planes, uint32_t *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = 0; k < SIGN_DIMS; k++)
        sum += vectors[i * SIGN_DIMS + k] * planes[k * 32 + lane];
    const uint32_t bits = __ballot_sync(~0u, sum > 0);
    if (lane == 0)
        out[i] = bits;
}

static void signs(Run &run, bool ballot)
{
    const std::vector<float> vectors = floats(SIGN_VECTORS * SIGN_DIMS, 5023);
    const std::vector<float> planes = floats(SIGN_DIMS * 32, 5024);
    float *from = run.upload(vectors), *dp = run.upload(planes);
    uint32_t *to = run.zeros<uint32_t>(SIGN_VECTORS);
    run.measure([=] {
        if (ballot)
            signs_ballot_kernel<<<SIGN_VECTORS / 8, 256>>>(from, dp, to);
        else
            signs_thread_kernel<<<blocks_for(SIGN_VECTORS, 64), 64>>>(from, dp, to);
    });
    const std::vector<uint32_t> got = run.output(to, SIGN_VECTORS);
    for (int i = 0; i < SIGN_VECTORS; i += 31)
        for (int b = 0; b < 32; b++) {
            double sum = 0;
            for (int k = 0; k < SIGN_DIMS; k++)
                sum += vectors[i * SIGN_DIMS + k] * planes[k * 32 + b];
            if (fabs(sum) > 1e-4)
                run.expect(got[i] >> b & 1, sum > 0, 0);
        }
}

static void signs_thread(Run &run)
{
    signs(run, false);
}

static void signs_ballot(Run &run)
{
    signs(run, true);
}

// ---- A layer of weights +1 and -1: as bytes, or as bits that xor and popc compare ----

enum { BINARY_IN = 4096, BINARY_OUT = 256, BINARY_BATCH = 64 };

__global__ void binary_bytes_kernel(const signed char *in, const signed char *weights, int *out)
{
    const int o = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    int sum = 0;
    for (int k = 0; k < BINARY_IN; k += 4) {
        const char4 a = *(const char4 *) (in + b * BINARY_IN + k);
        const char4 w = *(const char4 *) (weights + o * BINARY_IN + k);
        sum += a.x * w.x + a.y * w.y + a.z * w.z + a.w * w.w;
    }
    out[b * BINARY_OUT + o] = sum;
}

__global__ void binary_bits_kernel(const uint32_t *in, const uint32_t *weights, int *out)
{
    const int o = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    int different = 0;
    for (int k = 0; k < BINARY_IN / 32; k++)
        different += __popc(in[b * BINARY_IN / 32 + k] ^ weights[o * BINARY_IN / 32 + k]);
    out[b * BINARY_OUT + o] = BINARY_IN - 2 * different;
}

static std::vector<signed char> binary_unpack(const std::vector<uint32_t> &bits)
{
    std::vector<signed char> bytes(32 * bits.size());
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = bits[i / 32] >> i % 32 & 1 ? 1 : -1;
    return bytes;
}

static void binary(Run &run, bool bits)
{
    const std::vector<uint32_t> in = words(BINARY_BATCH * BINARY_IN / 32, 5025);
    const std::vector<uint32_t> weights = words(BINARY_OUT * BINARY_IN / 32, 5026);
    uint32_t *di = run.upload(in), *dw = run.upload(weights);
    signed char *bi = run.upload(binary_unpack(in)), *bw = run.upload(binary_unpack(weights));
    int *to = run.zeros<int>(BINARY_BATCH * BINARY_OUT);
    run.measure([=] {
        const dim3 grid(BINARY_OUT / 64, BINARY_BATCH);
        if (bits)
            binary_bits_kernel<<<grid, 64>>>(di, dw, to);
        else
            binary_bytes_kernel<<<grid, 64>>>(bi, bw, to);
    });
    run.expect_all(
        run.output(to, BINARY_BATCH * BINARY_OUT),
        [&](int i) {
            int different = 0;
            for (int k = 0; k < BINARY_IN / 32; k++)
                different += __builtin_popcount(in[i / BINARY_OUT * BINARY_IN / 32 + k] ^
                                                weights[i % BINARY_OUT * BINARY_IN / 32 + k]);
            return BINARY_IN - 2 * different;
        },
        0, 41);
}

static void binary_bytes(Run &run)
{
    binary(run, false);
}

static void binary_bits(Run &run)
{
    binary(run, true);
}

// ---- Farthest points of clouds: blocks of 128 or of 1024 threads ----

enum { FAR_CLOUDS = 4, FAR_POINTS = 2048, FAR_PICKS = 300 };

template <int block>
__global__ void farthest_kernel(const float *x, const float *y, const float *z, int *picks)
{
    __shared__ unsigned long long best[block / 32];
    const int base = blockIdx.x * FAR_POINTS;
    float nearest[FAR_POINTS / block];
    for (int k = 0; k < FAR_POINTS / block; k++)
        nearest[k] = 1e9f;
    int last = 0;
    for (int pick = 0; pick < FAR_PICKS; pick++) {
        const float px = x[base + last], py = y[base + last], pz = z[base + last];
        unsigned long long mine = 0;
        for (int k = 0; k < FAR_POINTS / block; k++) {
            const int i = base + k * block + threadIdx.x;
            const float dx = x[i] - px, dy = y[i] - py, dz = z[i] - pz;
            nearest[k] = fminf(nearest[k], dx * dx + dy * dy + dz * dz);
            mine = max(mine, (unsigned long long) __float_as_uint(nearest[k]) << 32 | (i - base));
        }
        for (int d = 16; d; d /= 2)
            mine = max(mine, __shfl_xor_sync(~0u, mine, d));
        if (threadIdx.x % 32 == 0)
            best[threadIdx.x / 32] = mine;
        if (threadIdx.x == 0)
            picks[blockIdx.x * FAR_PICKS + pick] = last;
        __syncthreads();
        mine = best[0];
        for (int w = 1; w < block / 32; w++)
            mine = max(mine, best[w]);
        last = (int) (uint32_t) mine;
        __syncthreads();
    }
}

// Compares the distance at which points were picked, as rounding may choose between equals.
template <int block> static void farthest(Run &run)
{
    const int n = FAR_CLOUDS * FAR_POINTS;
    const std::vector<float> x = floats(n, 5027), y = floats(n, 5028), z = floats(n, 5029);
    float *dx = run.upload(x), *dy = run.upload(y), *dz = run.upload(z);
    int *to = run.zeros<int>(FAR_CLOUDS * FAR_PICKS);
    run.measure([=] { farthest_kernel<block><<<FAR_CLOUDS, block>>>(dx, dy, dz, to); });
    const std::vector<int> got = run.output(to, FAR_CLOUDS * FAR_PICKS);
    std::vector<double> nearest(FAR_POINTS, 1e9);
    for (int pick = 0; pick < FAR_PICKS; pick++) {
        const int at = got[pick];
        if (pick)
            run.expect(nearest[at], *std::max_element(nearest.begin(), nearest.end()), 1e-5);
        for (int i = 0; i < FAR_POINTS; i++) {
            const double ex = x[i] - x[at], ey = y[i] - y[at], ez = z[i] - z[at];
            nearest[i] = std::min(nearest[i], ex * ex + ey * ey + ez * ez);
        }
    }
}

static void farthest_128(Run &run)
{
    farthest<128>(run);
}

static void farthest_1024(Run &run)
{
    farthest<1024>(run);
}

// ---- Which of 24 Gaussians drew a point: probabilities from logarithms in a local array ----

enum { MIXTURE_POINTS = 150000, MIXTURE_PARTS = 24, MIXTURE_DIMS = 6 };

// `parts`: per Gaussian, means, inverse deviations and the logarithm of its weight.
__host__ __device__ inline void mixture_at(const float *point, const float *parts, float *out)
{
    float logs[MIXTURE_PARTS], most = -1e30f, sum = 0;
    for (int g = 0; g < MIXTURE_PARTS; g++) {
        const float *part = parts + g * (2 * MIXTURE_DIMS + 1);
        float log = part[2 * MIXTURE_DIMS];
        for (int k = 0; k < MIXTURE_DIMS; k++) {
            const float d = (point[k] - part[k]) * part[MIXTURE_DIMS + k];
            log -= 0.5f * d * d;
        }
        logs[g] = log;
        most = fmaxf(most, log);
    }
    for (int g = 0; g < MIXTURE_PARTS; g++)
        sum += logs[g] = expf(logs[g] - most);
    for (int g = 0; g < MIXTURE_PARTS; g++)
        out[g] = logs[g] / sum;
}

__global__ void mixture_kernel(const float *points, const float *parts, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < MIXTURE_POINTS)
        mixture_at(points + i * MIXTURE_DIMS, parts, out + i * MIXTURE_PARTS);
}

static void mixture_parts(Run &run)
{
    const std::vector<float> points = floats(MIXTURE_POINTS * MIXTURE_DIMS, 5030);
    const std::vector<float> parts = floats(MIXTURE_PARTS * (2 * MIXTURE_DIMS + 1), 5031, -1, 2);
    float *from = run.upload(points), *dp = run.upload(parts);
    float *to = run.zeros<float>(MIXTURE_POINTS * MIXTURE_PARTS);
    run.measure([=] { mixture_kernel<<<blocks_for(MIXTURE_POINTS, 192), 192>>>(from, dp, to); });
    const std::vector<float> got = run.output(to, MIXTURE_POINTS * MIXTURE_PARTS);
    for (int i = 0; i < MIXTURE_POINTS; i += 211) {
        float wanted[MIXTURE_PARTS];
        mixture_at(&points[i * MIXTURE_DIMS], parts.data(), wanted);
        for (int g = 0; g < MIXTURE_PARTS; g++)
            run.expect(got[i * MIXTURE_PARTS + g], wanted[g], 1e-4);
    }
}

#endif
