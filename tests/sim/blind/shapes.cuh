// shapes.cuh - how work is laid out: tiny grids, large and small blocks, early exits, queues,
// tables of functions, stacks.
#ifndef BLIND_SHAPES_CUH
#define BLIND_SHAPES_CUH

#include "blind.cuh"

// ---- Functions from a table, by the data ----

typedef float (*Function)(float);

__device__ __noinline__ float softly(float x)
{
    return x / (1 + fabsf(x));
}

__device__ __noinline__ float folded(float x)
{
    return x > 0.5f ? 1 - x : x * 1.5f;
}

__device__ __noinline__ float rooted(float x)
{
    return sqrtf(fabsf(x) + 0.1f);
}

__device__ __noinline__ float cubed(float x)
{
    return 0.5f * x * x * x - 0.25f;
}

__device__ const Function functions[4] = { softly, folded, rooted, cubed };

__global__ void table_kernel(const unsigned *program, const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    for (unsigned code = program[i / 40]; code; code >>= 2)
        x = functions[code & 3](x);
    out[i] = x;
}

static float table_on_host(unsigned code, float x)
{
    for (; code; code >>= 2)
        switch (code & 3) {
        case 0:
            x = x / (1 + fabsf(x));
            break;
        case 1:
            x = x > 0.5f ? 1 - x : x * 1.5f;
            break;
        case 2:
            x = sqrtf(fabsf(x) + 0.1f);
            break;
        default:
            x = 0.5f * x * x * x - 0.25f;
        }
    return x;
}

// Forty neighbours run the same program, so that some warps diverge. Values are compared with a
// tolerance for jumps at the fold.
static void function_table(Run &run)
{
    const int n = 120000;
    const std::vector<uint32_t> program = words(n / 40, 187);
    const std::vector<float> in = floats(n, 188);
    unsigned *code = run.upload(program);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { table_kernel<<<blocks_for(n, 192), 192>>>(code, from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return table_on_host(program[i / 40], in[i]); }, 0.3,
        13);
}

// ---- The first large value of each column: threads leave early ----

__global__ void first_above_kernel(const float *in, int *found, int columns, int rows, float limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= columns)
        return;
    for (int k = 0; k < rows; k++)
        if (in[(size_t) k * columns + i] > limit) {
            found[i] = k;
            return;
        }
    found[i] = -1;
}

static void first_above(Run &run)
{
    const int columns = 40000, rows = 200;
    const float limit = 0.96f;
    const std::vector<float> in = floats((size_t) columns * rows, 189, 0, 1);
    float *from = run.upload(in);
    int *found = run.zeros<int>(columns);
    run.measure([=] {
        first_above_kernel<<<blocks_for(columns, 128), 128>>>(from, found, columns, rows, limit);
    });
    run.expect_all(
        run.output(found, columns),
        [&](size_t i) {
            for (int k = 0; k < rows; k++)
                if (in[(size_t) k * columns + i] > limit)
                    return k;
            return -1;
        },
        0, 3);
}

// ---- Long serial threads in a grid of 20 blocks: sines, logarithms, exponentials ----

template <class T> __host__ __device__ inline T long_series(T x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = T(0.4) * sin(x) + T(0.2) * log(1 + x * x) + T(0.3) * exp(-x * x);
    return x;
}

__global__ void long_series_kernel(const float *in, float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = long_series(in[i], rounds);
}

static void long_threads(Run &run)
{
    const int blocks = 20, rounds = 300;
    const std::vector<float> in = floats(blocks * 256, 190);
    float *from = run.upload(in), *to = run.zeros<float>(blocks * 256);
    run.measure([=] { long_series_kernel<<<blocks, 256>>>(from, to, rounds); });
    run.expect_all(
        run.output(to, blocks * 256), [&](size_t i) { return long_series((double) in[i], rounds); },
        1e-4, 17);
}

// ---- Norms of rows of 1024: a block of 1024 threads with barriers, or of 64 threads ----

template <int THREADS>
__global__ void __launch_bounds__(THREADS) row_norm_kernel(const float *in, float *out)
{
    __shared__ float sums[THREADS];
    float v[1024 / THREADS], sum = 0;
    int t = threadIdx.x;
    in += (size_t) blockIdx.x * 1024;
    out += (size_t) blockIdx.x * 1024;
    for (int k = 0; k < 1024 / THREADS; k++) {
        v[k] = in[k * THREADS + t];
        sum += v[k] * v[k];
    }
    sums[t] = sum;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads(); // the previous step is complete
        if (t < half)
            sums[t] += sums[t + half];
    }
    __syncthreads(); // the sum is complete
    float by = rsqrtf(sums[0] / 1024 + 1e-5f);
    for (int k = 0; k < 1024 / THREADS; k++)
        out[k * THREADS + t] = v[k] * by;
}

