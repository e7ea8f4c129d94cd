// drawing.cuh - lines into a bitmap, curves of any degree, triangles into bins of tiles, a
// painter's filter.
#ifndef BLIND_DRAWING_CUH
#define BLIND_DRAWING_CUH

#include "blind.cuh"

// ---- Lines by Bresenham, one per thread: into bytes by stores, or into bits by atomics ----

enum { LINES_SIZE = 1024, LINES_COUNT = 40000 };

struct LineBytes {
    unsigned char *at;

    __device__ void set(int x, int y) const
    {
        at[y * LINES_SIZE + x] = 1;
    }
};

struct LineBits {
    uint32_t *at;

    __device__ void set(int x, int y) const
    {
        atomicOr(&at[(y * LINES_SIZE + x) / 32], 1u << x % 32);
    }
};

struct LineHost {
    unsigned char *at;

    void set(int x, int y) const
    {
        at[y * LINES_SIZE + x] = 1;
    }
};

#pragma nv_exec_check_disable
template <class Image> __host__ __device__ inline void line_draw(int4 line, Image image)
{
    int x = line.x, y = line.y;
    const int dx = abs(line.z - x), dy = -abs(line.w - y);
    const int sx = x < line.z ? 1 : -1, sy = y < line.w ? 1 : -1;
    for (int error = dx + dy;;) {
        image.set(x, y);
        if (x == line.z && y == line.w)
            break;
        const int twice = 2 * error;
        if (twice >= dy) {
            error += dy;
            x += sx;
        }
        if (twice <= dx) {
            error += dx;
            y += sy;
        }
    }
}

template <class Image> __global__ void lines_kernel(const int4 *lines, Image image, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        line_draw(lines[i], image);
}

static std::vector<int4> lines_made()
{
    const std::vector<int> at = integers(2 * LINES_COUNT, LINES_SIZE - 64, 4071);
    const std::vector<int> way = integers(2 * LINES_COUNT, 64, 4072);
    std::vector<int4> lines(LINES_COUNT);
    for (int i = 0; i < LINES_COUNT; i++) {
        const int x = at[2 * i], y = at[2 * i + 1];
        lines[i] = i % 2 ? make_int4(x, y, x + way[2 * i], y + way[2 * i + 1])
                         : make_int4(x + way[2 * i], y, x, y + way[2 * i + 1]);
    }
    return lines;
}

static std::vector<unsigned char> lines_wanted(const std::vector<int4> &lines)
{
    std::vector<unsigned char> image(LINES_SIZE * LINES_SIZE);
    for (const int4 &line : lines)
        line_draw(line, LineHost{ image.data() });
    return image;
}

