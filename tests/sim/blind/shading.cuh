// shading.cuh - pictures: blended splats, cellular noise, light that does not reach gaps.
#ifndef BLIND_SHADING_CUH
#define BLIND_SHADING_CUH

#include "blind.cuh"

// ---- Gaussian splats until a pixel is opaque: read from global memory, or in shared batches ----

enum { SPLAT_SIDE = 256, SPLAT_TILE = 16, SPLAT_PER_TILE = 192 };

struct Blot {
    float x, y, a, b, c, opacity, light, depth;
};

// True: the pixel is opaque.
__host__ __device__ inline bool splat_blend(const Blot &s, int x, int y, float *through, float *sum)
{
    const float dx = x - s.x, dy = y - s.y;
    const float power = -0.5f * (s.a * dx * dx + s.c * dy * dy) - s.b * dx * dy;
    const float alpha = fminf(0.99f, s.opacity * expf(power));
    if (alpha < 1.0f / 255)
        return false;
    *sum += *through * alpha * s.light;
    *through *= 1 - alpha;
    return *through < 1e-3f;
}

__global__ void splats_global_kernel(const Blot *splats, float *out)
{
    const int x = blockIdx.x * SPLAT_TILE + threadIdx.x, y = blockIdx.y * SPLAT_TILE + threadIdx.y;
    const Blot *mine = splats + (blockIdx.y * gridDim.x + blockIdx.x) * SPLAT_PER_TILE;
    float through = 1, sum = 0;
    for (int k = 0; k < SPLAT_PER_TILE; k++)
        if (splat_blend(mine[k], x, y, &through, &sum))
            break;
    out[y * SPLAT_SIDE + x] = sum;
}

__global__ void splats_shared_kernel(const Blot *splats, float *out)
{
    __shared__ Blot batch[64];
    const int x = blockIdx.x * SPLAT_TILE + threadIdx.x, y = blockIdx.y * SPLAT_TILE + threadIdx.y;
    const int t = threadIdx.y * SPLAT_TILE + threadIdx.x;
    const Blot *mine = splats + (blockIdx.y * gridDim.x + blockIdx.x) * SPLAT_PER_TILE;
    float through = 1, sum = 0;
    bool done = false;
    for (int first = 0; first < SPLAT_PER_TILE; first += 64) {
        if (__syncthreads_and(done))
            break;
        if (t < 128)
            ((float4 *) batch)[t] = ((const float4 *) (mine + first))[t];
        __syncthreads();
        for (int k = 0; k < 64 && !done; k++)
            done = splat_blend(batch[k], x, y, &through, &sum);
    }
    out[y * SPLAT_SIDE + x] = sum;
}

static void splats(Run &run, void (*kernel)(const Blot *, float *))
{
    const int tiles = SPLAT_SIDE / SPLAT_TILE, n = tiles * tiles * SPLAT_PER_TILE;
    const std::vector<float> v = floats(6 * n, 5091, 0, 1);
    std::vector<Blot> all(n);
    for (int i = 0; i < n; i++) {
        const int tile = i / SPLAT_PER_TILE;
        const float *r = &v[6 * i];
        all[i] = { (tile % tiles + r[0]) * SPLAT_TILE,
                   (tile / tiles + r[1]) * SPLAT_TILE,
                   0.02f + 0.2f * r[2],
                   0.01f * r[4],
                   0.02f + 0.2f * r[3],
                   0.1f + 0.5f * r[4],
                   r[5],
                   0 };
    }
    Blot *from = run.upload(all);
    float *to = run.zeros<float>(SPLAT_SIDE * SPLAT_SIDE);
    run.measure([=] { kernel<<<dim3(tiles, tiles), dim3(SPLAT_TILE, SPLAT_TILE)>>>(from, to); });
    run.expect_all(
        run.output(to, SPLAT_SIDE * SPLAT_SIDE),
        [&](int i) {
            const int x = i % SPLAT_SIDE, y = i / SPLAT_SIDE;
            const int tile = y / SPLAT_TILE * tiles + x / SPLAT_TILE;
            float through = 1, sum = 0;
            for (int k = 0; k < SPLAT_PER_TILE; k++)
                if (splat_blend(all[tile * SPLAT_PER_TILE + k], x, y, &through, &sum))
                    break;
            return sum;
        },
        5e-3, 151);
}

static void splats_global(Run &run)
{
    splats(run, splats_global_kernel);
}