template <int THREADS> static void row_norm(Run &run)
{
    const int rows = 3000;
    const std::vector<float> in = floats((size_t) rows * 1024, 191);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { row_norm_kernel<THREADS><<<rows, THREADS>>>(from, to); });
    const std::vector<float> got = run.output(to, in.size());
    for (int row = 0; row < rows; row += 61) {
        const float *v = &in[(size_t) row * 1024];
        double sum = 0;
        for (int c = 0; c < 1024; c++)
            sum += (double) v[c] * v[c];
        for (int c = 0; c < 1024; c += 7)
            run.expect(got[(size_t) row * 1024 + c], v[c] / sqrt(sum / 1024 + 1e-5), 1e-5);
    }
}

static void row_norm_1024(Run &run)
{
    row_norm<1024>(run);
}

static void row_norm_64(Run &run)
{
    row_norm<64>(run);
}

// ---- Queens: each thread places the first three, then counts by a stack of free columns ----

enum { QUEENS = 12 };

__global__ void queens_kernel(int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = 3, found = 0, first = i;
    unsigned all = (1u << QUEENS) - 1, open[QUEENS], columns[QUEENS], left[QUEENS], right[QUEENS];
    unsigned c = 0, l = 0, r = 0;
    if (i >= QUEENS * QUEENS * QUEENS)
        return;
    for (int k = 0; k < 3; k++, first /= QUEENS) {
        unsigned bit = 1u << first % QUEENS;
        if (bit & (c | l | r))
            return;
        c |= bit;
        l = (l | bit) << 1;
        r = (r | bit) >> 1;
    }
    columns[3] = c, left[3] = l, right[3] = r, open[3] = all & ~(c | l | r);
    while (row >= 3) {
        unsigned bit = open[row] & (0 - open[row]);
        open[row] ^= bit;
        if (!bit) {
            row--;
            continue;
        }
        if (row == QUEENS - 1) {
            found++;
            continue;
        }
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
        row++;
        open[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    atomicAdd(count, found);
}

static void queens(Run &run)
{
    int *count = run.zeros<int>(1);
    run.measure([=] { queens_kernel<<<blocks_for(QUEENS * QUEENS * QUEENS, 64), 64>>>(count); },
                [=] { CHECK(cudaMemset(count, 0, sizeof(int))); });
    run.expect(run.output(count, 1)[0], 14200, 0);
}

// ---- Items of unequal cost: eight in a row per thread, or by a queue from which warps take 32
// ----

enum { ITEMS = 132 * 256 * 8 };

// One of 16 groups of 256 items costs 25 times as much as the others.
__host__ __device__ inline unsigned work_on(unsigned i)
{
    unsigned x = i, steps = i / 256 * 2654435761u >> 28 == 0 ? 500 : 20;
    for (unsigned k = 0; k < steps; k++)
        x = (x ^ x >> 7) * 1664525u + k;
    return x;
}

__global__ void work_fixed_kernel(unsigned *out)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int i = first; i < first + 8; i++)
        out[i] = work_on(i);
}

__global__ void work_queue_kernel(unsigned *out, int *next)
{
    int lane = threadIdx.x % 32, first;
    for (;;) {
        if (lane == 0)
            first = atomicAdd(next, 32);
        first = __shfl_sync(~0u, first, 0);
        if (first >= ITEMS)
            return;
        out[first + lane] = work_on(first + lane);
    }
}

static void work(Run &run, bool queue)
{
    unsigned *out = run.zeros<unsigned>(ITEMS);
    int *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (queue)
                work_queue_kernel<<<132, 256>>>(out, next);
            else
                work_fixed_kernel<<<132, 256>>>(out);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(out, ITEMS), [](size_t i) { return work_on((unsigned) i); }, 0, 31);
}

static void work_fixed(Run &run)
{
    work(run, false);
}

static void work_queue(Run &run)
{
    work(run, true);
}

// ---- Newton's fractal of z^3 = 1, in double precision ----

__host__ __device__ inline int newton_steps(double x, double y)
{
    int steps = 0;
    for (; steps < 24; steps++) {
        double xx = x * x - y * y, yy = 2 * x * y, size = 3 * (xx * xx + yy * yy) + 1e-30;
        double nx = xx * x - yy * y - 1, ny = xx * y + yy * x;
        double dx = (nx * xx + ny * yy) / size, dy = (ny * xx - nx * yy) / size;
        x -= dx;
        y -= dy;
        if (dx * dx + dy * dy < 1e-12)
            break;
    }
    return steps;
}

__global__ void newton_kernel(int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = newton_steps((x - 239.3) * 0.008, (y - 159.7) * 0.008);
}

// Rounding decides a few pixels at the borders of the basins.
static void newton_fractal(Run &run)
{
    const int width = 480, height = 320;
    int *out = run.zeros<int>(width * height), differ = 0;
    run.measure(
        [=] { newton_kernel<<<dim3(width / 16, height / 8), dim3(16, 8)>>>(out, width, height); });
    const std::vector<int> got = run.output(out, width * height);
    for (int i = 0; i < width * height; i += 7)
        differ += got[i] != newton_steps((i % width - 239.3) * 0.008, (i / width - 159.7) * 0.008);
    run.expect(differ < width * height / 7 / 200, 1, 0);
}

#endif