static void lines_bytes(Run &run)
{
    const int n = LINES_COUNT, size = LINES_SIZE * LINES_SIZE;
    const std::vector<int4> lines = lines_made();
    const std::vector<unsigned char> wanted = lines_wanted(lines);
    int4 *from = run.upload(lines);
    const LineBytes to = { run.zeros<unsigned char>(size) };
    run.measure([=] { lines_kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    run.expect_all(
        run.output(to.at, size), [&](size_t i) { return wanted[i]; }, 0, 3);
}

static void lines_bits(Run &run)
{
    const int n = LINES_COUNT, size = LINES_SIZE * LINES_SIZE;
    const std::vector<int4> lines = lines_made();
    const std::vector<unsigned char> wanted = lines_wanted(lines);
    int4 *from = run.upload(lines);
    const LineBits to = { run.zeros<uint32_t>(size / 32) };
    run.measure([=] { lines_kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    const std::vector<uint32_t> got = run.output(to.at, size / 32);
    for (int i = 0; i < size; i += 3)
        run.expect(got[i / 32] >> i % 32 & 1, wanted[i], 0);
}

// ---- Points on Bezier curves of degree 3 to 9: by Casteljau's triangle, or Bernstein's sums ----

enum { BEZIER_CURVES = 6000, BEZIER_POINTS = 64, BEZIER_MOST = 9 };

__host__ __device__ inline int bezier_degree(int curve)
{
    return 3 + curve * 5 % 7;
}

__host__ __device__ inline float2 bezier_triangle(const float2 *controls, int degree, float t)
{
    float2 p[BEZIER_MOST + 1];
    for (int k = 0; k <= degree; k++)
        p[k] = controls[k];
    for (int left = degree; left > 0; left--)
        for (int k = 0; k < left; k++) {
            p[k].x += t * (p[k + 1].x - p[k].x);
            p[k].y += t * (p[k + 1].y - p[k].y);
        }
    return p[0];
}

__global__ void bezier_triangle_kernel(const float2 *controls, float2 *out)
{
    const int curve = blockIdx.x * blockDim.y + threadIdx.y;
    const float t = (float) threadIdx.x / (BEZIER_POINTS - 1);
    out[curve * BEZIER_POINTS + threadIdx.x] =
        bezier_triangle(controls + curve * (BEZIER_MOST + 1), bezier_degree(curve), t);
}

// The weight grows from term to term by a quotient: 1 - t is not 0 in the loop.
__global__ void bezier_sums_kernel(const float2 *controls, float2 *out)
{
    const int curve = blockIdx.x * blockDim.y + threadIdx.y, degree = bezier_degree(curve);
    const float2 *mine = controls + curve * (BEZIER_MOST + 1);
    const float t = (float) threadIdx.x / (BEZIER_POINTS - 1);
    float2 sum = make_float2(0, 0);
    if (threadIdx.x == BEZIER_POINTS - 1) {
        sum = mine[degree];
    } else {
        float weight = powf(1 - t, degree);
        for (int k = 0; k <= degree; k++) {
            sum.x += weight * mine[k].x;
            sum.y += weight * mine[k].y;
            weight *= t * (degree - k) / ((1 - t) * (k + 1));
        }
    }
    out[curve * BEZIER_POINTS + threadIdx.x] = sum;
}

static void bezier(Run &run, void (*kernel)(const float2 *, float2 *))
{
    const int n = BEZIER_CURVES * BEZIER_POINTS, controls = BEZIER_CURVES * (BEZIER_MOST + 1);
    const std::vector<float> v = floats(2 * controls, 4073);
    std::vector<float2> points(controls);
    for (int i = 0; i < controls; i++)
        points[i] = make_float2(v[2 * i], v[2 * i + 1]);
    float2 *from = run.upload(points), *to = run.zeros<float2>(n);
    run.measure([=] { kernel<<<BEZIER_CURVES / 4, dim3(BEZIER_POINTS, 4)>>>(from, to); });
    const std::vector<float2> got = run.output(to, n);
    for (int i = 0; i < n; i += 13) {
        const int curve = i / BEZIER_POINTS;
        const float2 wanted =
            bezier_triangle(&points[curve * (BEZIER_MOST + 1)], bezier_degree(curve),
                            (float) (i % BEZIER_POINTS) / (BEZIER_POINTS - 1));
        run.expect(got[i].x, wanted.x, 1e-3);
        run.expect(got[i].y, wanted.y, 1e-3);
    }
}

static void bezier_triangles(Run &run)
{
    bezier(run, bezier_triangle_kernel);
}

static void bezier_sums(Run &run)
{
    bezier(run, bezier_sums_kernel);
}

// ---- Boxes of triangles into bins of 16 x 16 tiles: places from global counts, or per block ----

enum { BIN_TRIANGLES = 200000, BIN_SIDE = 16, BIN_COUNT = BIN_SIDE * BIN_SIDE, BIN_ROOM = 4096 };

// First and last tile of a box in x and y, as bytes.
__host__ __device__ inline uchar4 bin_tiles(float4 box)
{
    return { (unsigned char) box.x, (unsigned char) box.y, (unsigned char) box.z,
             (unsigned char) box.w };
}

__global__ void bins_global_kernel(const float4 *boxes, int *counts, int *items)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BIN_TRIANGLES)
        return;
    const uchar4 t = bin_tiles(boxes[i]);
    for (int y = t.y; y <= t.w; y++)
        for (int x = t.x; x <= t.z; x++) {
            const int bin = y * BIN_SIDE + x;
            items[bin * BIN_ROOM + atomicAdd(&counts[bin], 1)] = i;
        }
}

__global__ void bins_block_kernel(const float4 *boxes, int *counts, int *items)
{
    __shared__ int mine[BIN_COUNT], first[BIN_COUNT];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = 0;
    __syncthreads(); // the counts are 0
    const uchar4 none = { 1, 1, 0, 0 }, t = i < BIN_TRIANGLES ? bin_tiles(boxes[i]) : none;
    for (int y = t.y; y <= t.w; y++)
        for (int x = t.x; x <= t.z; x++)
            atomicAdd(&mine[y * BIN_SIDE + x], 1);
    __syncthreads(); // the block's counts are complete
    if (mine[threadIdx.x])
        first[threadIdx.x] = atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
    __syncthreads(); // the block's places are known
    for (int y = t.y; y <= t.w; y++)
        for (int x = t.x; x <= t.z; x++) {
            const int bin = y * BIN_SIDE + x;
            items[bin * BIN_ROOM + atomicAdd(&first[bin], 1)] = i;
        }
}

static std::vector<float4> bin_boxes()
{
    const std::vector<float> v = floats(2 * BIN_TRIANGLES, 4074, 0, BIN_SIDE - 0.5f);
    std::vector<float4> boxes(BIN_TRIANGLES);
    for (int i = 0; i < BIN_TRIANGLES; i++)
        boxes[i] = make_float4(v[2 * i], v[2 * i + 1], v[2 * i] + 0.4f, v[2 * i + 1] + 0.3f);
    return boxes;
}

static void bins(Run &run, void (*kernel)(const float4 *, int *, int *))
{
    const std::vector<float4> boxes = bin_boxes();
    std::vector<int> wanted(BIN_COUNT);
    std::vector<double> sums(BIN_COUNT);
    for (int i = 0; i < BIN_TRIANGLES; i++) {
        const uchar4 t = bin_tiles(boxes[i]);
        for (int y = t.y; y <= t.w; y++)
            for (int x = t.x; x <= t.z; x++) {
                wanted[y * BIN_SIDE + x]++;
                sums[y * BIN_SIDE + x] += i;
            }
    }
    float4 *from = run.upload(boxes);
    int *counts = run.zeros<int>(BIN_COUNT), *items = run.zeros<int>(BIN_COUNT * BIN_ROOM);
    run.measure(
        [=] { kernel<<<blocks_for(BIN_TRIANGLES, BIN_COUNT), BIN_COUNT>>>(from, counts, items); },
        [=] { CHECK(cudaMemset(counts, 0, BIN_COUNT * sizeof(int))); });
    run.expect_all(
        run.output(counts, BIN_COUNT), [&](size_t i) { return wanted[i]; }, 0);
    std::vector<int> got(BIN_COUNT * BIN_ROOM); // their order differs from run to run
    CHECK(cudaMemcpy(got.data(), items, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int bin = 0; bin < BIN_COUNT; bin++) {
        double sum = 0;
        for (int k = 0; k < wanted[bin]; k++)
            sum += got[bin * BIN_ROOM + k];
        run.expect(sum, sums[bin], 0);
    }
}

static void tilebins_global(Run &run)
{
    bins(run, bins_global_kernel);
}

static void tilebins_block(Run &run)
{
    bins(run, bins_block_kernel);
}

// ---- Kuwahara's filter: the mean of the calmest of four squares around each pixel ----

enum { PAINT_WIDTH = 640, PAINT_HEIGHT = 400, PAINT_RADIUS = 3 };

__host__ __device__ inline float paint_value(const float *image, int x, int y)
{
    const float count = (PAINT_RADIUS + 1) * (PAINT_RADIUS + 1);
    float calmest = 1e30f, value = 0;
    for (int square = 0; square < 4; square++) {
        const int left = square % 2 ? x : x - PAINT_RADIUS, top = square / 2 ? y : y - PAINT_RADIUS;
        float sum = 0, squares = 0;
        for (int dy = 0; dy <= PAINT_RADIUS; dy++)
            for (int dx = 0; dx <= PAINT_RADIUS; dx++) {
                int px = left + dx, py = top + dy;
                px = px < 0 ? 0 : px >= PAINT_WIDTH ? PAINT_WIDTH - 1 : px;
                py = py < 0 ? 0 : py >= PAINT_HEIGHT ? PAINT_HEIGHT - 1 : py;
                const float v = image[py * PAINT_WIDTH + px];
                sum += v;
                squares += v * v;
            }
        const float mean = sum / count, variance = squares / count - mean * mean;
        if (variance < calmest) {
            calmest = variance;
            value = mean;
        }
    }
    return value;
}

__global__ void paint_kernel(const float *image, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < PAINT_WIDTH && y < PAINT_HEIGHT)
        out[y * PAINT_WIDTH + x] = paint_value(image, x, y);
}

static void kuwahara(Run &run)
{
    const int n = PAINT_WIDTH * PAINT_HEIGHT;
    const std::vector<float> image = floats(n, 4075, 0, 1);
    float *from = run.upload(image), *to = run.zeros<float>(n);
    run.measure([=] {
        paint_kernel<<<dim3(PAINT_WIDTH / 16, PAINT_HEIGHT / 16), dim3(16, 16)>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](int i) { return paint_value(image.data(), i % PAINT_WIDTH, i / PAINT_WIDTH); }, 1e-4,
        19);
}

#endif
