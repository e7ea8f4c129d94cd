// scenes.cuh - pictures: noise in three dimensions, a fractal by distances, blur by sums, lines by
// votes, circles by tiles.
#ifndef BLIND_SCENES_CUH
#define BLIND_SCENES_CUH

#include "blind.cuh"

// ---- Perlin noise, three octaves: corners by a table of permutations, or by a hash ----

enum { NOISE_X = 640, NOISE_Y = 480 };

struct NoiseTable {
    const int *at; // 512 values

    __host__ __device__ unsigned operator()(int x, int y, int z) const
    {
        return (unsigned) at[at[at[x & 255] + (y & 255)] + (z & 255)];
    }
};

struct NoiseHash {
    __host__ __device__ unsigned operator()(int x, int y, int z) const
    {
        unsigned h = x * 73856093u ^ y * 19349663u ^ z * 83492791u;
        h = (h ^ h >> 15) * 0x2c1b3c6du;
        return h ^ h >> 12;
    }
};

// The product of the distance from a corner and its gradient, one of 12.
__host__ __device__ inline float noise_corner(unsigned hash, float x, float y, float z)
{
    const unsigned h = hash & 15;
    const float u = h < 8 ? x : y, v = h < 4 ? y : h == 12 || h == 14 ? x : z;
    return (h & 1 ? -u : u) + (h & 2 ? -v : v);
}

__host__ __device__ inline float noise_fade(float t)
{
    return t * t * t * (t * (t * 6 - 15) + 10);
}

__host__ __device__ inline float noise_between(float t, float a, float b)
{
    return a + t * (b - a);
}

template <class Hash>
__host__ __device__ float noise_at(const Hash &hash, float x, float y, float z)
{
    const int ix = (int) floorf(x), iy = (int) floorf(y), iz = (int) floorf(z);
    const float u = noise_fade(x -= ix), v = noise_fade(y -= iy), w = noise_fade(z -= iz);
    float layer[2];
    for (int k = 0; k < 2; k++) {
        float a = noise_corner(hash(ix, iy, iz + k), x, y, z - k);
        float b = noise_corner(hash(ix + 1, iy, iz + k), x - 1, y, z - k);
        float c = noise_corner(hash(ix, iy + 1, iz + k), x, y - 1, z - k);
        float d = noise_corner(hash(ix + 1, iy + 1, iz + k), x - 1, y - 1, z - k);
        layer[k] = noise_between(v, noise_between(u, a, b), noise_between(u, c, d));
    }
    return noise_between(w, layer[0], layer[1]);
}

template <class Hash> __host__ __device__ float noise_pixel(const Hash &hash, int x, int y)
{
    float sum = 0, size = 1, scale = 1 / 32.0f;
    for (int octave = 0; octave < 3; octave++, size /= 2, scale *= 2)
        sum += size * noise_at(hash, x * scale, y * scale, 0.7f + octave);
    return sum;
}

template <class Hash> __global__ void noise_kernel(Hash hash, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * NOISE_X + x] = noise_pixel(hash, x, y);
}

template <class Hash> static void noise(Run &run, const Hash &hash, const Hash &on_host)
{
    float *to = run.zeros<float>(NOISE_X * NOISE_Y);
    run.measure([=] { noise_kernel<<<dim3(NOISE_X / 32, NOISE_Y / 4), dim3(32, 4)>>>(hash, to); });
    run.expect_all(
        run.output(to, NOISE_X * NOISE_Y),
        [&](size_t i) { return noise_pixel(on_host, (int) i % NOISE_X, (int) i / NOISE_X); }, 1e-4,
        17);
}

static void noise_table(Run &run)
{
    std::vector<int> table(512);
    for (int i = 0; i < 256; i++)
        table[i] = i;
    for (int i = 255; i > 0; i--)
        std::swap(table[i], table[mix(i + 571) % (i + 1)]);
    std::copy_n(table.begin(), 256, table.begin() + 256);
    noise(run, NoiseTable{ run.upload(table) }, NoiseTable{ table.data() });
}

