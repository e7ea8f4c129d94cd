// idioms.cuh - ways to lay out work: odd bricks, several elements per thread, votes, lists instead
// of flags, buckets, recursion or a stack.
#ifndef BLIND_IDIOMS_CUH
#define BLIND_IDIOMS_CUH

#include "blind.cuh"

// ---- Means of seven neighbours in three dimensions: blocks of 7 x 5 x 3, or of 32 x 2 x 2 ----

enum { BRICKS_X = 250, BRICKS_Y = 180, BRICKS_Z = 80 };

__host__ __device__ inline float mean_of_7(const float *in, int x, int y, int z)
{
    const int row = BRICKS_X, plane = BRICKS_X * BRICKS_Y;
    const float *p = in + (z * BRICKS_Y + y) * BRICKS_X + x;
    if (x < 1 || y < 1 || z < 1 || x >= BRICKS_X - 1 || y >= BRICKS_Y - 1 || z >= BRICKS_Z - 1)
        return p[0];
    return (p[0] + p[1] + p[-1] + p[row] + p[-row] + p[plane] + p[-plane]) * (1.0f / 7);
}

__global__ void bricks_kernel(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < BRICKS_X && y < BRICKS_Y && z < BRICKS_Z)
        out[(z * BRICKS_Y + y) * BRICKS_X + x] = mean_of_7(in, x, y, z);
}

static void bricks(Run &run, dim3 block)
{
    const size_t size = (size_t) BRICKS_X * BRICKS_Y * BRICKS_Z;
    const std::vector<float> in = floats(size, 381);
    float *from = run.upload(in), *to = run.zeros<float>(size);
    const dim3 grid(blocks_for(BRICKS_X, block.x), blocks_for(BRICKS_Y, block.y),
                    blocks_for(BRICKS_Z, block.z));
    run.measure([=] { bricks_kernel<<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, size),
        [&](size_t i) {
            return mean_of_7(in.data(), (int) i % BRICKS_X, (int) i / BRICKS_X % BRICKS_Y,
                             (int) i / BRICKS_X / BRICKS_Y);
        },
        1e-6, 71);
}

static void bricks_7x5x3(Run &run)
{
    bricks(run, dim3(7, 5, 3));
}

static void bricks_32x2x2(Run &run)
{
    bricks(run, dim3(32, 2, 2));
}

// ---- Lengths of vectors of two: an element per thread, eight far apart, or eight in a row ----

struct LengthOf {
    __host__ __device__ float operator()(float a, float b) const
    {
        return sqrtf(a * a + b * b);
    }
};

template <class F> __global__ void zip_one_kernel(const float *a, const float *b, float *out, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = f(a[i], b[i]);
}

template <class F> __global__ void zip_apart_kernel(const float *a, const float *b, float *out, F f)
{
    int first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int i = first + k * blockDim.x;
        out[i] = f(a[i], b[i]);
    }
}

template <class F> __global__ void zip_row_kernel(const float *a, const float *b, float *out, F f)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[first + k] = f(a[first + k], b[first + k]);
}

