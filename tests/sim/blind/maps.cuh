// maps.cuh - geography: projection, simpler lines, distances to the nearest, sight over terrain.
#ifndef BLIND_MAPS_CUH
#define BLIND_MAPS_CUH

#include "blind.cuh"

#include <cstring>

// ---- Mercator's projection to pixels: in double or in float ----

template <class T> __host__ __device__ inline float2 mercator_pixel(T degrees, T north)
{
    const T pi = (T) 3.14159265358979323846, size = 1 << 15;
    const T s = sin(north * (pi / 180));
    const T y = (T) 0.5 - log((1 + s) / (1 - s)) / (4 * pi);
    return make_float2((float) ((degrees / 360 + (T) 0.5) * size), (float) (y * size));
}

template <class T> __global__ void mercator_kernel(const float2 *in, float2 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = mercator_pixel<T>(in[i].x, in[i].y);
}

static void mercator(Run &run, void (*kernel)(const float2 *, float2 *, int))
{
    const int n = 500000;
    const std::vector<float> a = floats(n, 4011, -180, 180), b = floats(n, 4012, -80, 80);
    std::vector<float2> in(n);
    for (int i = 0; i < n; i++)
        in[i] = make_float2(a[i], b[i]);
    float2 *from = run.upload(in), *to = run.zeros<float2>(n);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(from, to, n); });
    const std::vector<float2> got = run.output(to, n);
    for (int i = 0; i < n; i += 23) {
        const float2 wanted = mercator_pixel<double>(in[i].x, in[i].y);
        run.expect(got[i].x, wanted.x, 1e-3);
        run.expect(got[i].y, wanted.y, 1e-3);
    }
}

static void mercator_double(Run &run)
{
    mercator(run, mercator_kernel<double>);
}

static void mercator_float(Run &run)
{
    mercator(run, mercator_kernel<float>);
}

// ---- Simpler lines by Douglas and Peucker, one per thread: by recursion or with a stack ----

enum { SIMPLE_POINTS = 48, SIMPLE_LINES = 2400 };

// The point between two ends that is furthest from their chord; 0: none is further than 1.
__host__ __device__ inline int simple_furthest(const float2 *line, int pitch, int first, int last)
{
    const float2 a = line[first * pitch], b = line[last * pitch];
    const float dx = b.x - a.x, dy = b.y - a.y;
    float most = dx * dx + dy * dy;
    int at = 0;
    for (int k = first + 1; k < last; k++) {
        const float2 p = line[k * pitch];
        const float cross = dx * (p.y - a.y) - dy * (p.x - a.x);
        if (cross * cross > most) {
            most = cross * cross;
            at = k;
        }
    }
    return at;
}

__device__ __noinline__ int simple_kept(const float2 *line, int pitch, int first, int last)
{
    const int at = simple_furthest(line, pitch, first, last);
    if (at == 0)
        return 1;
    return simple_kept(line, pitch, first, at) + simple_kept(line, pitch, at, last);
}

__global__ void simple_recursion_kernel(const float2 *lines, int *kept, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        kept[i] = simple_kept(lines + i, n, 0, SIMPLE_POINTS - 1) + 1;
}

__host__ __device__ inline int simple_by_stack(const float2 *line, int pitch)
{
    short ends[SIMPLE_POINTS];
    int depth = 1, first = 0, kept = 1;
    ends[0] = SIMPLE_POINTS - 1;
    while (depth) {
        const int last = ends[depth - 1], at = simple_furthest(line, pitch, first, last);
        if (at) {
            ends[depth++] = at;
        } else {
            kept++;
            first = last;
            depth--;
        }
    }
    return kept;
}

__global__ void simple_stack_kernel(const float2 *lines, int *kept, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        kept[i] = simple_by_stack(lines + i, n);
}

