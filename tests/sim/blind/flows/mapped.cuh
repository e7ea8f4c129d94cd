// mapped.cuh - host memory that kernels read and write in place: streams, gathers and results.
#ifndef MAPPED_CUH
#define MAPPED_CUH

#include "kernels.cuh"

// ---- More reads than writes, and more writes than reads ----

__device__ float4 plus(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// The sum of four exposures.
__global__ void stack(const float4 *exposures, float4 *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = plus(plus(exposures[i], exposures[count + i]),
                  plus(exposures[2 * count + i], exposures[3 * count + i]));
}

static void mapped_four_to_one(Flow &flow)
{
    enum { COUNT = 640 << 10 };
    const auto values = floats(4 * COUNT, 110, 0, 1);
    float *exposures = flow.pinned(values), *out = flow.pinned<float>(COUNT);

    flow.time(1, [&] {
        stack<<<COUNT / 4 / 256, 256, 0, flow.stream[0]>>>((const float4 *) flow.mapped(exposures),
                                                           (float4 *) flow.mapped(out), COUNT / 4);
    });
    const auto stacked = [&](size_t i) {
        return values[i] + values[COUNT + i] + values[2 * COUNT + i] + values[3 * COUNT + i];
    };
    flow.expect_some(out, COUNT, 499, stacked, 1e-6);
}

static void unpack_mapped(Flow &flow)
{
    enum { COUNT = 768 << 10 };
    const auto values = words(COUNT, 105);
    uint32_t *pixels = flow.pinned(values);
    float *planes = flow.pinned<float>(3 * COUNT);

    flow.time(1, [&] {
        unpack<<<COUNT / 256, 256, 0, flow.stream[0]>>>(flow.mapped(pixels), flow.mapped(planes),
                                                        COUNT);
    });
    expect_planes(flow, values, planes);
}

// ---- Two streams use host memory at a time ----

__global__ void count_above(const uint4 *in, unsigned bound, unsigned *total, int count)
{
    int above = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const uint4 v = in[i];
        above += (v.x > bound) + (v.y > bound) + (v.z > bound) + (v.w > bound);
    }
    above = __reduce_add_sync(~0u, above);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, above);
}

// Words of the host that a kernel reads in place.
struct Counted {
    enum : unsigned { BOUND = 3u << 30 };
    std::vector<uint32_t> values;
    uint32_t *in;
    unsigned *total;

    Counted(Flow &flow, size_t count) : values(words(count, 111))
    {
        in = flow.mapped(flow.pinned(values));
        total = flow.zeros<unsigned>(1);
    }

    void issue(cudaStream_t stream) const
    {
        count_above<<<96, 256, 0, stream>>>((const uint4 *) in, BOUND, total,
                                            (int) values.size() / 4);
    }

    void check(Flow &flow) const
    {
        const auto above = [](uint32_t v) { return v > BOUND; };
        flow.expect(flow.download(total, 1)[0],
                    (double) std::count_if(values.begin(), values.end(), above));
    }
};

// The squares of the first numbers.
__global__ void square_numbers(uint2 *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = make_uint2(2 * i * 2 * i, (2 * i + 1) * (2 * i + 1));
}

static void mapped_two_streams(Flow &flow)
{
    enum { COUNT = 1 << 20 };
    const Counted counted(flow, 5 << 19);
    unsigned *squares = flow.pinned<unsigned>(COUNT);

    flow.time(2, [&] {
        counted.issue(flow.stream[0]);
        square_numbers<<<COUNT / 2 / 256, 256, 0, flow.stream[1]>>>((uint2 *) flow.mapped(squares));
    });
    counted.check(flow);
    flow.expect_some(squares, COUNT, 499, [](size_t i) { return (unsigned) i * (unsigned) i; });
}

static void mapped_with_copy(Flow &flow)
{
    enum { COUNT = 3 << 20 };
    const Counted counted(flow, 2 << 20);
    const auto values = floats(COUNT, 112);
    const float *from = flow.pinned(values);
    float *to = flow.zeros<float>(COUNT);

    flow.time(2, [&] {
        CHECK(cudaMemcpyAsync(to, from, COUNT * sizeof(float), cudaMemcpyHostToDevice,
                              flow.stream[1]));
        counted.issue(flow.stream[0]);
    });
    counted.check(flow);
    flow.expect_some(flow.download(to, COUNT), COUNT, 997, [&](size_t i) { return values[i]; });
}