template <class Launch> static void zip(Run &run, Launch launch)
{
    const int n = 3000 * 2048;
    const std::vector<float> a = floats(n, 382), b = floats(n, 383);
    float *da = run.upload(a), *db = run.upload(b), *to = run.zeros<float>(n);
    run.measure([=] { launch(da, db, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return LengthOf()(a[i], b[i]); }, 1e-6, 53);
}

static void zip_one(Run &run)
{
    zip(run, [](float *a, float *b, float *out, int n) {
        zip_one_kernel<<<n / 256, 256>>>(a, b, out, LengthOf());
    });
}

static void zip_apart(Run &run)
{
    zip(run, [](float *a, float *b, float *out, int n) {
        zip_apart_kernel<<<n / 2048, 256>>>(a, b, out, LengthOf());
    });
}

static void zip_row(Run &run)
{
    zip(run, [](float *a, float *b, float *out, int n) {
        zip_row_kernel<<<n / 2048, 256>>>(a, b, out, LengthOf());
    });
}

// ---- Largest value of each connected region of a tile: until the block votes that none changed
// ----

enum { REGION_X = 32, REGION_Y = 16, REGION = REGION_X * REGION_Y };

// The largest value of the neighbours in the mask (positive values) and of the cell.
__host__ __device__ inline int region_step(const int *v, int x, int y)
{
    int most = v[y * REGION_X + x];
    if (most == 0)
        return 0;
    if (x > 0 && v[y * REGION_X + x - 1] > most)
        most = v[y * REGION_X + x - 1];
    if (x < REGION_X - 1 && v[y * REGION_X + x + 1] > most)
        most = v[y * REGION_X + x + 1];
    if (y > 0 && v[(y - 1) * REGION_X + x] > most)
        most = v[(y - 1) * REGION_X + x];
    if (y < REGION_Y - 1 && v[(y + 1) * REGION_X + x] > most)
        most = v[(y + 1) * REGION_X + x];
    return most;
}

__global__ void __launch_bounds__(REGION) settle_kernel(const int *in, int *out)
{
    __shared__ int v[REGION];
    int x = threadIdx.x, y = threadIdx.y, t = y * REGION_X + x, now, next;
    v[t] = now = in[blockIdx.x * REGION + t];
    __syncthreads(); // the tile is complete
    for (;;) {
        next = region_step(v, x, y);
        if (!__syncthreads_or(next != now))
            break;
        v[t] = now = next;
        __syncthreads(); // the step is complete
    }
    out[blockIdx.x * REGION + t] = now;
}

static void settle_tile(int *v)
{
    bool changed = true;
    while (changed) {
        const std::vector<int> before(v, v + REGION);
        changed = false;
        for (int t = 0; t < REGION; t++) {
            v[t] = region_step(before.data(), t % REGION_X, t / REGION_X);
            changed |= v[t] != before[t];
        }
    }
}

static void settle_blocks(Run &run)
{
    const int tiles = 360;
    std::vector<int> in = integers(tiles * REGION, 100000, 384);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = mix((uint32_t) i + 385) % 8 < 3 ? 0 : in[i] + 1;
    int *from = run.upload(in), *to = run.zeros<int>(in.size());
    run.measure([=] { settle_kernel<<<tiles, dim3(REGION_X, REGION_Y)>>>(from, to); });
    const std::vector<int> got = run.output(to, in.size());
    for (int tile = 0; tile < tiles; tile += 9) {
        std::vector<int> v(&in[tile * REGION], &in[tile * REGION] + REGION);
        settle_tile(v.data());
        for (int t = 0; t < REGION; t++)
            run.expect(got[tile * REGION + t], v[t], 0);
    }
}

// ---- Work for one item in thirty: every thread reads a flag, or a list names the items ----

__host__ __device__ inline unsigned flagged_work(unsigned x)
{
    for (int k = 0; k < 100; k++)
        x = x * 1103515245u + (x >> 9);
    return x;
}

__global__ void flagged_all_kernel(const unsigned char *flag, unsigned *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !flag[i])
        return;
    v[i] = flagged_work(v[i]);
}

__global__ void flagged_list_kernel(const int *list, unsigned *v, int count)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count)
        v[list[k]] = flagged_work(v[list[k]]);
}

