// columnar.cuh - a column store: packed frames, filters, joins that only ask, sums per month.
#ifndef BLIND_COLUMNAR_CUH
#define BLIND_COLUMNAR_CUH

#include "blind.cuh"

// ---- Frames of 1024 packed values: bits one after another, or 32 lanes interleaved ----

enum { FRAMES = 6144, FRAME_EACH = 1024 };

// A frame has a smallest value, a width in bits and the place of its words.
struct Frame {
    int least, width, at;
};

// Value k lies at bit k * width.
__global__ void frames_serial_kernel(const Frame *frames, const uint32_t *data, int *out)
{
    const Frame f = frames[blockIdx.x];
    const uint32_t mask = (1u << f.width) - 1;
    for (int k = threadIdx.x; k < FRAME_EACH; k += blockDim.x) {
        const int bit = k * f.width, word = f.at + bit / 32;
        const uint32_t low = data[word], high = data[word + 1];
        out[blockIdx.x * FRAME_EACH + k] = f.least + (__funnelshift_r(low, high, bit) & mask);
    }
}

// Lane l has 32 values: value k of it begins at bit k * width of the words l, l + 32, l + 64...
__global__ void frames_lanes_kernel(const Frame *frames, const uint32_t *data, int *out)
{
    const int frame = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    const Frame f = frames[frame];
    const uint32_t mask = (1u << f.width) - 1;
    const uint32_t *next = data + f.at + lane;
    uint32_t low = *next;
    int bit = 0;
    for (int k = 0; k < 32; k++) {
        uint32_t value = low >> bit;
        bit += f.width;
        if (bit >= 32) {
            bit -= 32;
            next += 32;
            low = *next;
            if (bit)
                value |= low << (f.width - bit);
        }
        out[frame * FRAME_EACH + k * 32 + lane] = f.least + (value & mask);
    }
}

// Puts `width` bits at bit `bit` of words that are `step` apart.
static void frame_put(uint32_t *words, int bit, int width, int step, uint32_t value)
{
    for (int k = 0; k < width; k++, bit++)
        words[bit / 32 * step] |= (value >> k & 1) << bit % 32;
}

static void frames(Run &run, bool lanes)
{
    std::vector<Frame> heads(FRAMES);
    int size = 0;
    for (int f = 0; f < FRAMES; f++) {
        heads[f] = { (int) (mix(9201 + f) % 100000), 4 + (int) (mix(f * 31 + 9202) % 14), size };
        size += heads[f].width * 32;
    }
    std::vector<uint32_t> values = words((size_t) FRAMES * FRAME_EACH, 9203), data(size + 64);
    for (int i = 0; i < FRAMES * FRAME_EACH; i++) {
        const Frame &f = heads[i / FRAME_EACH];
        const int k = i % FRAME_EACH;
        values[i] &= (1u << f.width) - 1;
        if (lanes)
            frame_put(&data[f.at + k % 32], k / 32 * f.width, f.width, 32, values[i]);
        else
            frame_put(&data[f.at], k * f.width, f.width, 1, values[i]);
    }
    const Frame *dh = run.upload(heads);
    const uint32_t *from = run.upload(data);
    int *to = run.zeros<int>((size_t) FRAMES * FRAME_EACH);
    run.measure([=] {
        if (lanes)
            frames_lanes_kernel<<<FRAMES / 4, dim3(32, 4)>>>(dh, from, to);
        else
            frames_serial_kernel<<<FRAMES, 256>>>(dh, from, to);
    });
    run.expect_all(
        run.output(to, (size_t) FRAMES * FRAME_EACH),
        [&](size_t i) { return heads[i / FRAME_EACH].least + (int) values[i]; }, 0, 211);
}

static void frames_serial(Run &run)
{
    frames(run, false);
}

static void frames_lanes(Run &run)
{
    frames(run, true);
}

// ---- Revenue of orders within bounds: columns are read only if needed, or always ----

