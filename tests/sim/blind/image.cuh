// image.cuh - image work: gray values, edges, medians, smoothing, rotation.
#ifndef BLIND_IMAGE_CUH
#define BLIND_IMAGE_CUH

#include "blind.cuh"

static std::vector<unsigned char> random_bytes(size_t count, uint32_t seed)
{
    std::vector<unsigned char> v(count);
    for (size_t i = 0; i < count; i++)
        v[i] = (unsigned char) (mix((uint32_t) i + seed * 7919u) >> 9);
    return v;
}

// ---- RGB bytes to gray: a pixel per thread, or four as words ----

__host__ __device__ inline unsigned gray_of(unsigned r, unsigned g, unsigned b)
{
    return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

__global__ void gray_bytes_kernel(const unsigned char *rgb, unsigned char *gray, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gray[i] = (unsigned char) gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

__global__ void gray_words_kernel(const unsigned *rgb, unsigned *gray, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4)
        return;
    unsigned a = rgb[3 * i], b = rgb[3 * i + 1], c = rgb[3 * i + 2];
    gray[i] = gray_of(a & 255, a >> 8 & 255, a >> 16 & 255) |
              gray_of(a >> 24, b & 255, b >> 8 & 255) << 8 |
              gray_of(b >> 16 & 255, b >> 24, c & 255) << 16 |
              gray_of(c >> 8 & 255, c >> 16 & 255, c >> 24) << 24;
}

template <class Launch> static void gray(Run &run, Launch launch)
{
    const int n = 3840 * 2160;
    const std::vector<unsigned char> rgb = random_bytes((size_t) n * 3, 101);
    unsigned char *from = run.upload(rgb), *to = run.zeros<unsigned char>(n);
    run.measure([=] { launch(from, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]); }, 0, 7);
}

static void gray_bytes(Run &run)
{
    gray(run, [](unsigned char *from, unsigned char *to, int n) {
        gray_bytes_kernel<<<blocks_for(n, 256), 256>>>(from, to, n);
    });
}

static void gray_words(Run &run)
{
    gray(run, [](unsigned char *from, unsigned char *to, int n) {
        gray_words_kernel<<<blocks_for(n / 4, 192), 192>>>((unsigned *) from, (unsigned *) to, n);
    });
}

// ---- Sobel: nine loads per pixel, or a window that walks down a column ----

__host__ __device__ inline unsigned char edge_strength(int gx, int gy)
{
    int size = (int) sqrtf((float) (gx * gx + gy * gy));
    return (unsigned char) (size < 255 ? size : 255);
}

__host__ __device__ inline unsigned char sobel_at(const unsigned char *p, int width)
{
    int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
    int gy =
        p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
    return edge_strength(gx, gy);
}

__global__ void sobel_pixel_kernel(const unsigned char *in, unsigned char *out, int width,
                                   int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        out[y * width + x] = sobel_at(in + y * width + x, width);
}

__global__ void sobel_column_kernel(const unsigned char *in, unsigned char *out, int width,
                                    int height, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, first = 1 + blockIdx.y * rows;
    if (x < 1 || x >= width - 1)
        return;
    int sum[3], slope[3];
    for (int y = first - 1; y <= min(first + rows, height - 1); y++) {
        const unsigned char *p = in + y * width + x;
        sum[0] = sum[1], sum[1] = sum[2], slope[0] = slope[1], slope[1] = slope[2];
        sum[2] = p[-1] + 2 * p[0] + p[1];
        slope[2] = p[1] - p[-1];
        if (y > first)
            out[(y - 1) * width + x] =
                edge_strength(slope[0] + 2 * slope[1] + slope[2], sum[2] - sum[0]);
    }
}

template <class Launch> static void sobel(Run &run, Launch launch)
{
    const int width = 2048, height = 1538;
    const std::vector<unsigned char> in = random_bytes((size_t) width * height, 102);
    unsigned char *from = run.upload(in), *to = run.zeros<unsigned char>(in.size());
    run.measure([=] { launch(from, to, width, height); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const int x = (int) i % width, y = (int) i / width;
            const bool inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
            return inside ? sobel_at(&in[i], width) : 0;
        },
        0, 5);
}

static void sobel_pixel(Run &run)
{
    sobel(run, [](unsigned char *from, unsigned char *to, int width, int height) {
        dim3 block(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));
        sobel_pixel_kernel<<<grid, block>>>(from, to, width, height);
    });
}