static void noise_hash(Run &run)
{
    noise(run, NoiseHash{}, NoiseHash{});
}

// ---- The depth of a Mandelbulb by its distance estimate: steps differ from pixel to pixel ----

enum { BULB_X = 112, BULB_Y = 64 };

// A lower bound of the distance to the fractal of power 8.
__host__ __device__ inline float bulb_distance(float x, float y, float z)
{
    float u = x, v = y, w = z, slope = 1, r = 0;
    for (int k = 0; k < 6; k++) {
        r = sqrtf(u * u + v * v + w * w);
        if (r > 2)
            break;
        float theta = 8 * acosf(w / r), phi = 8 * atan2f(v, u), power = powf(r, 7);
        slope = 8 * power * slope + 1;
        power *= r;
        u = power * sinf(theta) * cosf(phi) + x;
        v = power * sinf(theta) * sinf(phi) + y;
        w = power * cosf(theta) + z;
    }
    return 0.5f * logf(r) * r / slope;
}

__host__ __device__ inline float bulb_depth(int x, int y)
{
    const float right = 2.4f * (x + 0.5f) / BULB_X - 1.2f, up = 2.4f * (y + 0.5f) / BULB_Y - 1.2f;
    float depth = 0;
    for (int step = 0; step < 24 && depth < 3; step++) {
        float distance = bulb_distance(right, up, depth - 1.8f);
        if (distance < 0.004f)
            break;
        depth += distance;
    }
    return depth;
}

__global__ void bulb_kernel(float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * BULB_X + x] = bulb_depth(x, y);
}

// The surface is rough, so that rounding moves single pixels: mean depths of rows are compared.
static void mandelbulb(Run &run)
{
    float *to = run.zeros<float>(BULB_X * BULB_Y);
    run.measure([=] { bulb_kernel<<<dim3(BULB_X / 16, BULB_Y / 16), dim3(16, 16)>>>(to); });
    const std::vector<float> got = run.output(to, BULB_X * BULB_Y);
    for (int y = 0; y < BULB_Y; y += 5) {
        double sum = 0, wanted = 0;
        for (int x = 0; x < BULB_X; x++) {
            sum += got[y * BULB_X + x];
            wanted += bulb_depth(x, y);
        }
        run.expect(sum / BULB_X, wanted / BULB_X, 3e-2);
    }
}

// ---- Means of 25 rows: each pixel adds 25 values, or a thread keeps a sum down its column ----

enum { BLUR_X = 1500, BLUR_Y = 640, BLUR_REACH = 12, BLUR_BAND = 64 };

__device__ inline int blur_row(int y)
{
    return min(max(y, 0), BLUR_Y - 1);
}

__global__ void blur_direct_kernel(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (x >= BLUR_X)
        return;
    for (int k = -BLUR_REACH; k <= BLUR_REACH; k++)
        sum += in[blur_row(y + k) * BLUR_X + x];
    out[y * BLUR_X + x] = sum * (1.0f / (2 * BLUR_REACH + 1));
}

__global__ void blur_running_kernel(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * BLUR_BAND;
    float sum = 0;
    if (x >= BLUR_X)
        return;
    for (int k = -BLUR_REACH; k < BLUR_REACH; k++)
        sum += in[blur_row(first + k) * BLUR_X + x];
    for (int y = first; y < first + BLUR_BAND; y++) {
        sum += in[blur_row(y + BLUR_REACH) * BLUR_X + x];
        out[y * BLUR_X + x] = sum * (1.0f / (2 * BLUR_REACH + 1));
        sum -= in[blur_row(y - BLUR_REACH) * BLUR_X + x];
    }
}