enum { ORDER_ROWS = 8 << 20, ORDER_BLOCKS = 528 };

struct Orders {
    const int *date, *quantity, *discount, *price;
};

template <bool EARLY> __device__ inline long long order_revenue(const Orders &o, int i)
{
    if (EARLY) {
        const int date = o.date[i];
        if (date < 730 || date >= 1095 || o.quantity[i] >= 24)
            return 0;
        const int discount = o.discount[i];
        return discount < 5 || discount > 7 ? 0 : (long long) o.price[i] * discount;
    }
    const int date = o.date[i], quantity = o.quantity[i];
    const int discount = o.discount[i], price = o.price[i];
    const bool taken =
        (date >= 730) & (date < 1095) & (quantity < 24) & (discount >= 5) & (discount <= 7);
    return taken ? (long long) price * discount : 0;
}

template <bool EARLY> __global__ void revenue_kernel(Orders o, unsigned long long *total)
{
    __shared__ long long part[8];
    long long sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < ORDER_ROWS; i += gridDim.x * blockDim.x)
        sum += order_revenue<EARLY>(o, i);
    for (int by = 16; by; by /= 2)
        sum += __shfl_down_sync(~0u, sum, by);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            sum += part[w];
        atomicAdd(total, (unsigned long long) sum);
    }
}

// Orders came roughly by date, over seven years.
template <bool EARLY> static void revenue(Run &run)
{
    std::vector<int> date = integers(ORDER_ROWS, 30, 9204);
    const std::vector<int> quantity = integers(ORDER_ROWS, 50, 9205);
    const std::vector<int> discount = integers(ORDER_ROWS, 11, 9206);
    const std::vector<int> price = integers(ORDER_ROWS, 100000, 9207);
    for (int i = 0; i < ORDER_ROWS; i++)
        date[i] += i / (ORDER_ROWS / 2555);
    const Orders o = { run.upload(date), run.upload(quantity), run.upload(discount),
                       run.upload(price) };
    unsigned long long *to = run.zeros<unsigned long long>(1);
    run.measure([=] { revenue_kernel<EARLY><<<ORDER_BLOCKS, 256>>>(o, to); },
                [=] { CHECK(cudaMemset(to, 0, sizeof *to)); });
    long long wanted = 0;
    for (int i = 0; i < ORDER_ROWS; i++)
        if (date[i] >= 730 && date[i] < 1095 && quantity[i] < 24 && discount[i] >= 5 &&
            discount[i] <= 7)
            wanted += (long long) price[i] * discount[i];
    run.expect(run.output(to, 1)[0] == (unsigned long long) wanted, 1, 0);
}

static void revenue_early(Run &run)
{
    revenue<true>(run);
}

static void revenue_all(Run &run)
{
    revenue<false>(run);
}

// ---- Which rows have a partner: a bit per possible key, or a hash table of the keys ----

enum { SEMI_ROWS = 1 << 22, SEMI_KEYS = 1 << 18, SEMI_RANGE = 1 << 22, SEMI_SLOTS = 1 << 20 };

__host__ __device__ inline uint32_t semi_slot(int key)
{
    return (uint32_t) key * 2654435769u >> 12;
}

__global__ void semijoin_bitmap_kernel(const int *keys, const uint32_t *bits, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i];
    const unsigned found = __ballot_sync(~0u, bits[key / 32] >> key % 32 & 1);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = found;
}

__global__ void semijoin_hash_kernel(const int *keys, const uint32_t *table, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i];
    const int *slots = (const int *) table;
    uint32_t at = semi_slot(key);
    int here;
    while ((here = slots[at]) != -1 && here != key)
        at = (at + 1) % SEMI_SLOTS;
    const unsigned found = __ballot_sync(~0u, here == key);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = found;
}

