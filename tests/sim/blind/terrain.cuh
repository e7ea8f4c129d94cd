// terrain.cuh - grids of heights and images: flow directions, speckle removal, weighted boxes,
// shading, and paths of water.
#ifndef BLIND_TERRAIN_CUH
#define BLIND_TERRAIN_CUH

#include "blind.cuh"

// ---- The steepest of eight directions, 8 where none falls: heights from global or shared memory
// ----

__host__ __device__ inline int steepest(const float *at, int width)
{
    int best = 8, direction = 0;
    float fall = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (!dx && !dy)
                continue;
            float f = (at[0] - at[dy * width + dx]) * (dx && dy ? 0.70710678f : 1);
            if (f > fall) {
                fall = f;
                best = direction;
            }
            direction++;
        }
    return best;
}

__global__ void slope_global_kernel(const float *height, unsigned char *out, int width, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < rows - 1)
        out[y * width + x] = steepest(height + y * width + x, width);
}

__global__ void slope_shared_kernel(const float *height, unsigned char *out, int width, int rows)
{
    __shared__ float tile[10][34];
    const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
        int x = min(max(left + k % 34, 0), width - 1), y = min(max(top + k / 34, 0), rows - 1);
        tile[k / 34][k % 34] = height[y * width + x];
    }
    __syncthreads(); // the tile and its border are complete
    int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < rows - 1)
        out[y * width + x] = steepest(&tile[threadIdx.y + 1][threadIdx.x + 1], 34);
}

static void slope(Run &run, void (*kernel)(const float *, unsigned char *, int, int))
{
    const int width = 1500, rows = 1000;
    const std::vector<float> height = floats(width * rows, 2001, 0, 900);
    float *dh = run.upload(height);
    unsigned char *to = run.zeros<unsigned char>(width * rows);
    const dim3 grid(blocks_for(width, 32), blocks_for(rows, 8));
    run.measure([=] { kernel<<<grid, dim3(32, 8)>>>(dh, to, width, rows); });
    run.expect_all(
        run.output(to, width * rows),
        [&](size_t i) {
            const int x = i % width, y = i / width;
            const bool inside = x > 0 && y > 0 && x < width - 1 && y < rows - 1;
            return inside ? steepest(&height[i], width) : 0;
        },
        0, 31);
}

static void slope_global(Run &run)
{
    slope(run, slope_global_kernel);
}

static void slope_shared(Run &run)
{
    slope(run, slope_shared_kernel);
}

// ---- Speckle-reducing diffusion: coefficients stored between two kernels, or computed three times
// ----

struct Speckle {
    const float *image;
    int width, rows;

    __host__ __device__ float at(int x, int y) const
    {
        x = x < 0 ? 0 : x >= width ? width - 1 : x;
        y = y < 0 ? 0 : y >= rows ? rows - 1 : y;
        return image[y * width + x];
    }

    __host__ __device__ float coefficient(int x, int y) const
    {
        x = x >= width ? width - 1 : x;
        y = y >= rows ? rows - 1 : y;
        const float c = at(x, y), n = at(x, y - 1) - c, s = at(x, y + 1) - c;
        const float w = at(x - 1, y) - c, e = at(x + 1, y) - c;
        const float g2 = (n * n + s * s + w * w + e * e) / (c * c), l = (n + s + w + e) / c;
        const float den = 1 + 0.25f * l, q = (0.5f * g2 - 0.0625f * l * l) / (den * den);
        const float k = 1 / (1 + (q - 0.05f) / (0.05f * 1.05f));
        return k < 0 ? 0 : k > 1 ? 1 : k;
    }

    __host__ __device__ float updated(int x, int y, float own, float south, float east) const
    {
        const float c = at(x, y), n = at(x, y - 1) - c, s = at(x, y + 1) - c;
        const float w = at(x - 1, y) - c, e = at(x + 1, y) - c;
        return c + 0.125f * (own * n + south * s + own * w + east * e);
    }
};

__global__ void srad_first_kernel(Speckle in, float *coefficient)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < in.width && y < in.rows)
        coefficient[y * in.width + x] = in.coefficient(x, y);
}