template <class Launch> static void blur(Run &run, Launch launch)
{
    const std::vector<int> whole = integers(BLUR_X * BLUR_Y, 256, 572);
    const std::vector<float> in(whole.begin(), whole.end());
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            double sum = 0;
            for (int k = -BLUR_REACH; k <= BLUR_REACH; k++) {
                const int y = std::min(std::max((int) i / BLUR_X + k, 0), BLUR_Y - 1);
                sum += in[y * BLUR_X + i % BLUR_X];
            }
            return sum / (2 * BLUR_REACH + 1);
        },
        1e-6, 61);
}

static void blur_direct(Run &run)
{
    blur(run, [](float *in, float *out) {
        blur_direct_kernel<<<dim3(blocks_for(BLUR_X, 32), BLUR_Y / 8), dim3(32, 8)>>>(in, out);
    });
}

static void blur_running(Run &run)
{
    blur(run, [](float *in, float *out) {
        blur_running_kernel<<<dim3(blocks_for(BLUR_X, 64), BLUR_Y / BLUR_BAND), 64>>>(in, out);
    });
}

// ---- Hough votes of edge points for lines: a thread per point, or a block per angle ----

enum { HOUGH_POINTS = 20000, HOUGH_ANGLES = 180, HOUGH_DISTANCES = 1024 };

struct HoughAngle {
    int cosine, sine; // in 1024ths
};

__constant__ HoughAngle hough_angle[HOUGH_ANGLES];

__host__ __device__ inline int hough_distance(HoughAngle angle, ushort2 point)
{
    return ((point.x * angle.cosine + point.y * angle.sine) >> 11) + HOUGH_DISTANCES / 2;
}

__global__ void hough_global_kernel(const ushort2 *point, int *votes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= HOUGH_POINTS)
        return;
    ushort2 mine = point[i];
    for (int k = 0; k < HOUGH_ANGLES; k++)
        atomicAdd(&votes[k * HOUGH_DISTANCES + hough_distance(hough_angle[k], mine)], 1);
}

__global__ void __launch_bounds__(256) hough_shared_kernel(const ushort2 *point, int *votes)
{
    __shared__ int mine[HOUGH_DISTANCES];
    const HoughAngle angle = hough_angle[blockIdx.x];
    for (int k = threadIdx.x; k < HOUGH_DISTANCES; k += 256)
        mine[k] = 0;
    __syncthreads(); // the votes are zero
    for (int i = threadIdx.x; i < HOUGH_POINTS; i += 256)
        atomicAdd(&mine[hough_distance(angle, point[i])], 1);
    __syncthreads(); // the votes are complete
    for (int k = threadIdx.x; k < HOUGH_DISTANCES; k += 256)
        votes[blockIdx.x * HOUGH_DISTANCES + k] = mine[k];
}

// One point in three lies on one of two lines.
static std::vector<ushort2> edge_points()
{
    std::vector<ushort2> point(HOUGH_POINTS);
    for (int i = 0; i < HOUGH_POINTS; i++) {
        const unsigned x = mix(i + 573) % 700, any = mix(i + 574) % 640;
        const unsigned y = i % 6 == 0 ? 100 + x / 2 : i % 6 == 3 ? 600 - x / 3 : any;
        point[i] = make_ushort2((unsigned short) x, (unsigned short) y);
    }
    return point;
}

template <class Launch> static void hough(Run &run, Launch launch)
{
    const std::vector<ushort2> point = edge_points();
    std::vector<HoughAngle> angle(HOUGH_ANGLES);
    std::vector<int> wanted(HOUGH_ANGLES * HOUGH_DISTANCES);
    for (int k = 0; k < HOUGH_ANGLES; k++) {
        angle[k] = { (int) (1024 * cos(M_PI * k / 180)), (int) (1024 * sin(M_PI * k / 180)) };
        for (ushort2 p : point)
            wanted[k * HOUGH_DISTANCES + hough_distance(angle[k], p)]++;
    }
    ushort2 *dp = run.upload(point);
    int *votes = run.zeros<int>(wanted.size());
    CHECK(cudaMemcpyToSymbol(hough_angle, angle.data(), sizeof(hough_angle)));
    run.measure([=] { launch(dp, votes); },
                [=] { CHECK(cudaMemset(votes, 0, sizeof(int[HOUGH_ANGLES * HOUGH_DISTANCES]))); });
    run.expect_all(
        run.output(votes, wanted.size()), [&](size_t i) { return wanted[i]; }, 0, 3);
}

