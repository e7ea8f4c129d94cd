// grids.cuh - grids and sparse matrices: red and black points, blocks, columns, particles, Poisson.
#ifndef BLIND_GRIDS_CUH
#define BLIND_GRIDS_CUH

#include "blind.cuh"

static std::vector<double> grid_doubles(size_t count, uint32_t seed)
{
    const std::vector<float> v = floats(count, seed);
    return std::vector<double>(v.begin(), v.end());
}

// ---- Red and black Gauss-Seidel: colours mixed in one array, or an array per colour ----

enum { RED_W = 2048, RED_H = 2048, RED_HALF = RED_W / 2 };

__global__ void redblack_mixed_kernel(float *u, const float *f, int colour)
{
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2 + (y + colour & 1);
    const int i = y * RED_W + x;
    if (x > 0 && y > 0 && x < RED_W - 1 && y < RED_H - 1)
        u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - RED_W] + u[i + RED_W] - f[i]);
}

// Point (x, y) is at x / 2 of its row in its colour's array.
__global__ void redblack_split_kernel(float *mine, const float *other, const float *f, int colour)
{
    const int y = blockIdx.y * blockDim.y + threadIdx.y, h = blockIdx.x * blockDim.x + threadIdx.x;
    const int odd = y + colour & 1, x = 2 * h + odd, i = y * RED_HALF + h;
    if (x > 0 && y > 0 && x < RED_W - 1 && y < RED_H - 1)
        mine[i] = 0.25f * (other[i - 1 + odd] + other[i + odd] + other[i - RED_HALF] +
                           other[i + RED_HALF] - f[i]);
}

// Where the split arrays hold point i: those of colour 0 first.
static size_t redblack_at(size_t i)
{
    const size_t x = i % RED_W, y = i / RED_W;
    return (x + y) % 2 * (RED_HALF * RED_H) + y * RED_HALF + x / 2;
}

static void redblack_host(std::vector<float> &u, const std::vector<float> &f)
{
    for (int colour = 0; colour < 2; colour++)
        for (int y = 1; y < RED_H - 1; y++)
            for (int x = 1; x < RED_W - 1; x++) {
                const int i = y * RED_W + x;
                if ((x + y) % 2 == colour)
                    u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - RED_W] + u[i + RED_W] - f[i]);
            }
}

static void redblack(Run &run, bool split)
{
    const size_t count = RED_W * RED_H, half = count / 2;
    std::vector<float> u = floats(count, 9501), f = floats(count, 9502), su(count), sf(count);
    for (size_t i = 0; i < count; i++) {
        const size_t at = split ? redblack_at(i) : i;
        su[at] = u[i];
        sf[at] = f[i];
    }
    const float *from = run.upload(su), *df = run.upload(sf);
    float *to = run.zeros<float>(count);
    const dim3 grid(RED_HALF / 32, RED_H / 8), block(32, 8);
    run.measure(
        [=] {
            for (int c = 0; c < 2; c++)
                if (split)
                    redblack_split_kernel<<<grid, block>>>(to + c * half, to + (1 - c) * half,
                                                           df + c * half, c);
                else
                    redblack_mixed_kernel<<<grid, block>>>(to, df, c);
        },
        [=] { CHECK(cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice)); });
    redblack_host(u, f);
    const std::vector<float> got = run.output(to, count);
    for (size_t i = 0; i < count; i += 997)
        run.expect(got[split ? redblack_at(i) : i], u[i], 1e-5);
}

static void redblack_mixed(Run &run)
{
    redblack(run, false);
}

static void redblack_split(Run &run)
{
    redblack(run, true);
}

// ---- Blocks of 4 x 4 doubles times a vector: a row per thread, or a row of blocks per warp ----

enum { BSR_ROWS = 49152, BSR_BLOCKS = 10 };