static void simple_lines(Run &run, void (*kernel)(const float2 *, int *, int))
{
    const int n = SIMPLE_LINES;
    const std::vector<float> moves = floats(n * SIMPLE_POINTS, 4013);
    std::vector<float2> lines(n * SIMPLE_POINTS);
    for (int i = 0; i < n; i++) {
        float y = 0;
        for (int k = 0; k < SIMPLE_POINTS; k++)
            lines[k * n + i] = make_float2(k, y += moves[k * n + i]);
    }
    float2 *from = run.upload(lines);
    int *to = run.zeros<int>(n);
    run.measure([=] { kernel<<<blocks_for(n, 64), 64>>>(from, to, n); });
    const std::vector<int> got = run.output(to, n);
    int different = 0; // a tie may be rounded in another way
    for (int i = 0; i < n; i++)
        different += got[i] != simple_by_stack(&lines[i], n);
    run.expect(different, 0, 3);
}

static void simple_recursion(Run &run)
{
    simple_lines(run, simple_recursion_kernel);
}

static void simple_stack(Run &run)
{
    simple_lines(run, simple_stack_kernel);
}

// ---- Squared distances along columns: each pixel tries all, or a column's envelope of parabolas
// ----

enum { EDT_HEIGHT = 128, EDT_WIDTH = 1500 };

__global__ void distance_brute_kernel(const int *in, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int least = 1 << 30;
    if (x >= EDT_WIDTH)
        return;
    for (int k = 0; k < EDT_HEIGHT; k++)
        least = min(least, in[k * EDT_WIDTH + x] + (y - k) * (y - k));
    out[y * EDT_WIDTH + x] = least;
}

__global__ void distance_envelope_kernel(const int *in, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    int place[EDT_HEIGHT], last = 0;
    float from[EDT_HEIGHT + 1];
    if (x >= EDT_WIDTH)
        return;
    place[0] = 0;
    from[0] = -1e30f;
    from[1] = 1e30f;
    for (int k = 1; k < EDT_HEIGHT; k++) {
        const int f = in[k * EDT_WIDTH + x] + k * k;
        float meet;
        for (;; last--) {
            const int p = place[last];
            meet = (float) (f - in[p * EDT_WIDTH + x] - p * p) / (2 * (k - p));
            if (meet > from[last])
                break;
        }
        place[++last] = k;
        from[last] = meet;
        from[last + 1] = 1e30f;
    }
    for (int y = 0, at = 0; y < EDT_HEIGHT; y++) {
        while (from[at + 1] < y)
            at++;
        const int d = y - place[at];
        out[y * EDT_WIDTH + x] = d * d + in[place[at] * EDT_WIDTH + x];
    }
}

static void distance_columns(Run &run, bool brute)
{
    const int n = EDT_WIDTH * EDT_HEIGHT;
    const std::vector<int> in = integers(n, 900, 4014);
    int *from = run.upload(in), *to = run.zeros<int>(n);
    run.measure([=] {
        if (brute)
            distance_brute_kernel<<<dim3(blocks_for(EDT_WIDTH, 128), EDT_HEIGHT), 128>>>(from, to);
        else
            distance_envelope_kernel<<<blocks_for(EDT_WIDTH, 32), 32>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            int least = 1 << 30;
            for (int k = 0; k < EDT_HEIGHT; k++)
                least = std::min(least, in[k * EDT_WIDTH + i % EDT_WIDTH] +
                                            (i / EDT_WIDTH - k) * (i / EDT_WIDTH - k));
            return least;
        },
        0, 29);
}

static void distance_brute(Run &run)
{
    distance_columns(run, true);
}

static void distance_envelope(Run &run)
{
    distance_columns(run, false);
}

// ---- Hausdorff's distance of two sets of points: a thread or a warp per point of the first ----

enum { HAUSDORFF_FIRST = 5000, HAUSDORFF_SECOND = 1920 };

__global__ void hausdorff_thread_kernel(const float2 *a, const float2 *b, int *most)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float least = 1e30f;
    if (i >= HAUSDORFF_FIRST)
        return;
    for (int k = 0; k < HAUSDORFF_SECOND; k++) {
        const float dx = a[i].x - b[k].x, dy = a[i].y - b[k].y;
        least = fminf(least, dx * dx + dy * dy);
    }
    atomicMax(most, __float_as_int(least));
}