static void hough_global(Run &run)
{
    hough(run, [](ushort2 *point, int *votes) {
        hough_global_kernel<<<blocks_for(HOUGH_POINTS, 128), 128>>>(point, votes);
    });
}

static void hough_shared(Run &run)
{
    hough(run, [](ushort2 *point, int *votes) {
        hough_shared_kernel<<<HOUGH_ANGLES, 256>>>(point, votes);
    });
}

// ---- The nearest of 400 discs at each pixel: all discs, or those that touch the block's tile ----

enum { DISCS = 400, DISC_X = 320, DISC_Y = 128 };

// Disc: centre, radius, depth. The index of the nearest one is kept.
__host__ __device__ inline void disc_test(float4 disc, int index, float x, float y, float &depth,
                                          int &nearest)
{
    const float dx = x - disc.x, dy = y - disc.y;
    if (dx * dx + dy * dy < disc.z * disc.z && disc.w < depth) {
        depth = disc.w;
        nearest = index;
    }
}

__global__ void discs_all_kernel(const float4 *disc, int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float depth = 1e30f;
    int nearest = -1;
    for (int k = 0; k < DISCS; k++)
        disc_test(disc[k], k, x + 0.5f, y + 0.5f, depth, nearest);
    out[y * DISC_X + x] = nearest;
}

__global__ void __launch_bounds__(256) discs_tiles_kernel(const float4 *disc, int *out)
{
    __shared__ int list[DISCS], count;
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const float left = blockIdx.x * 16.0f, top = blockIdx.y * 16.0f;
    float depth = 1e30f;
    int nearest = -1, t = threadIdx.y * 16 + threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads(); // the list is empty
    for (int k = t; k < DISCS; k += 256) {
        float4 d = disc[k];
        if (d.x + d.z > left && d.x - d.z < left + 16 && d.y + d.z > top && d.y - d.z < top + 16)
            list[atomicAdd(&count, 1)] = k;
    }
    __syncthreads(); // the list is complete
    for (int k = 0; k < count; k++)
        disc_test(disc[list[k]], list[k], x + 0.5f, y + 0.5f, depth, nearest);
    out[y * DISC_X + x] = nearest;
}

// Centres and radii are such that distances are exact. Depths differ.
template <class Launch> static void discs(Run &run, Launch launch)
{
    std::vector<float4> disc(DISCS);
    for (int k = 0; k < DISCS; k++)
        disc[k] = make_float4((float) (mix(k + 575) % DISC_X), (float) (mix(k + 576) % DISC_Y),
                              10 + (float) (mix(k + 577) % 40), (float) (k * 229 % DISCS));
    float4 *from = run.upload(disc);
    int *to = run.zeros<int>(DISC_X * DISC_Y);
    run.measure([=] { launch(from, to); });
    run.expect_all(
        run.output(to, DISC_X * DISC_Y),
        [&](size_t i) {
            float depth = 1e30f;
            int nearest = -1;
            for (int k = 0; k < DISCS; k++)
                disc_test(disc[k], k, i % DISC_X + 0.5f, i / DISC_X + 0.5f, depth, nearest);
            return nearest;
        },
        0, 23);
}

static void discs_all(Run &run)
{
    discs(run, [](float4 *disc, int *out) {
        discs_all_kernel<<<dim3(DISC_X / 16, DISC_Y / 16), dim3(16, 16)>>>(disc, out);
    });
}

static void discs_tiles(Run &run)
{
    discs(run, [](float4 *disc, int *out) {
        discs_tiles_kernel<<<dim3(DISC_X / 16, DISC_Y / 16), dim3(16, 16)>>>(disc, out);
    });
}

#endif