static void splats_shared(Run &run)
{
    splats(run, splats_shared_kernel);
}

// ---- Cellular noise in space: all 27 cells around a point, or only those that can be nearer ----

enum { WORLEY_SIDE = 608 };

__host__ __device__ inline uint32_t worley_hash(int x, int y, int z)
{
    uint32_t h = x * 73856093u ^ y * 19349663u ^ z * 83492791u;
    h ^= h >> 13;
    h *= 0x5bd1e995u;
    return h ^ h >> 15;
}

// The squared distance to the point of a cell.
__host__ __device__ inline float worley_cell(float px, float py, float pz, int x, int y, int z)
{
    const uint32_t h = worley_hash(x, y, z);
    const float dx = x + (h & 1023) / 1024.0f - px, dy = y + (h >> 10 & 1023) / 1024.0f - py;
    const float dz = z + (h >> 20 & 1023) / 1024.0f - pz;
    return dx * dx + dy * dy + dz * dz;
}

// The squared distance of the cell at offset `d` from a point at `part` of its own cell.
__host__ __device__ inline float worley_gap(int d, float part)
{
    const float gap = d == 0 ? 0 : d > 0 ? 1 - part : part;
    return gap * gap;
}

template <bool skip> __host__ __device__ inline float worley_at(float px, float py, float pz)
{
    const int x = (int) px, y = (int) py, z = (int) pz;
    float best = skip ? worley_cell(px, py, pz, x, y, z) : 1e9f;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                if (skip &&
                    worley_gap(dx, px - x) + worley_gap(dy, py - y) + worley_gap(dz, pz - z) >=
                        best)
                    continue;
                best = fminf(best, worley_cell(px, py, pz, x + dx, y + dy, z + dz));
            }
    return sqrtf(best);
}

template <bool skip> __global__ void worley_kernel(float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * WORLEY_SIDE + x] = worley_at<skip>(x * 0.11f + 1, y * 0.13f + 1, 7.3f);
}

template <bool skip> static void worley(Run &run)
{
    float *to = run.zeros<float>(WORLEY_SIDE * WORLEY_SIDE);
    run.measure(
        [=] { worley_kernel<skip><<<dim3(WORLEY_SIDE / 32, WORLEY_SIDE / 4), dim3(32, 4)>>>(to); });
    run.expect_all(
        run.output(to, WORLEY_SIDE * WORLEY_SIDE),
        [](int i) {
            return worley_at<false>(i % WORLEY_SIDE * 0.11f + 1, i / WORLEY_SIDE * 0.13f + 1, 7.3f);
        },
        1e-4, 61);
}

static void worley_all(Run &run)
{
    worley<false>(run);
}

static void worley_skip(Run &run)
{
    worley<true>(run);
}

// ---- Ambient occlusion: 32 scattered samples of the depth around each pixel ----

enum { GAPS_SIDE = 512, GAPS_SAMPLES = 32 };

__host__ __device__ inline float gaps_at(const float *depth, int x, int y)
{
    const float mine = depth[y * GAPS_SIDE + x];
    uint32_t seed = y * GAPS_SIDE + x;
    int hidden = 0;
    for (int k = 0; k < GAPS_SAMPLES; k++) {
        seed = seed * 1664525u + 1013904223u;
        const int sx = x + (int) (seed >> 27) - 16, sy = y + (int) (seed >> 22 & 31) - 16;
        if (sx < 0 || sy < 0 || sx >= GAPS_SIDE || sy >= GAPS_SIDE)
            continue;
        const float nearer = mine - depth[sy * GAPS_SIDE + sx];
        hidden += nearer > 0.05f && nearer < 0.5f;
    }
    return 1 - hidden * (1.0f / GAPS_SAMPLES);
}

__global__ void gaps_kernel(const float *depth, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = gaps_at(depth, i % GAPS_SIDE, i / GAPS_SIDE);
}

static void ambient_gaps(Run &run)
{
    const int n = GAPS_SIDE * GAPS_SIDE;
    const std::vector<float> depth = floats(n, 5093, 1, 2);
    float *from = run.upload(depth), *to = run.zeros<float>(n);
    run.measure([=] { gaps_kernel<<<n / 512, 512>>>(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) { return gaps_at(depth.data(), i % GAPS_SIDE, i / GAPS_SIDE); }, 1e-6, 67);
}

#endif