static void semijoin(Run &run, void (*kernel)(const int *, const uint32_t *, unsigned *), bool hash)
{
    const std::vector<int> rows = integers(SEMI_ROWS, SEMI_RANGE, 9208);
    const std::vector<int> keys = integers(SEMI_KEYS, SEMI_RANGE, 9209);
    std::vector<uint32_t> bits(SEMI_RANGE / 32), table(SEMI_SLOTS, ~0u);
    for (int key : keys) {
        if (bits[key / 32] >> key % 32 & 1)
            continue;
        bits[key / 32] |= 1u << key % 32;
        uint32_t at = semi_slot(key);
        while (table[at] != ~0u)
            at = (at + 1) % SEMI_SLOTS;
        table[at] = key;
    }
    const int *dr = run.upload(rows);
    const uint32_t *from = run.upload(hash ? table : bits);
    unsigned *to = run.zeros<unsigned>(SEMI_ROWS / 32);
    run.measure([=] { kernel<<<SEMI_ROWS / 256, 256>>>(dr, from, to); });
    run.expect_all(
        run.output(to, SEMI_ROWS / 32),
        [&](size_t i) {
            unsigned found = 0;
            for (int k = 0; k < 32; k++) {
                const int key = rows[i * 32 + k];
                found |= (bits[key / 32] >> key % 32 & 1) << k;
            }
            return found;
        },
        0, 53);
}

static void semijoin_bitmap(Run &run)
{
    semijoin(run, semijoin_bitmap_kernel, false);
}

static void semijoin_hash(Run &run)
{
    semijoin(run, semijoin_hash_kernel, true);
}

// ---- Sums per month: twelve registers per thread, or shared memory with atomics ----

enum { MONTH_ROWS = 9 << 19, MONTH_BLOCKS = 396 };

__global__ void months_registers_kernel(const unsigned char *month, const float *amount, float *out)
{
    float sum[12] = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < MONTH_ROWS;
         i += gridDim.x * blockDim.x) {
        const int m = month[i];
        const float a = amount[i];
#pragma unroll
        for (int k = 0; k < 12; k++)
            sum[k] += m == k ? a : 0;
    }
#pragma unroll
    for (int k = 0; k < 12; k++) {
        for (int by = 16; by; by /= 2)
            sum[k] += __shfl_xor_sync(~0u, sum[k], by);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&out[k], sum[k]);
    }
}

__global__ void months_shared_kernel(const unsigned char *month, const float *amount, float *out)
{
    __shared__ float sum[8][12];
    const int warp = threadIdx.x / 32;
    if (threadIdx.x < 96)
        sum[threadIdx.x / 12][threadIdx.x % 12] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < MONTH_ROWS; i += gridDim.x * blockDim.x)
        atomicAdd(&sum[warp][month[i]], amount[i]);
    __syncthreads();
    if (threadIdx.x < 96)
        atomicAdd(&out[threadIdx.x % 12], sum[threadIdx.x / 12][threadIdx.x % 12]);
}

static void months(Run &run, void (*kernel)(const unsigned char *, const float *, float *))
{
    const std::vector<int> v = integers(MONTH_ROWS, 12, 9210);
    const std::vector<unsigned char> month(v.begin(), v.end());
    const std::vector<float> amount = floats(MONTH_ROWS, 9211, 0, 10);
    const unsigned char *dm = run.upload(month);
    const float *da = run.upload(amount);
    float *to = run.zeros<float>(12);
    run.measure([=] { kernel<<<MONTH_BLOCKS, 256>>>(dm, da, to); },
                [=] { CHECK(cudaMemset(to, 0, 12 * sizeof(float))); });
    std::vector<double> wanted(12);
    for (int i = 0; i < MONTH_ROWS; i++)
        wanted[month[i]] += amount[i];
    run.expect_all(
        run.output(to, 12), [&](int k) { return wanted[k]; }, 1e-4);
}

static void months_registers(Run &run)
{
    months(run, months_registers_kernel);
}

static void months_shared(Run &run)
{
    months(run, months_shared_kernel);
}

#endif