__global__ void srad_second_kernel(Speckle in, const float *coefficient, float *out)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= in.width || y >= in.rows)
        return;
    float own = coefficient[y * in.width + x];
    float south = coefficient[min(y + 1, in.rows - 1) * in.width + x];
    float east = coefficient[y * in.width + min(x + 1, in.width - 1)];
    out[y * in.width + x] = in.updated(x, y, own, south, east);
}

__global__ void srad_one_kernel(Speckle in, float *out)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= in.width || y >= in.rows)
        return;
    out[y * in.width + x] =
        in.updated(x, y, in.coefficient(x, y), in.coefficient(x, y + 1), in.coefficient(x + 1, y));
}

template <class Launch> static void srad(Run &run, Launch launch)
{
    const int width = 880, rows = 640;
    const std::vector<float> image = floats(width * rows, 2002, 1, 2);
    float *di = run.upload(image), *between = run.zeros<float>(width * rows);
    float *to = run.zeros<float>(width * rows);
    const dim3 grid(blocks_for(width, 16), blocks_for(rows, 16));
    const Speckle in = { di, width, rows }, host = { image.data(), width, rows };
    run.measure([=] { launch(grid, in, between, to); });
    run.expect_all(
        run.output(to, width * rows),
        [&](size_t i) {
            const int x = i % width, y = i / width;
            return host.updated(x, y, host.coefficient(x, y), host.coefficient(x, y + 1),
                                host.coefficient(x + 1, y));
        },
        1e-3, 37);
}

static void srad_two(Run &run)
{
    srad(run, [](dim3 grid, Speckle in, float *between, float *to) {
        srad_first_kernel<<<grid, dim3(16, 16)>>>(in, between);
        srad_second_kernel<<<grid, dim3(16, 16)>>>(in, between, to);
    });
}

static void srad_one(Run &run)
{
    srad(run, [](dim3 grid, Speckle in, float *, float *to) {
        srad_one_kernel<<<grid, dim3(16, 16)>>>(in, to);
    });
}

// ---- Weighted 3x3x3 boxes: one cell or four neighbours per thread ----

enum { BOX_X = 192, BOX_Y = 126, BOX_Z = 70 };

__constant__ float box_weight[4]; // by the number of coordinates that differ

__global__ void box27_each_kernel(const float *in, float *out)
{
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y + 1, z = blockIdx.z + 1;
    float sum = 0;
    if (x < 1 || x >= BOX_X - 1 || y >= BOX_Y - 1)
        return;
    for (int c = -1; c <= 1; c++)
        for (int b = -1; b <= 1; b++)
            for (int a = -1; a <= 1; a++)
                sum += box_weight[abs(a) + abs(b) + abs(c)] *
                       in[((z + c) * BOX_Y + y + b) * BOX_X + x + a];
    out[(z * BOX_Y + y) * BOX_X + x] = sum;
}

__global__ void box27_four_kernel(const float *in, float *out)
{
    int x = threadIdx.x * 4, y = blockIdx.y * 4 + threadIdx.y + 1, z = blockIdx.z + 1;
    float sum[4] = {};
    if (y >= BOX_Y - 1)
        return;
#pragma unroll
    for (int c = -1; c <= 1; c++)
#pragma unroll
        for (int b = -1; b <= 1; b++) {
            const float *row = in + ((z + c) * BOX_Y + y + b) * BOX_X + x;
            const float4 m = *(const float4 *) row;
            const float v[6] = { x ? row[-1] : 0, m.x, m.y, m.z, m.w, x < BOX_X - 4 ? row[4] : 0 };
            const float near = box_weight[abs(b) + abs(c)], far = box_weight[abs(b) + abs(c) + 1];
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum[k] += near * v[k + 1] + far * (v[k] + v[k + 2]);
        }
    for (int k = 0; k < 4; k++)
        if (x + k > 0 && x + k < BOX_X - 1)
            out[(z * BOX_Y + y) * BOX_X + x + k] = sum[k];
}