__global__ void bsr_thread_kernel(const int *columns, const double *blocks, const double *x,
                                  double *y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, first = row / 4 * BSR_BLOCKS;
    double sum = 0;
    for (int k = first; k < first + BSR_BLOCKS; k++) {
        const double *b = blocks + (size_t) k * 16 + row % 4 * 4, *v = x + columns[k] * 4;
        for (int c = 0; c < 4; c++)
            sum += b[c] * v[c];
    }
    y[row] = sum;
}

__global__ void bsr_warp_kernel(const int *columns, const double *blocks, const double *x,
                                double *y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    double sum = 0;
    for (int k = row * BSR_BLOCKS + lane / 16; k < (row + 1) * BSR_BLOCKS; k += 2)
        sum += blocks[(size_t) k * 16 + lane % 16] * x[columns[k] * 4 + lane % 4];
    sum += __shfl_xor_sync(~0u, sum, 16);
    sum += __shfl_xor_sync(~0u, sum, 2);
    sum += __shfl_xor_sync(~0u, sum, 1);
    if (lane < 16 && lane % 4 == 0)
        y[row * 4 + lane / 4] = sum;
}

static void bsr(Run &run, void (*kernel)(const int *, const double *, const double *, double *),
                int threads)
{
    std::vector<int> columns = integers(BSR_ROWS * BSR_BLOCKS, 600, 9503);
    for (int k = 0; k < BSR_ROWS * BSR_BLOCKS; k++) // near the diagonal
        columns[k] = (k / BSR_BLOCKS + columns[k]) % BSR_ROWS;
    const std::vector<double> blocks = grid_doubles(columns.size() * 16, 9504);
    const std::vector<double> x = grid_doubles(BSR_ROWS * 4, 9505);
    const int *dc = run.upload(columns);
    const double *db = run.upload(blocks), *dx = run.upload(x);
    double *to = run.zeros<double>(BSR_ROWS * 4);
    run.measure([=] { kernel<<<BSR_ROWS * threads / 256, 256>>>(dc, db, dx, to); });
    run.expect_all(
        run.output(to, BSR_ROWS * 4),
        [&](size_t row) {
            double sum = 0;
            for (size_t k = row / 4 * BSR_BLOCKS; k < (row / 4 + 1) * BSR_BLOCKS; k++)
                for (int c = 0; c < 4; c++)
                    sum += blocks[k * 16 + row % 4 * 4 + c] * x[columns[k] * 4 + c];
            return sum;
        },
        1e-11, 97);
}

static void bsr_thread(Run &run)
{
    bsr(run, bsr_thread_kernel, 4);
}

static void bsr_warp(Run &run)
{
    bsr(run, bsr_warp_kernel, 32);
}

// ---- A transpose times a vector, in doubles: rows scatter by atomics, or columns are stored ----

enum { CSC_SIDE = 1 << 18, CSC_EACH = 10, CSC_COUNT = CSC_SIDE * CSC_EACH };

__global__ void transposed_scatter_kernel(const int *columns, const double *values, const double *x,
                                          double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[columns[i]], values[i] * x[i / CSC_EACH]);
}

__global__ void transposed_sorted_kernel(const int *starts, const int *rows, const double *values,
                                         const double *x, double *y)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int k = starts[column]; k < starts[column + 1]; k++)
        sum += values[k] * x[rows[k]];
    y[column] = sum;
}

static void transposed(Run &run, bool sorted)
{
    const std::vector<int> columns = integers(CSC_COUNT, CSC_SIDE, 9506);
    const std::vector<double> values = grid_doubles(CSC_COUNT, 9507);
    const std::vector<double> x = grid_doubles(CSC_SIDE, 9508);
    std::vector<int> starts(CSC_SIDE + 1), rows(CSC_COUNT);
    std::vector<double> moved(CSC_COUNT);
    std::vector<double> wanted(CSC_SIDE);
    for (int c : columns)
        starts[c + 1]++;
    for (int c = 0; c < CSC_SIDE; c++)
        starts[c + 1] += starts[c];
    std::vector<int> next(starts);
    for (int i = 0; i < CSC_COUNT; i++) {
        const int at = next[columns[i]]++;
        rows[at] = i / CSC_EACH;
        moved[at] = values[i];
        wanted[columns[i]] += values[i] * x[i / CSC_EACH];
    }
    const int *dc = run.upload(columns), *ds = run.upload(starts), *dr = run.upload(rows);
    const double *dv = run.upload(values), *dm = run.upload(moved), *dx = run.upload(x);
    double *to = run.zeros<double>(CSC_SIDE);
    run.measure(
        [=] {
            if (sorted)
                transposed_sorted_kernel<<<CSC_SIDE / 128, 128>>>(ds, dr, dm, dx, to);
            else
                transposed_scatter_kernel<<<CSC_COUNT / 256, 256>>>(dc, dv, dx, to);
        },
        [=] { CHECK(cudaMemset(to, 0, CSC_SIDE * sizeof(double))); });
    run.expect_all(
        run.output(to, CSC_SIDE), [&](size_t i) { return wanted[i]; }, 1e-11, 101);
}

