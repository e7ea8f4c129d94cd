// pinned.cuh - host memory that kernels use in place, or that is copied in pieces.
#ifndef PINNED_CUH
#define PINNED_CUH

#include "kernels.cuh"

// ---- A polynomial of 16 MB on the host, with the result there ----

enum { LONG = 4 << 20, CHUNKS = 8, CHUNK = LONG / CHUNKS };

static void expect_polynomials(Flow &flow, const float *in, const float *out)
{
    flow.expect_some(
        out, LONG, 997, [&](size_t i) { return polynomial(in[i]); }, 1e-5);
}

static void polynomials_in_chunks(Flow &flow, int streams)
{
    const float *in = flow.pinned(floats(LONG, 70));
    float *out = flow.pinned<float>(LONG), *din = flow.zeros<float>(LONG),
          *dout = flow.zeros<float>(LONG);
    const size_t bytes = CHUNK * sizeof(float);

    flow.time(streams, [&] {
        for (int c = 0; c < CHUNKS; c++) {
            cudaStream_t stream = flow.stream[c % streams];
            const int at = c * CHUNK;
            CHECK(cudaMemcpyAsync(din + at, in + at, bytes, cudaMemcpyHostToDevice, stream));
            polynomials<<<CHUNK / 4 / 256, 256, 0, stream>>>((const float4 *) (din + at),
                                                             (float4 *) (dout + at));
            CHECK(cudaMemcpyAsync(out + at, dout + at, bytes, cudaMemcpyDeviceToHost, stream));
        }
    });
    expect_polynomials(flow, in, out);
}

static void chunks_one_stream(Flow &flow)
{
    polynomials_in_chunks(flow, 1);
}

static void chunks_four_streams(Flow &flow)
{
    polynomials_in_chunks(flow, 4);
}

static void pinned_both(Flow &flow)
{
    float *in = flow.pinned(floats(LONG, 70)), *out = flow.pinned<float>(LONG);

    flow.time(1, [&] {
        polynomials<<<LONG / 4 / 256, 256, 0, flow.stream[0]>>>((const float4 *) flow.mapped(in),
                                                                (float4 *) flow.mapped(out));
    });
    expect_polynomials(flow, in, out);
}

// ---- Reads once ----

static void pinned_sum(Flow &flow, bool copied)
{
    enum { COUNT = 6 << 20 };
    const auto values = floats(COUNT, 71, 0, 1);
    float *in = flow.pinned(values), *total = flow.zeros<float>(1);
    float *from = copied ? flow.zeros<float>(COUNT) : flow.mapped(in);

    flow.time(1, [&] {
        if (copied)
            CHECK(cudaMemcpyAsync(from, in, COUNT * sizeof(float), cudaMemcpyHostToDevice,
                                  flow.stream[0]));
        sum<<<264, 256, 0, flow.stream[0]>>>((const float4 *) from, total, COUNT / 4);
    });
    flow.expect(flow.download(total, 1)[0], sum_of(values), 1e-4);
}

static void pinned_sum_in_place(Flow &flow)
{
    pinned_sum(flow, false);
}

static void pinned_sum_copied(Flow &flow)
{
    pinned_sum(flow, true);
}

// ---- Sparse reads ----

enum { EMBEDDED = 64 };

// A block per token adds up the vectors of four of its words.
__global__ void embed(const float4 *vectors, const int *words, float4 *out)
{
    float4 total = {};

    for (int w = 0; w < 4; w++) {
        const float4 v = vectors[(size_t) words[4 * blockIdx.x + w] * EMBEDDED + threadIdx.x];
        total.x += v.x;
        total.y += v.y;
        total.z += v.z;
        total.w += v.w;
    }
    out[blockIdx.x * EMBEDDED + threadIdx.x] = total;
}

static void pinned_embed(Flow &flow)
{
    enum { VECTORS = 32 << 10, TOKENS = 1500, COUNT = TOKENS * EMBEDDED };
    const auto words = integers(4 * TOKENS, VECTORS, 72);
    const auto values = floats(VECTORS * EMBEDDED * 4, 73);
    float *vectors = flow.pinned(values);
    const int *dwords = flow.upload(words);
    float *out = flow.zeros<float>(COUNT * 4);

    flow.time(1, [&] {
        embed<<<TOKENS, EMBEDDED, 0, flow.stream[0]>>>((const float4 *) flow.mapped(vectors),
                                                       dwords, (float4 *) out);
    });
    const auto wanted = [&](size_t i) {
        const size_t token = i / (4 * EMBEDDED), k = i % (4 * EMBEDDED);
        float total = 0;
        for (int w = 0; w < 4; w++)
            total += values[(size_t) words[4 * token + w] * EMBEDDED * 4 + k];
        return total;
    };
    flow.expect_some(flow.download(out, COUNT * 4), COUNT * 4, 101, wanted, 1e-5);
}

// ---- Reads several times ----

enum { ORDER = 1024 };

