// retouch.cuh - pictures made better: medians of 25, seams to cut, local contrast, noise removed.
#ifndef BLIND_RETOUCH_CUH
#define BLIND_RETOUCH_CUH

#include "blind.cuh"

// ---- Median of 5 x 5 bytes: bits of the result from the highest, or minima and maxima drop ----

enum { MEDIAN25_W = 768, MEDIAN25_H = 400 };

__host__ __device__ inline int median25_at(const unsigned char *in, int x, int y)
{
    x = x < 0 ? 0 : x >= MEDIAN25_W ? MEDIAN25_W - 1 : x;
    y = y < 0 ? 0 : y >= MEDIAN25_H ? MEDIAN25_H - 1 : y;
    return in[y * MEDIAN25_W + x];
}

// The largest value with at most 12 of the 25 below it.
__global__ void median25_bits_kernel(const unsigned char *in, unsigned char *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int v[25], median = 0;
#pragma unroll
    for (int k = 0; k < 25; k++)
        v[k] = median25_at(in, x + k % 5 - 2, y + k / 5 - 2);
    for (int bit = 128; bit; bit /= 2) {
        int below = 0;
#pragma unroll
        for (int k = 0; k < 25; k++)
            below += v[k] < median + bit;
        if (below <= 12)
            median += bit;
    }
    out[y * MEDIAN25_W + x] = (unsigned char) median;
}

// v[0] becomes the least, v[count - 1] the largest.
template <int COUNT> __device__ inline void median25_ends(int *v)
{
#pragma unroll
    for (int k = 1; k < COUNT; k++) {
        const int low = min(v[0], v[k]);
        v[k] = max(v[0], v[k]);
        v[0] = low;
    }
#pragma unroll
    for (int k = 1; k < COUNT - 1; k++) {
        const int high = max(v[k], v[COUNT - 1]);
        v[k] = min(v[k], v[COUNT - 1]);
        v[COUNT - 1] = high;
    }
}

// The first 14 values: their least and largest cannot be the median; the next value replaces one,
// the other is forgotten.
template <int COUNT> __device__ inline int median25_forget(int *v, const int *rest)
{
    median25_ends<COUNT>(v);
    if constexpr (COUNT == 3) {
        return v[1];
    } else {
        v[0] = rest[0];
        return median25_forget<COUNT - 1>(v, rest + 1);
    }
}

__global__ void median25_forget_kernel(const unsigned char *in, unsigned char *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int v[25];
#pragma unroll
    for (int k = 0; k < 25; k++)
        v[k] = median25_at(in, x + k % 5 - 2, y + k / 5 - 2);
    out[y * MEDIAN25_W + x] = (unsigned char) median25_forget<14>(v, v + 14);
}

static void median25(Run &run, void (*kernel)(const unsigned char *, unsigned char *))
{
    const std::vector<int> v = integers(MEDIAN25_W * MEDIAN25_H, 256, 12000);
    const std::vector<unsigned char> in(v.begin(), v.end());
    const unsigned char *from = run.upload(in);
    unsigned char *to = run.zeros<unsigned char>(in.size());
    const dim3 grid(MEDIAN25_W / 32, MEDIAN25_H / 8), block(32, 8);
    run.measure([=] { kernel<<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            int w[25];
            for (int k = 0; k < 25; k++)
                w[k] = median25_at(in.data(), (int) (i % MEDIAN25_W) + k % 5 - 2,
                                   (int) (i / MEDIAN25_W) + k / 5 - 2);
            std::sort(w, w + 25);
            return w[12];
        },
        0, 53);
}

static void median25_bits(Run &run)
{
    median25(run, median25_bits_kernel);
}

static void median25_forget(Run &run)
{
    median25(run, median25_forget_kernel);
}

// ---- Cheapest seams from the top to each pixel: a launch per row, or one block for all rows ----

enum { SEAM_W = 2048, SEAM_H = 288 };