__global__ void hausdorff_warp_kernel(const float2 *a, const float2 *b, int *most)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float least = 1e30f;
    if (i >= HAUSDORFF_FIRST)
        return;
    const float2 p = a[i];
    for (int k = lane; k < HAUSDORFF_SECOND; k += 32) {
        const float2 q = b[k];
        least = fminf(least, (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y));
    }
    for (int apart = 16; apart; apart /= 2)
        least = fminf(least, __shfl_xor_sync(~0u, least, apart));
    if (lane == 0)
        atomicMax(most, __float_as_int(least));
}

static std::vector<float2> hausdorff_points(int n, uint32_t seed)
{
    const std::vector<float> v = floats(2 * n, seed, 0, 100);
    std::vector<float2> points(n);
    for (int i = 0; i < n; i++)
        points[i] = make_float2(v[2 * i], v[2 * i + 1]);
    return points;
}

static void hausdorff(Run &run, bool warp)
{
    const std::vector<float2> a = hausdorff_points(HAUSDORFF_FIRST, 4015);
    const std::vector<float2> b = hausdorff_points(HAUSDORFF_SECOND, 4016);
    float2 *da = run.upload(a), *db = run.upload(b);
    int *most = run.zeros<int>(1);
    run.measure([=] {
        if (warp)
            hausdorff_warp_kernel<<<HAUSDORFF_FIRST / 8, 256>>>(da, db, most);
        else
            hausdorff_thread_kernel<<<blocks_for(HAUSDORFF_FIRST, 256), 256>>>(da, db, most);
    });
    float wanted = 0, got;
    for (const float2 &p : a) {
        float least = 1e30f;
        for (const float2 &q : b)
            least = std::min(least, (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y));
        wanted = std::max(wanted, least);
    }
    const int bits = run.output(most, 1)[0];
    memcpy(&got, &bits, sizeof got);
    run.expect(got, wanted, 1e-5);
}

static void hausdorff_thread(Run &run)
{
    hausdorff(run, false);
}

static void hausdorff_warp(Run &run)
{
    hausdorff(run, true);
}

// ---- What a tower sees: each cell follows its line of sight until a hill is above it ----

enum { SIGHT_SIZE = 192 };

__host__ __device__ inline int sight_free(const float *heights, int x, int y)
{
    const int middle = SIGHT_SIZE / 2, ax = abs(middle - x), ay = abs(middle - y);
    const int steps = ax > ay ? ax : ay;
    const float eye = heights[middle * SIGHT_SIZE + middle] + 60;
    const float low = heights[y * SIGHT_SIZE + x];
    for (int k = 1; k < steps; k++) {
        const int sx = x + (middle - x) * k / steps, sy = y + (middle - y) * k / steps;
        if (heights[sy * SIGHT_SIZE + sx] > low + (eye - low) * k / steps)
            return k;
    }
    return 0;
}

__global__ void sight_kernel(const float *heights, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * SIGHT_SIZE + x] = sight_free(heights, x, y);
}

static void sight_lines(Run &run)
{
    const int n = SIGHT_SIZE * SIGHT_SIZE;
    std::vector<float> heights = floats(n, 4017, 0, 3);
    for (int i = 0; i < n; i++)
        heights[i] += 12 * sinf(i % SIGHT_SIZE * 0.05f) + 9 * cosf(i / SIGHT_SIZE * 0.07f);
    float *from = run.upload(heights);
    int *to = run.zeros<int>(n);
    run.measure(
        [=] { sight_kernel<<<dim3(SIGHT_SIZE / 16, SIGHT_SIZE / 8), dim3(16, 8)>>>(from, to); });
    const std::vector<int> got = run.output(to, n);
    int different = 0; // equal heights may be rounded in another way
    for (int i = 0; i < n; i += 5)
        different += got[i] != sight_free(heights.data(), i % SIGHT_SIZE, i / SIGHT_SIZE);
    run.expect(different, 0, 8);
}

#endif
