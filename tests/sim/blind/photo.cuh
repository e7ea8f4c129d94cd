// photo.cuh - work on pictures: edges, colours, dilation, dithering.
#ifndef BLIND_PHOTO_CUH
#define BLIND_PHOTO_CUH

#include "blind.cuh"
#include "image.cuh"

// ---- Canny's thin edges: strengths of neighbours computed again, or kept in a tile ----

// |gx| + |gy| by Sobel's weights; 0 at the border. The direction: across, down, or a diagonal.
__host__ __device__ inline int edge_strength(const unsigned char *in, int x, int y, int width,
                                             int height, int *direction)
{
    *direction = 0;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return 0;
    const unsigned char *p = in + y * width + x;
    int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[width - 1];
    int gy =
        p[width - 1] + 2 * p[width] + p[width + 1] - p[-1 - width] - 2 * p[-width] - p[1 - width];
    int ax = gx < 0 ? -gx : gx, ay = gy < 0 ? -gy : gy;
    *direction = ax > 2 * ay ? 0 : ay > 2 * ax ? 1 : (gx ^ gy) >= 0 ? 2 : 3;
    return ax + ay;
}

__host__ __device__ inline int step_x(int direction)
{
    return direction == 1 ? 0 : direction == 3 ? -1 : 1;
}

__host__ __device__ inline int step_y(int direction)
{
    return direction == 0 ? 0 : 1;
}

__host__ __device__ inline int thin_edge(const unsigned char *in, int x, int y, int width,
                                         int height)
{
    int direction, ignored;
    int here = edge_strength(in, x, y, width, height, &direction);
    int dx = step_x(direction), dy = step_y(direction);
    int one = edge_strength(in, x + dx, y + dy, width, height, &ignored);
    int other = edge_strength(in, x - dx, y - dy, width, height, &ignored);
    return here > one && here >= other ? here : 0;
}

__global__ void canny_global_kernel(const unsigned char *in, short *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = (short) thin_edge(in, x, y, width, height);
}

// Threads at the block's sides also compute the tile's halo.
__global__ void canny_shared_kernel(const unsigned char *in, short *out, int width, int height)
{
    __shared__ int tile[10][34];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    int direction, ignored;
    int here = edge_strength(in, x, y, width, height, &direction);
    tile[ty + 1][tx + 1] = here;
    if (tx == 0)
        tile[ty + 1][0] = edge_strength(in, x - 1, y, width, height, &ignored);
    if (tx == 31)
        tile[ty + 1][33] = edge_strength(in, x + 1, y, width, height, &ignored);
    if (ty == 0) {
        tile[0][tx + 1] = edge_strength(in, x, y - 1, width, height, &ignored);
        if (tx == 0)
            tile[0][0] = edge_strength(in, x - 1, y - 1, width, height, &ignored);
        if (tx == 31)
            tile[0][33] = edge_strength(in, x + 1, y - 1, width, height, &ignored);
    }
    if (ty == 7) {
        tile[9][tx + 1] = edge_strength(in, x, y + 1, width, height, &ignored);
        if (tx == 0)
            tile[9][0] = edge_strength(in, x - 1, y + 1, width, height, &ignored);
        if (tx == 31)
            tile[9][33] = edge_strength(in, x + 1, y + 1, width, height, &ignored);
    }
    __syncthreads(); // the strengths are complete
    int dx = step_x(direction), dy = step_y(direction);
    int one = tile[ty + 1 + dy][tx + 1 + dx], other = tile[ty + 1 - dy][tx + 1 - dx];
    out[y * width + x] = here > one && here >= other ? here : 0;
}

template <class Launch> static void canny(Run &run, Launch launch)
{
    const int width = 1024, height = 960;
    const std::vector<unsigned char> in = random_bytes((size_t) width * height, 301);
    unsigned char *from = run.upload(in);
    short *to = run.zeros<short>(in.size());
    run.measure(
        [=] { launch(dim3(width / 32, height / 8), dim3(32, 8), from, to, width, height); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            return thin_edge(in.data(), (int) i % width, (int) i / width, width, height);
        },
        0, 43);
}

static void canny_global(Run &run)
{
    canny(run, [](dim3 grid, dim3 block, unsigned char *in, short *out, int width, int height) {
        canny_global_kernel<<<grid, block>>>(in, out, width, height);
    });
}

static void canny_shared(Run &run)
{
    canny(run, [](dim3 grid, dim3 block, unsigned char *in, short *out, int width, int height) {
        canny_shared_kernel<<<grid, block>>>(in, out, width, height);
    });
}

// ---- RGB bytes to planes of hue, saturation and value ----

__host__ __device__ inline float3 hsv_of(int r, int g, int b)
{
    int most = r > g ? r : g, least = r < g ? r : g;
    most = most > b ? most : b;
    least = least < b ? least : b;
    float range = (float) (most - least), hue;
    if (most == least)
        hue = 0;
    else if (most == r)
        hue = 60 * ((g - b) / range) + (g < b ? 360 : 0);
    else if (most == g)
        hue = 60 * ((b - r) / range) + 120;
    else
        hue = 60 * ((r - g) / range) + 240;
    return make_float3(hue, most ? range / most : 0, most / 255.0f);
}