__global__ void seams_row_kernel(const int *energy, int *cost, int y)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int *above = cost + (y - 1) * SEAM_W;
    int least = above[x];
    if (x > 0)
        least = min(least, above[x - 1]);
    if (x < SEAM_W - 1)
        least = min(least, above[x + 1]);
    cost[y * SEAM_W + x] = energy[y * SEAM_W + x] + least;
}

// Two rows of costs in shared memory take turns.
__global__ void seams_block_kernel(const int *energy, int *cost)
{
    __shared__ int rows[2][SEAM_W];
    for (int x = threadIdx.x; x < SEAM_W; x += blockDim.x)
        rows[0][x] = energy[x];
    __syncthreads();
    for (int y = 1; y < SEAM_H; y++) {
        const int *above = rows[(y - 1) & 1];
        for (int x = threadIdx.x; x < SEAM_W; x += blockDim.x) {
            int least = above[x];
            least = min(least, above[max(x - 1, 0)]);
            least = min(least, above[min(x + 1, SEAM_W - 1)]);
            const int sum = energy[y * SEAM_W + x] + least;
            rows[y & 1][x] = sum;
            cost[y * SEAM_W + x] = sum;
        }
        __syncthreads();
    }
}

static void seams(Run &run, bool block)
{
    const std::vector<int> energy = integers(SEAM_W * SEAM_H, 1000, 12001);
    std::vector<int> wanted(energy);
    for (int y = 1; y < SEAM_H; y++)
        for (int x = 0; x < SEAM_W; x++) {
            const int *above = &wanted[(y - 1) * SEAM_W];
            const int left = above[std::max(x - 1, 0)], right = above[std::min(x + 1, SEAM_W - 1)];
            wanted[y * SEAM_W + x] += std::min(above[x], std::min(left, right));
        }
    const int *from = run.upload(energy);
    int *to = run.upload(energy);
    run.measure([=] {
        if (block)
            seams_block_kernel<<<1, 1024>>>(from, to);
        else
            for (int y = 1; y < SEAM_H; y++)
                seams_row_kernel<<<SEAM_W / 128, 128>>>(from, to, y);
    });
    run.expect_all(
        run.output(to, energy.size()), [&](size_t i) { return wanted[i]; }, 0, 97);
}

static void seams_launches(Run &run)
{
    seams(run, false);
}

static void seams_block(Run &run)
{
    seams(run, true);
}

// ---- Local contrast: four curves around a pixel interpolated; curves in global or shared ----

enum { CURVE_W = 2048, CURVE_H = 1536, CURVE_TILES = 8 };

// `curves`: 256 bytes for each of 8 x 8 tiles.
__host__ __device__ inline unsigned char curve_pixel(const unsigned char *curves, int v, int x,
                                                     int y)
{
    const int w = CURVE_W / CURVE_TILES, h = CURVE_H / CURVE_TILES, last = CURVE_TILES - 1;
    const int left = (x + w / 2) / w - 1, top = (y + h / 2) / h - 1;
    const int fx = (x + w / 2) % w, fy = (y + h / 2) % h;
    const int x0 = left < 0 ? 0 : left, x1 = left + 1 > last ? last : left + 1;
    const int y0 = top < 0 ? 0 : top, y1 = top + 1 > last ? last : top + 1;
    const int a = curves[(y0 * CURVE_TILES + x0) * 256 + v];
    const int b = curves[(y0 * CURVE_TILES + x1) * 256 + v];
    const int c = curves[(y1 * CURVE_TILES + x0) * 256 + v];
    const int d = curves[(y1 * CURVE_TILES + x1) * 256 + v];
    const int upper = a * (w - fx) + b * fx, lower = c * (w - fx) + d * fx;
    return (unsigned char) ((upper * (h - fy) + lower * fy) / (w * h));
}

__global__ void curves_global_kernel(const unsigned char *in, const unsigned char *curves,
                                     unsigned char *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[y * CURVE_W + x] = curve_pixel(curves, in[y * CURVE_W + x], x, y);
}