static void transposed_scatter(Run &run)
{
    transposed(run, false);
}

static void transposed_sorted(Run &run)
{
    transposed(run, true);
}

// ---- Particles in a field of a plane: in random order, or sorted by their cells ----

enum { PUSHED = 3 << 19, PUSH_SIDE = 1024 };

// The field between the four nodes around a place moves the particle (x, y, vx, vy).
__host__ __device__ inline float4 pushed(float4 p, const float2 *field)
{
    const int x = (int) p.x, y = (int) p.y;
    const float fx = p.x - x, fy = p.y - y;
    const float2 *at = field + y * PUSH_SIDE + x;
    const float2 a = at[0], b = at[1], c = at[PUSH_SIDE], d = at[PUSH_SIDE + 1];
    const float ex = (a.x * (1 - fx) + b.x * fx) * (1 - fy) + (c.x * (1 - fx) + d.x * fx) * fy;
    const float ey = (a.y * (1 - fx) + b.y * fx) * (1 - fy) + (c.y * (1 - fx) + d.y * fx) * fy;
    const float vx = p.z + 0.1f * ex + 0.02f * p.w, vy = p.w + 0.1f * ey - 0.02f * p.z;
    return make_float4(p.x + 0.1f * vx, p.y + 0.1f * vy, vx, vy);
}

__global__ void pushed_kernel(float4 *particles, const float2 *field)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    particles[i] = pushed(particles[i], field);
}

static void pushing(Run &run, bool sorted)
{
    const std::vector<float> place = floats(2 * PUSHED, 9509, 1, PUSH_SIDE - 2);
    const std::vector<float> speed = floats(2 * PUSHED, 9510);
    const std::vector<float> field = floats(2 * PUSH_SIDE * PUSH_SIDE, 9511);
    std::vector<float4> p(PUSHED);
    for (int i = 0; i < PUSHED; i++)
        p[i] = make_float4(place[2 * i], place[2 * i + 1], speed[2 * i], speed[2 * i + 1]);
    if (sorted)
        std::stable_sort(p.begin(), p.end(), [](const float4 &a, const float4 &b) {
            return (int) a.y * PUSH_SIDE + (int) a.x < (int) b.y * PUSH_SIDE + (int) b.x;
        });
    const float4 *from = run.upload(p);
    const float2 *df = (const float2 *) run.upload(field);
    float4 *to = run.zeros<float4>(PUSHED);
    run.measure(
        [=] { pushed_kernel<<<PUSHED / 256, 256>>>(to, df); },
        [=] { CHECK(cudaMemcpy(to, from, PUSHED * sizeof(float4), cudaMemcpyDeviceToDevice)); });
    const std::vector<float4> got = run.output(to, PUSHED);
    for (int i = 0; i < PUSHED; i += 1009) {
        const float4 wanted = pushed(p[i], (const float2 *) field.data());
        run.expect(got[i].x, wanted.x, 1e-5);
        run.expect(got[i].w, wanted.w, 1e-5);
    }
}

static void pushing_random(Run &run)
{
    pushing(run, false);
}

static void pushing_sorted(Run &run)
{
    pushing(run, true);
}

#endif