// A warp per row.
__global__ void multiply(const float4 *matrix, const float4 *x, float *y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float total = 0;

    for (int i = threadIdx.x % 32; i < ORDER / 4; i += 32) {
        const float4 a = matrix[row * (ORDER / 4) + i], b = x[i];
        total += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    total = warp_sum(total);
    if (threadIdx.x % 32 == 0)
        y[row] = total;
}

static std::vector<double> power_on_host(const std::vector<float> &matrix, std::vector<double> x,
                                         int steps)
{
    std::vector<double> y(ORDER);

    for (int s = 0; s < steps; s++) {
        for (int row = 0; row < ORDER; row++) {
            y[row] = 0;
            for (int i = 0; i < ORDER; i++)
                y[row] += matrix[row * ORDER + i] * x[i];
        }
        x.swap(y);
    }
    return x;
}

// Five products of a matrix of 4 MB, each with the last result.
static void power(Flow &flow, bool copied)
{
    enum { STEPS = 5, COUNT = ORDER * ORDER };
    const auto values = floats(COUNT, 74, 0, 2.f / ORDER), start = floats(ORDER, 75, 0, 1);
    float *in = flow.pinned(values);
    float *matrix = copied ? flow.zeros<float>(COUNT) : flow.mapped(in);
    float *x[2] = { flow.upload(start), flow.zeros<float>(ORDER) };

    flow.time(1, [&] {
        if (copied)
            CHECK(cudaMemcpyAsync(matrix, in, COUNT * sizeof(float), cudaMemcpyHostToDevice,
                                  flow.stream[0]));
        for (int s = 0; s < STEPS; s++)
            multiply<<<ORDER / 8, 256, 0, flow.stream[0]>>>(
                (const float4 *) matrix, (const float4 *) x[s % 2], x[1 - s % 2]);
    });
    const auto wanted = power_on_host(values, { start.begin(), start.end() }, STEPS);
    flow.expect_some(
        flow.download(x[STEPS % 2], ORDER), ORDER, 1, [&](size_t i) { return wanted[i]; }, 1e-4);
}

static void pinned_power_in_place(Flow &flow)
{
    power(flow, false);
}

static void pinned_power_copied(Flow &flow)
{
    power(flow, true);
}

// A block per row reads it three times: for the mean, the spread and the result.
__global__ void standardise(const float *in, float *out)
{
    __shared__ float shared[2];
    const float *row = in + blockIdx.x * ORDER;
    float total = 0;

    for (int i = threadIdx.x; i < ORDER; i += blockDim.x)
        total += row[i];
    total = block_sum(total);
    if (threadIdx.x == 0)
        shared[0] = total / ORDER;
    __syncthreads();
    total = 0;
    for (int i = threadIdx.x; i < ORDER; i += blockDim.x)
        total += (row[i] - shared[0]) * (row[i] - shared[0]);
    total = block_sum(total);
    if (threadIdx.x == 0)
        shared[1] = rsqrtf(total / ORDER);
    __syncthreads();
    for (int i = threadIdx.x; i < ORDER; i += blockDim.x)
        out[blockIdx.x * ORDER + i] = (row[i] - shared[0]) * shared[1];
}

static void pinned_standardise(Flow &flow)
{
    enum { LINES = 1024, COUNT = LINES * ORDER };
    const auto values = floats(COUNT, 76, 0, 9);
    float *in = flow.pinned(values), *out = flow.zeros<float>(COUNT);

    flow.time(1, [&] { standardise<<<LINES, 256, 0, flow.stream[0]>>>(flow.mapped(in), out); });
    const auto got = flow.download(out, COUNT);
    for (int row = 0; row < LINES; row += 17) {
        const float *at = &values[row * ORDER];
        double mean = 0, square = 0;
        for (int i = 0; i < ORDER; i++) {
            mean += at[i] / (double) ORDER;
            square += (double) at[i] * at[i] / ORDER;
        }
        for (int i = 0; i < ORDER; i += 31)
            flow.expect(got[row * ORDER + i], (at[i] - mean) / sqrt(square - mean * mean), 1e-4);
    }
}

// ---- A histogram of pinned bytes; its result is pinned, too ----

__global__ void count_bytes(const uint4 *in, unsigned *bins, int count)
{
    __shared__ unsigned counts[256];

    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const uint4 v = in[i];
        for (int shift = 0; shift < 32; shift += 8) {
            atomicAdd(&counts[v.x >> shift & 255], 1);
            atomicAdd(&counts[v.y >> shift & 255], 1);
            atomicAdd(&counts[v.z >> shift & 255], 1);
            atomicAdd(&counts[v.w >> shift & 255], 1);
        }
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

__global__ void publish(const unsigned *bins, unsigned *result)
{
    result[threadIdx.x] = bins[threadIdx.x];
}

static void pinned_histogram(Flow &flow)
{
    enum { COUNT = 3 << 20 };
    const auto values = words(COUNT, 77);
    uint32_t *in = flow.pinned(values);
    unsigned *bins = flow.zeros<unsigned>(256), *result = flow.pinned<unsigned>(256);
    std::vector<unsigned> wanted(256);

    flow.time(1, [&] {
        count_bytes<<<264, 256, 0, flow.stream[0]>>>((const uint4 *) flow.mapped(in), bins,
                                                     COUNT / 4);
        publish<<<1, 256, 0, flow.stream[0]>>>(bins, flow.mapped(result));
    });
    for (uint32_t v : values)
        for (int shift = 0; shift < 32; shift += 8)
            wanted[v >> shift & 255]++;
    flow.expect_some(result, 256, 1, [&](size_t i) { return wanted[i]; });
}

// ---- Writes ----

__host__ __device__ inline uint32_t noise(uint32_t x)
{
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    x = (x ^ x >> 12) * 0x297a2d39u;
    return x ^ x >> 15;
}

__global__ void make_noise(uint4 *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = make_uint4(noise(4 * i), noise(4 * i + 1), noise(4 * i + 2), noise(4 * i + 3));
}

static void pinned_write(Flow &flow)
{
    uint32_t *out = flow.pinned<uint32_t>(LONG);

    flow.time(1, [&] {
        make_noise<<<LONG / 4 / 256, 256, 0, flow.stream[0]>>>((uint4 *) flow.mapped(out));
    });
    flow.expect_some(out, LONG, 997, [](size_t i) { return noise((uint32_t) i); });
}

#endif