// A block applies the curves to 8 rows of 512 pixels.
__global__ void curves_shared_kernel(const unsigned char *in, const unsigned char *curves,
                                     unsigned char *out)
{
    __shared__ uint4 table[CURVE_TILES * CURVE_TILES * 16];
    for (int i = threadIdx.x; i < CURVE_TILES * CURVE_TILES * 16; i += blockDim.x)
        table[i] = ((const uint4 *) curves)[i];
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = blockIdx.y * 8; y < blockIdx.y * 8 + 8; y++)
        out[y * CURVE_W + x] =
            curve_pixel((const unsigned char *) table, in[y * CURVE_W + x], x, y);
}

static void curves(Run &run, bool shared)
{
    const std::vector<int> v = integers(CURVE_W * CURVE_H, 256, 12002);
    const std::vector<unsigned char> in(v.begin(), v.end());
    std::vector<unsigned char> table(CURVE_TILES * CURVE_TILES * 256);
    for (size_t i = 0; i < table.size(); i++) {
        const double gain = 0.5 + (i / 256) * 0.02;
        table[i] = (unsigned char) (255 * pow((i % 256) / 255.0, gain));
    }
    const unsigned char *from = run.upload(in), *dt = run.upload(table);
    unsigned char *to = run.zeros<unsigned char>(in.size());
    run.measure([=] {
        if (shared)
            curves_shared_kernel<<<dim3(CURVE_W / 512, CURVE_H / 8), 512>>>(from, dt, to);
        else
            curves_global_kernel<<<dim3(CURVE_W / 256, CURVE_H), 256>>>(from, dt, to);
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            return curve_pixel(table.data(), in[i], (int) (i % CURVE_W), (int) (i / CURVE_W));
        },
        0, 211);
}

static void curves_global(Run &run)
{
    curves(run, false);
}

static void curves_shared(Run &run)
{
    curves(run, true);
}

// ---- Non-local means: 49 shifts of a patch of 3 x 3; pixels from global memory, or a tile ----

enum { DENOISE_W = 320, DENOISE_H = 256, DENOISE_PITCH = DENOISE_W + 8 };

// `at` points to the pixel; rows are `pitch` apart.
__host__ __device__ inline float denoise_pixel(const float *at, int pitch)
{
    float sum = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            const float *other = at + dy * pitch + dx;
            float distance = 0;
            for (int py = -1; py <= 1; py++)
                for (int px = -1; px <= 1; px++) {
                    const float d = at[py * pitch + px] - other[py * pitch + px];
                    distance += d * d;
                }
            const float weight = expf(-2 * distance);
            sum += weight * other[0];
            weights += weight;
        }
    return sum / weights;
}

// The input has a border of four pixels.
__global__ void denoise_direct_kernel(const float *in, float *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    out[y * DENOISE_W + x] = denoise_pixel(in + (y + 4) * DENOISE_PITCH + x + 4, DENOISE_PITCH);
}

__global__ void denoise_tile_kernel(const float *in, float *out)
{
    __shared__ float tile[12][40];
    const int x = blockIdx.x * 32, y = blockIdx.y * 4;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 12 * 40; i += 128)
        tile[i / 40][i % 40] = in[(y + i / 40) * DENOISE_PITCH + x + i % 40];
    __syncthreads();
    out[(y + threadIdx.y) * DENOISE_W + x + threadIdx.x] =
        denoise_pixel(&tile[threadIdx.y + 4][threadIdx.x + 4], 40);
}

static void denoise(Run &run, void (*kernel)(const float *, float *))
{
    const std::vector<float> in = floats(DENOISE_PITCH * (DENOISE_H + 8), 12003, 0, 1);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(DENOISE_W * DENOISE_H);
    const dim3 grid(DENOISE_W / 32, DENOISE_H / 4), block(32, 4);
    run.measure([=] { kernel<<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, DENOISE_W * DENOISE_H),
        [&](size_t i) {
            const size_t x = i % DENOISE_W, y = i / DENOISE_W;
            return denoise_pixel(&in[(y + 4) * DENOISE_PITCH + x + 4], DENOISE_PITCH);
        },
        1e-4, 101);
}

static void denoise_direct(Run &run)
{
    denoise(run, denoise_direct_kernel);
}

static void denoise_tile(Run &run)
{
    denoise(run, denoise_tile_kernel);
}

#endif