static void sobel_column(Run &run)
{
    sobel(run, [](unsigned char *from, unsigned char *to, int width, int height) {
        dim3 grid(blocks_for(width, 128), blocks_for(height - 2, 16));
        sobel_column_kernel<<<grid, 128>>>(from, to, width, height, 16);
    });
}

// ---- Median of 3 x 3 by a network of 19 exchanges ----

__device__ inline void order(int &a, int &b)
{
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

__device__ inline int median_of_9(int *p)
{
    order(p[1], p[2]), order(p[4], p[5]), order(p[7], p[8]);
    order(p[0], p[1]), order(p[3], p[4]), order(p[6], p[7]);
    order(p[1], p[2]), order(p[4], p[5]), order(p[7], p[8]);
    order(p[0], p[3]), order(p[5], p[8]), order(p[4], p[7]);
    order(p[3], p[6]), order(p[1], p[4]), order(p[2], p[5]);
    order(p[4], p[7]), order(p[4], p[2]), order(p[6], p[4]);
    order(p[4], p[2]);
    return p[4];
}

__global__ void median9_kernel(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, p[9];
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    for (int k = 0; k < 9; k++)
        p[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
    out[y * width + x] = (unsigned char) median_of_9(p);
}

static void median9(Run &run)
{
    const int width = 1600, height = 1200;
    const std::vector<unsigned char> in = random_bytes((size_t) width * height, 103);
    unsigned char *from = run.upload(in), *to = run.zeros<unsigned char>(in.size());
    run.measure([=] {
        median9_kernel<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(from, to, width, height);
    });
    const std::vector<unsigned char> got = run.output(to, in.size());
    for (int y = 1; y < height - 1; y += 17)
        for (int x = 1; x < width - 1; x += 13) {
            unsigned char p[9];
            for (int k = 0; k < 9; k++)
                p[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
            std::sort(p, p + 9);
            run.expect(got[y * width + x], p[4], 0);
        }
}

// ---- Bilateral filter of 5 x 5: weights by distance and by difference ----

__host__ __device__ inline float bilateral_at(const float *in, int x, int y, int width, int height)
{
    const float here = in[y * width + x];
    float sum = 0, weights = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int sx = x + dx, sy = y + dy;
            sx = sx < 0 ? 0 : sx > width - 1 ? width - 1 : sx;
            sy = sy < 0 ? 0 : sy > height - 1 ? height - 1 : sy;
            float there = in[sy * width + sx], d = there - here;
            float w = expf(-(dx * dx + dy * dy) * 0.125f - d * d * 2.0f);
            sum += w * there;
            weights += w;
        }
    return sum / weights;
}

__global__ void bilateral_kernel(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = bilateral_at(in, x, y, width, height);
}

static void bilateral(Run &run)
{
    const int width = 600, height = 400;
    const std::vector<float> in = floats((size_t) width * height, 104, 0, 1);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] {
        dim3 block(32, 4), grid(blocks_for(width, 32), blocks_for(height, 4));
        bilateral_kernel<<<grid, block>>>(from, to, width, height);
    });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            return bilateral_at(in.data(), (int) i % width, (int) i / width, width, height);
        },
        1e-5, 61);
}

// ---- Rotation by 45 degrees: blocks of a row, or of a square ----

// The pixel that comes to (x, y), in fixed point, so that host and device agree; -1: none.
__host__ __device__ inline int source_of(int x, int y, int size)
{
    const int half = size / 2, unit = 46341; // 65536 / sqrt(2)
    int dx = x - half, dy = y - half;
    int sx = ((dx * unit - dy * unit) >> 16) + half, sy = ((dx * unit + dy * unit) >> 16) + half;
    return sx < 0 || sy < 0 || sx >= size || sy >= size ? -1 : sy * size + sx;
}

__global__ void rotate_kernel(const float *in, float *out, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int from = source_of(x, y, size);
    out[y * size + x] = from < 0 ? 0 : in[from];
}

static void rotate(Run &run, dim3 block)
{
    const int size = 2048;
    const std::vector<float> in = floats((size_t) size * size, 105);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure(
        [=] { rotate_kernel<<<dim3(size / block.x, size / block.y), block>>>(from, to, size); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const int at = source_of((int) i % size, (int) i / size, size);
            return at < 0 ? 0 : in[at];
        },
        0, 11);
}

static void rotate_rows(Run &run)
{
    rotate(run, dim3(256, 1));
}

static void rotate_squares(Run &run)
{
    rotate(run, dim3(16, 16));
}

#endif