__global__ void hsv_kernel(const unsigned char *rgb, float *h, float *s, float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float3 c = hsv_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
    h[i] = c.x;
    s[i] = c.y;
    v[i] = c.z;
}

static void hsv_planes(Run &run)
{
    const int n = 3500000;
    const std::vector<unsigned char> in = random_bytes((size_t) n * 3, 303);
    unsigned char *from = run.upload(in);
    float *to = run.zeros<float>((size_t) n * 3);
    run.measure([=] { hsv_kernel<<<blocks_for(n, 192), 192>>>(from, to, to + n, to + 2 * n, n); });
    const std::vector<float> got = run.output(to, (size_t) n * 3);
    for (int i = 0; i < n; i += 29) {
        const float3 c = hsv_of(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
        run.expect(got[i], c.x, 1e-5);
        run.expect(got[n + i], c.y, 1e-5);
        run.expect(got[2 * n + i], c.z, 1e-5);
    }
}

// ---- Dilation of 5 x 5: 25 loads per pixel, or rows then columns in shared memory ----

__host__ __device__ inline int within(int v, int limit)
{
    return v < 0 ? 0 : v >= limit ? limit - 1 : v;
}

__host__ __device__ inline int dilated(const unsigned char *in, int x, int y, int width, int height)
{
    int most = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int v = in[within(y + dy, height) * width + within(x + dx, width)];
            most = v > most ? v : most;
        }
    return most;
}

__global__ void dilate_direct_kernel(const unsigned char *in, unsigned char *out, int width,
                                     int height)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = (unsigned char) dilated(in, x, y, width, height);
}

__global__ void dilate_separable_kernel(const unsigned char *in, unsigned char *out, int width,
                                        int height)
{
    __shared__ unsigned char raw[20][36], row[20][32];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16, t = threadIdx.y * 32 + threadIdx.x;
    for (int k = t; k < 20 * 36; k += 512)
        raw[k / 36][k % 36] =
            in[within(y0 + k / 36 - 2, height) * width + within(x0 + k % 36 - 2, width)];
    __syncthreads(); // the tile is complete
    for (int k = t; k < 20 * 32; k += 512) {
        const unsigned char *p = &raw[k / 32][k % 32];
        row[k / 32][k % 32] = max(max(max(p[0], p[1]), max(p[2], p[3])), p[4]);
    }
    __syncthreads(); // the rows' maxima are complete
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y, most = 0;
    for (int k = 0; k < 5; k++)
        most = max(most, row[threadIdx.y + k][threadIdx.x]);
    if (x < width && y < height)
        out[y * width + x] = (unsigned char) most;
}

template <class Launch> static void dilate(Run &run, Launch launch)
{
    const int width = 1230, height = 970;
    const std::vector<unsigned char> in = random_bytes((size_t) width * height, 304);
    unsigned char *from = run.upload(in), *to = run.zeros<unsigned char>(in.size());
    run.measure([=] { launch(from, to, width, height); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            return dilated(in.data(), (int) i % width, (int) i / width, width, height);
        },
        0, 37);
}

static void dilate_direct(Run &run)
{
    dilate(run, [](unsigned char *in, unsigned char *out, int width, int height) {
        dim3 grid(blocks_for(width, 16), blocks_for(height, 16));
        dilate_direct_kernel<<<grid, dim3(16, 16)>>>(in, out, width, height);
    });
}

static void dilate_separable(Run &run)
{
    dilate(run, [](unsigned char *in, unsigned char *out, int width, int height) {
        dim3 grid(blocks_for(width, 32), blocks_for(height, 16));
        dilate_separable_kernel<<<grid, dim3(32, 16)>>>(in, out, width, height);
    });
}

// ---- Dithering: the error goes to the next pixel of the row; a thread per row ----

// Pixel k of row `row` lies at row * by_row + k * by_pixel.
__global__ void dither_kernel(const unsigned char *in, unsigned char *out, int rows, int cols,
                              int by_row, int by_pixel)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, error = 0;
    if (row >= rows)
        return;
    for (int k = 0; k < cols; k++) {
        int v = in[row * by_row + k * by_pixel] + error;
        int pixel = v > 127 ? 255 : 0;
        error = v - pixel;
        out[row * by_row + k * by_pixel] = (unsigned char) pixel;
    }
}

static void dither(Run &run, bool by_columns)
{
    const int rows = 1080, cols = 900;
    const int by_row = by_columns ? 1 : cols, by_pixel = by_columns ? rows : 1;
    const std::vector<unsigned char> in = random_bytes((size_t) rows * cols, 305);
    unsigned char *from = run.upload(in), *to = run.zeros<unsigned char>(in.size());
    run.measure([=] {
        dither_kernel<<<blocks_for(rows, 32), 32>>>(from, to, rows, cols, by_row, by_pixel);
    });
    const std::vector<unsigned char> got = run.output(to, in.size());
    for (int row = 0; row < rows; row += 13)
        for (int k = 0, error = 0; k < cols; k++) {
            const int v = in[row * by_row + k * by_pixel] + error, pixel = v > 127 ? 255 : 0;
            error = v - pixel;
            run.expect(got[row * by_row + k * by_pixel], pixel, 0);
        }
}

static void dither_rows(Run &run)
{
    dither(run, false);
}

static void dither_columns(Run &run)
{
    dither(run, true);
}

#endif