static void flagged(Run &run, bool by_list)
{
    const int n = 1500000;
    const std::vector<uint32_t> in = words(n, 386);
    std::vector<unsigned char> flag(n);
    std::vector<int> list;
    for (int i = 0; i < n; i++)
        if (mix(i + 387) % 30 == 0) {
            flag[i] = 1;
            list.push_back(i);
        }
    const int count = (int) list.size(), *dl = run.upload(list);
    unsigned char *df = run.upload(flag);
    unsigned *from = run.upload(in), *v = run.zeros<unsigned>(n);
    run.measure(
        [=] {
            if (by_list)
                flagged_list_kernel<<<blocks_for(count, 128), 128>>>(dl, v, count);
            else
                flagged_all_kernel<<<blocks_for(n, 128), 128>>>(df, v, n);
        },
        [=] { CHECK(cudaMemcpy(v, from, 4 * (size_t) n, cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(v, n), [&](size_t i) { return flag[i] ? flagged_work(in[i]) : in[i]; }, 0, 3);
}

static void flagged_all(Run &run)
{
    flagged(run, false);
}

static void flagged_list(Run &run)
{
    flagged(run, true);
}

// ---- Keys to 256 buckets: each thread reserves a place, or a block reserves places for 2048 keys
// ----

enum { BUCKETS = 256, BUCKET_SIZE = 6000, KEYS_EACH = 8 };

__global__ void buckets_each_kernel(const unsigned *key, int *count, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned bucket = key[i] >> 24;
    int place = atomicAdd(&count[bucket], 1);
    out[bucket * BUCKET_SIZE + place] = key[i];
}

__global__ void __launch_bounds__(BUCKETS)
    buckets_block_kernel(const unsigned *key, int *count, unsigned *out, int n)
{
    __shared__ int mine[BUCKETS];
    int t = threadIdx.x, first = blockIdx.x * BUCKETS * KEYS_EACH + t, place[KEYS_EACH];
    mine[t] = 0;
    __syncthreads(); // the counts are zero
    for (int k = 0; k < KEYS_EACH; k++)
        if (first + k * BUCKETS < n)
            place[k] = atomicAdd(&mine[key[first + k * BUCKETS] >> 24], 1);
    __syncthreads(); // the counts are complete
    mine[t] = atomicAdd(&count[t], mine[t]);
    __syncthreads(); // the first places are known
    for (int k = 0; k < KEYS_EACH; k++)
        if (first + k * BUCKETS < n) {
            unsigned v = key[first + k * BUCKETS], bucket = v >> 24;
            out[bucket * BUCKET_SIZE + mine[bucket] + place[k]] = v;
        }
}

// The order in a bucket varies: counts and sums are compared, and only counts are in the checksum.
template <class Launch> static void buckets(Run &run, Launch launch)
{
    const int n = 1100000, size = BUCKETS * BUCKET_SIZE;
    const std::vector<uint32_t> key = words(n, 389);
    std::vector<double> wanted(BUCKETS), sums(BUCKETS);
    std::vector<unsigned> got(size);
    std::vector<int> counts(BUCKETS);
    for (uint32_t v : key) {
        counts[v >> 24]++;
        wanted[v >> 24] += v;
    }
    unsigned *from = run.upload(key), *out = run.zeros<unsigned>(size);
    int *count = run.zeros<int>(BUCKETS);
    run.measure([=] { launch(from, count, out, n); },
                [=] { CHECK(cudaMemset(count, 0, BUCKETS * sizeof(int))); });
    run.expect_all(
        run.output(count, BUCKETS), [&](size_t i) { return counts[i]; }, 0);
    CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (int i = 0; i < size; i++)
        sums[i / BUCKET_SIZE] += got[i];
    run.expect_all(
        sums, [&](size_t i) { return wanted[i]; }, 0);
}

static void buckets_each(Run &run)
{
    buckets(run, [](unsigned *key, int *count, unsigned *out, int n) {
        buckets_each_kernel<<<blocks_for(n, 256), 256>>>(key, count, out, n);
    });
}

static void buckets_block(Run &run)
{
    buckets(run, [](unsigned *key, int *count, unsigned *out, int n) {
        buckets_block_kernel<<<blocks_for(n, BUCKETS * KEYS_EACH), BUCKETS>>>(key, count, out, n);
    });
}

// ---- Simpson's rule with halving where it is not exact: by recursion, or by a stack ----

// The recursion needs less than the default stack of 1024 bytes.
enum { SIMPSON_DEPTH = 12 };

__host__ __device__ inline float bent(float x, float at)
{
    return sqrtf(fabsf(x - at)) + 0.3f * x;
}

struct Interval {
    float low, high, f_low, f_middle, f_high;
    int depth;
};

// Halves an interval. True: its two halves agree with the whole, and their sum is in *sum.
__device__ inline bool halve(const Interval &whole, float at, Interval *left, Interval *right,
                             float *sum)
{
    float middle = 0.5f * (whole.low + whole.high), width = whole.high - whole.low;
    float one = bent(0.5f * (whole.low + middle), at), two = bent(0.5f * (middle + whole.high), at);
    *left = { whole.low, middle, whole.f_low, one, whole.f_middle, whole.depth + 1 };
    *right = { middle, whole.high, whole.f_middle, two, whole.f_high, whole.depth + 1 };
    float rough = width / 6 * (whole.f_low + 4 * whole.f_middle + whole.f_high);
    *sum = width / 12 * (whole.f_low + 4 * one + 2 * whole.f_middle + 4 * two + whole.f_high);
    return fabsf(*sum - rough) < 1e-5f || whole.depth == SIMPSON_DEPTH;
}

__device__ __noinline__ float simpson_of(Interval whole, float at)
{
    Interval left, right;
    float sum;
    if (halve(whole, at, &left, &right, &sum))
        return sum;
    return simpson_of(left, at) + simpson_of(right, at);
}

__device__ inline Interval unit_interval(float at)
{
    return { 0, 1, bent(0, at), bent(0.5f, at), bent(1, at), 0 };
}

__global__ void simpson_recursive_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = simpson_of(unit_interval(in[i]), in[i]);
}

__global__ void simpson_stack_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, top = 0;
    Interval stack[SIMPSON_DEPTH + 2], left, right;
    float total = 0, sum;
    if (i >= n)
        return;
    stack[top++] = unit_interval(in[i]);
    while (top > 0) {
        Interval whole = stack[--top];
        if (halve(whole, in[i], &left, &right, &sum)) {
            total += sum;
            continue;
        }
        stack[top++] = left;
        stack[top++] = right;
    }
    out[i] = total;
}

// A part may agree with its halves before it is exact: the tolerance is wide.
template <class Launch> static void simpson(Run &run, Launch launch)
{
    const int n = 16000;
    const std::vector<float> in = floats(n, 388, 0, 1);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { launch(from, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            const double a = in[i];
            return 2.0 / 3 * (pow(a, 1.5) + pow(1 - a, 1.5)) + 0.15;
        },
        2e-2, 3);
}

static void simpson_recursive(Run &run)
{
    simpson(run, [](float *in, float *out, int n) {
        simpson_recursive_kernel<<<blocks_for(n, 64), 64>>>(in, out, n);
    });
}

static void simpson_stack(Run &run)
{
    simpson(run, [](float *in, float *out, int n) {
        simpson_stack_kernel<<<blocks_for(n, 64), 64>>>(in, out, n);
    });
}

#endif