static void box27(Run &run, void (*kernel)(const float *, float *), dim3 grid, dim3 block)
{
    const float weight[4] = { 0.2f, 0.05f, 0.025f, 0.025f };
    const std::vector<float> in = floats(BOX_X * BOX_Y * BOX_Z, 2003);
    float *di = run.upload(in), *to = run.zeros<float>(in.size());
    CHECK(cudaMemcpyToSymbol(box_weight, weight, sizeof(weight)));
    run.measure([=] { kernel<<<grid, block>>>(di, to); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const int x = i % BOX_X, y = i / BOX_X % BOX_Y, z = i / BOX_X / BOX_Y;
            double sum = 0;
            if (x < 1 || y < 1 || z < 1 || x >= BOX_X - 1 || y >= BOX_Y - 1 || z >= BOX_Z - 1)
                return 0.0;
            for (int k = 0; k < 27; k++) {
                const int a = k % 3 - 1, b = k / 3 % 3 - 1, c = k / 9 - 1;
                sum += weight[abs(a) + abs(b) + abs(c)] * in[i + (c * BOX_Y + b) * BOX_X + a];
            }
            return sum;
        },
        1e-5, 41);
}

static void box27_each(Run &run)
{
    box27(run, box27_each_kernel, dim3(BOX_X / 64, (BOX_Y - 2 + 3) / 4, BOX_Z - 2), dim3(64, 4));
}

static void box27_four(Run &run)
{
    box27(run, box27_four_kernel, dim3(1, (BOX_Y - 2 + 3) / 4, BOX_Z - 2), dim3(BOX_X / 4, 4));
}

// ---- Shading by slope and aspect, as maps show it ----

__host__ __device__ inline float shade_of(const float *h, int width)
{
    const float a = h[-width - 1], b = h[-width], c = h[-width + 1], d = h[-1], f = h[1];
    const float g = h[width - 1], i = h[width], j = h[width + 1];
    const float dx = ((c + 2 * f + j) - (a + 2 * d + g)) / 80;
    const float dy = ((g + 2 * i + j) - (a + 2 * b + c)) / 80;
    const float slope = atanf(sqrtf(dx * dx + dy * dy)), aspect = atan2f(dy, -dx);
    const float light =
        0.70710678f * cosf(slope) + 0.70710678f * sinf(slope) * cosf(2.3561945f - aspect);
    return light > 0 ? 255 * light : 0;
}

__global__ void hillshade_kernel(const float *height, float *out, int width, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < rows - 1)
        out[y * width + x] = shade_of(height + y * width + x, width);
}

static void hillshade(Run &run)
{
    const int width = 1100, rows = 700;
    const std::vector<float> height = floats(width * rows, 2004, 0, 20);
    float *dh = run.upload(height), *to = run.zeros<float>(width * rows);
    const dim3 block(64, 2), grid(blocks_for(width, 64), blocks_for(rows, 2));
    run.measure([=] { hillshade_kernel<<<grid, block>>>(dh, to, width, rows); });
    run.expect_all(
        run.output(to, width * rows),
        [&](size_t i) {
            const int x = i % width, y = i / width;
            const bool inside = x > 0 && y > 0 && x < width - 1 && y < rows - 1;
            return inside ? shade_of(&height[i], width) : 0;
        },
        1e-3, 29);
}

// ---- Each cell follows the water to its pit: paths of different lengths ----

__host__ __device__ inline int2 pit_of(const int *next, int at)
{
    int steps = 0;
    while (next[at] != at) {
        at = next[at];
        steps++;
    }
    return make_int2(at, steps);
}

__global__ void drain_kernel(const int *next, int2 *pit, int cells)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells)
        pit[i] = pit_of(next, i);
}

static void drain_follow(Run &run)
{
    const int cells = 280000;
    std::vector<int> next = integers(cells, 700, 2005);
    const std::vector<int> is_pit = integers(cells, 18, 2006);
    for (int i = 0; i < cells; i++)
        next[i] = is_pit[i] == 0 ? i : std::max(0, i - 1 - next[i]);
    next[0] = 0;
    int *dn = run.upload(next);
    int2 *to = run.zeros<int2>(cells);
    run.measure([=] { drain_kernel<<<blocks_for(cells, 256), 256>>>(dn, to, cells); });
    const std::vector<int2> got = run.output(to, cells);
    for (int i = 0; i < cells; i += 13) {
        const int2 wanted = pit_of(next.data(), i);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

#endif