// ---- Records at random places: four fields in arrays of their own, or next to each other ----

enum { RECORDS = 512 << 10, PICKS = 96 << 10 };

__host__ __device__ inline float weighed(float x, float y, float z, float mass)
{
    return (x * x + y * y + z * z) * mass;
}

__global__ void weigh_fields(const float *fields, const int *picks, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *at = fields + picks[i];

    out[i] = weighed(at[0], at[RECORDS], at[2 * RECORDS], at[3 * RECORDS]);
}

__global__ void weigh_records(const float4 *records, const int *picks, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 r = records[picks[i]];

    out[i] = weighed(r.x, r.y, r.z, r.w);
}

// Field f of record i is at 4 i + f of `records`.
static float *pin_fields(Flow &flow, const std::vector<float> &records)
{
    float *fields = flow.pinned<float>(4 * RECORDS);

    for (int i = 0; i < 4 * RECORDS; i++)
        fields[i % 4 * RECORDS + i / 4] = records[i];
    return fields;
}

static void weigh(Flow &flow, bool as_fields)
{
    const auto records = floats(4 * RECORDS, 113);
    const auto picks = integers(PICKS, RECORDS, 114);
    const int *dpicks = flow.upload(picks), blocks = PICKS / 256;
    const float *in = flow.mapped(as_fields ? pin_fields(flow, records) : flow.pinned(records));
    float *out = flow.zeros<float>(PICKS);

    flow.time(1, [&] {
        if (as_fields)
            weigh_fields<<<blocks, 256, 0, flow.stream[0]>>>(in, dpicks, out);
        else
            weigh_records<<<blocks, 256, 0, flow.stream[0]>>>((const float4 *) in, dpicks, out);
    });
    const auto wanted = [&](size_t i) {
        const float *r = &records[4 * picks[i]];
        return weighed(r[0], r[1], r[2], r[3]);
    };
    flow.expect_some(flow.download(out, PICKS), PICKS, 97, wanted, 1e-5);
}

static void mapped_fields(Flow &flow)
{
    weigh(flow, true);
}

static void mapped_records(Flow &flow)
{
    weigh(flow, false);
}

// ---- A matrix from the host, transposed into device memory ----

enum { TALL = 1280, BROAD = 1024, PATCH = 32 };

// A block of 32 x 8 threads moves a patch of 32 x 32 values.
__global__ void transpose(const float *in, float *out)
{
    __shared__ float patch[PATCH][PATCH + 1];
    const int x = blockIdx.x * PATCH, y = blockIdx.y * PATCH;

    for (int row = threadIdx.y; row < PATCH; row += 8)
        patch[row][threadIdx.x] = in[(y + row) * BROAD + x + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < PATCH; row += 8)
        out[(x + row) * TALL + y + threadIdx.x] = patch[threadIdx.x][row];
}

static void mapped_transpose(Flow &flow)
{
    enum { COUNT = TALL * BROAD };
    const auto values = floats(COUNT, 115);
    float *in = flow.pinned(values), *out = flow.zeros<float>(COUNT);

    flow.time(1, [&] {
        transpose<<<dim3(BROAD / PATCH, TALL / PATCH), dim3(PATCH, 8), 0, flow.stream[0]>>>(
            flow.mapped(in), out);
    });
    flow.expect_some(flow.download(out, COUNT), COUNT, 499,
                     [&](size_t i) { return values[i % TALL * BROAD + i / TALL]; });
}

// ---- Few threads search the device's memory and append what they find to the host's ----

__global__ void search(const int *values, int count, int divisor, int *found, int *places)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        if (values[i] % divisor == 0)
            places[atomicAdd(found, 1)] = i;
}

static void mapped_append(Flow &flow)
{
    enum { COUNT = 64 << 10, DIVISOR = 41 };
    const auto values = integers(COUNT, 1 << 24, 116);
    const int *dvalues = flow.upload(values);
    int *found = flow.zeros<int>(1), *places = flow.pinned<int>(COUNT);
    size_t wanted = 0;

    flow.time(1, [&] {
        search<<<4, 64, 0, flow.stream[0]>>>(dvalues, COUNT, DIVISOR, found, flow.mapped(places));
    });
    const int got = flow.download(found, 1)[0];
    std::sort(places, places + got);
    for (int i = 0; i < COUNT; i++)
        if (values[i] % DIVISOR == 0)
            flow.expect(places[wanted++], i);
    flow.expect(got, (double) wanted);
}

#endif
