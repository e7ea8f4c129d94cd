// scanners.cuh - measurements of images and bodies: filtered backprojection, image moments, optical
// flow, lengths of rays through voxels.
#ifndef BLIND_SCANNERS_CUH
#define BLIND_SCANNERS_CUH

#include "blind.cuh"

// ---- Backprojection of a sinogram: one pixel per thread, or four of a column ----

enum { CT_SIDE = 256, CT_ANGLES = 180, CT_BINS = 384 };

__host__ __device__ inline float ct_sample(const float *row, float at)
{
    const int bin = (int) at;
    const float part = at - bin;
    return row[bin] * (1 - part) + row[bin + 1] * part;
}

__global__ void backproject_pixel_kernel(const float *sinogram, const float2 *turns, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int a = 0; a < CT_ANGLES; a++) {
        const float at = (x - CT_SIDE / 2) * turns[a].x + (y - CT_SIDE / 2) * turns[a].y;
        sum += ct_sample(sinogram + a * CT_BINS, at + CT_BINS / 2);
    }
    out[y * CT_SIDE + x] = sum * (1.0f / CT_ANGLES);
}

__global__ void backproject_four_kernel(const float *sinogram, const float2 *turns, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x,
              y = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
    float sum[4] = {};
    for (int a = 0; a < CT_ANGLES; a++) {
        const float2 turn = turns[a];
        const float at = (x - CT_SIDE / 2) * turn.x + CT_BINS / 2;
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum[k] += ct_sample(sinogram + a * CT_BINS, at + (y + k - CT_SIDE / 2) * turn.y);
    }
    for (int k = 0; k < 4; k++)
        out[(y + k) * CT_SIDE + x] = sum[k] * (1.0f / CT_ANGLES);
}

static void backproject(Run &run, bool four)
{
    const std::vector<float> sinogram = floats(CT_ANGLES * CT_BINS, 5001);
    std::vector<float2> turns(CT_ANGLES);
    for (int a = 0; a < CT_ANGLES; a++)
        turns[a] =
            make_float2(cosf(a * 3.14159265f / CT_ANGLES), sinf(a * 3.14159265f / CT_ANGLES));
    float *from = run.upload(sinogram), *to = run.zeros<float>(CT_SIDE * CT_SIDE);
    float2 *dt = run.upload(turns);
    run.measure([=] {
        if (four)
            backproject_four_kernel<<<dim3(8, 8), dim3(32, 8)>>>(from, dt, to);
        else
            backproject_pixel_kernel<<<dim3(16, 16), dim3(16, 16)>>>(from, dt, to);
    });
    run.expect_all(
        run.output(to, CT_SIDE * CT_SIDE),
        [&](int i) {
            double sum = 0;
            for (int a = 0; a < CT_ANGLES; a++) {
                const float at = (i % CT_SIDE - CT_SIDE / 2) * turns[a].x +
                                 (i / CT_SIDE - CT_SIDE / 2) * turns[a].y;
                sum += ct_sample(&sinogram[a * CT_BINS], at + CT_BINS / 2);
            }
            return sum / CT_ANGLES;
        },
        1e-3, 101);
}

static void backproject_pixel(Run &run)
{
    backproject(run, false);
}

static void backproject_four(Run &run)
{
    backproject(run, true);
}

// ---- Area and first moments of a dark region: atomics per pixel, or sums of a block first ----

enum { MOMENT_SIDE = 2048 };

__global__ void moments_atomic_kernel(const unsigned char *image, unsigned long long *sums)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (image[y * MOMENT_SIDE + x] >= 40)
        return;
    atomicAdd(&sums[0], 1ull);
    atomicAdd(&sums[1], (unsigned long long) x);
    atomicAdd(&sums[2], (unsigned long long) y);
}

__global__ void moments_block_kernel(const unsigned char *image, unsigned long long *sums)
{
    __shared__ unsigned part[3];
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const unsigned dark = image[y * MOMENT_SIDE + x] < 40;
    if (threadIdx.x < 3)
        part[threadIdx.x] = 0;
    __syncthreads();
    const unsigned count = __reduce_add_sync(~0u, dark);
    const unsigned sum = __reduce_add_sync(~0u, dark * x);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&part[0], count);
        atomicAdd(&part[1], sum);
        atomicAdd(&part[2], count * y);
    }
    __syncthreads();
    if (threadIdx.x < 3)
        atomicAdd(&sums[threadIdx.x], (unsigned long long) part[threadIdx.x]);
}

static void moments(Run &run, void (*kernel)(const unsigned char *, unsigned long long *),
                    int block)
{
    const int n = MOMENT_SIDE * MOMENT_SIDE;
    std::vector<unsigned char> image(n);
    unsigned long long wanted[3] = {};
    for (int i = 0; i < n; i++) {
        image[i] = mix(i + 5002) % 256;
        if (image[i] < 40) {
            wanted[0]++;
            wanted[1] += i % MOMENT_SIDE;
            wanted[2] += i / MOMENT_SIDE;
        }
    }
    unsigned char *from = run.upload(image);
    unsigned long long *sums = run.zeros<unsigned long long>(3);
    run.measure([=] { kernel<<<dim3(MOMENT_SIDE / block, MOMENT_SIDE), block>>>(from, sums); },
                [=] { CHECK(cudaMemset(sums, 0, 3 * sizeof *sums)); });
    run.expect_all(
        run.output(sums, 3), [&](int i) { return wanted[i]; }, 0);
}

static void moments_atomic(Run &run)
{
    moments(run, moments_atomic_kernel, 256);
}

static void moments_block(Run &run)
{
    moments(run, moments_block_kernel, 512);
}

// ---- Optical flow by Lucas and Kanade: windows of 7 x 7 from global memory, or from a tile ----

enum { FLOW_SIDE = 560, FLOW_EDGE = 4, FLOW_TILE = 16, FLOW_WIDE = FLOW_TILE + 6 };

struct Gradients {
    float x, y, t;
};

__host__ __device__ inline Gradients flow_gradients(const float *a, const float *b, int i)
{
    return { 0.5f * (a[i + 1] - a[i - 1]), 0.5f * (a[i + FLOW_SIDE] - a[i - FLOW_SIDE]),
             b[i] - a[i] };
}

__host__ __device__ inline void flow_add(float *s, Gradients g)
{
    s[0] += g.x * g.x;
    s[1] += g.x * g.y;
    s[2] += g.y * g.y;
    s[3] += g.x * g.t;
    s[4] += g.y * g.t;
}

__host__ __device__ inline float2 flow_solve(const float *s)
{
    const float scale = 1 / (s[0] * s[2] - s[1] * s[1] + 1e-3f);
    return make_float2((s[1] * s[4] - s[2] * s[3]) * scale, (s[1] * s[3] - s[0] * s[4]) * scale);
}

__host__ __device__ inline float2 flow_at(const float *a, const float *b, int x, int y)
{
    float s[5] = {};
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++)
            flow_add(s, flow_gradients(a, b, (y + dy) * FLOW_SIDE + x + dx));
    return flow_solve(s);
}

__global__ void lucas_direct_kernel(const float *a, const float *b, float2 *out)
{
    const int x = blockIdx.x * FLOW_TILE + threadIdx.x + FLOW_EDGE;
    const int y = blockIdx.y * FLOW_TILE + threadIdx.y + FLOW_EDGE;
    if (x < FLOW_SIDE - FLOW_EDGE && y < FLOW_SIDE - FLOW_EDGE)
        out[y * FLOW_SIDE + x] = flow_at(a, b, x, y);
}

__global__ void lucas_shared_kernel(const float *a, const float *b, float2 *out)
{
    __shared__ Gradients tile[FLOW_WIDE][FLOW_WIDE];
    const int left = blockIdx.x * FLOW_TILE + 1, top = blockIdx.y * FLOW_TILE + 1;
    for (int i = threadIdx.y * FLOW_TILE + threadIdx.x; i < FLOW_WIDE * FLOW_WIDE; i += 256) {
        const int x = left + i % FLOW_WIDE, y = top + i / FLOW_WIDE;
        if (x < FLOW_SIDE - 1 && y < FLOW_SIDE - 1)
            tile[i / FLOW_WIDE][i % FLOW_WIDE] = flow_gradients(a, b, y * FLOW_SIDE + x);
    }
    __syncthreads();
    const int x = left + 3 + threadIdx.x, y = top + 3 + threadIdx.y;
    if (x >= FLOW_SIDE - FLOW_EDGE || y >= FLOW_SIDE - FLOW_EDGE)
        return;
    float s[5] = {};
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++)
            flow_add(s, tile[threadIdx.y + dy][threadIdx.x + dx]);
    out[y * FLOW_SIDE + x] = flow_solve(s);
}

static void lucas(Run &run, void (*kernel)(const float *, const float *, float2 *))
{
    const int n = FLOW_SIDE * FLOW_SIDE;
    const std::vector<float> a = floats(n, 5003, 0, 1), b = floats(n, 5004, 0, 1);
    float *da = run.upload(a), *db = run.upload(b);
    float2 *to = run.zeros<float2>(n);
    const int tiles = blocks_for(FLOW_SIDE - 2 * FLOW_EDGE, FLOW_TILE);
    run.measure([=] { kernel<<<dim3(tiles, tiles), dim3(FLOW_TILE, FLOW_TILE)>>>(da, db, to); });
    const std::vector<float2> got = run.output(to, n);
    for (int y = FLOW_EDGE; y < FLOW_SIDE - FLOW_EDGE; y += 13)
        for (int x = FLOW_EDGE; x < FLOW_SIDE - FLOW_EDGE; x += 17) {
            const float2 wanted = flow_at(a.data(), b.data(), x, y);
            run.expect(got[y * FLOW_SIDE + x].x, wanted.x, 1e-3);
            run.expect(got[y * FLOW_SIDE + x].y, wanted.y, 1e-3);
        }
}

static void lucas_direct(Run &run)
{
    lucas(run, lucas_direct_kernel);
}

static void lucas_shared(Run &run)
{
    lucas(run, lucas_shared_kernel);
}

// ---- Attenuation along rays: each ray walks from voxel to voxel ----

enum { RAY_SIDE = 256, RAY_COUNT = 6000 };

__host__ __device__ inline float ray_sum(const float *body, float oy, float oz, float dy, float dz)
{
    const float d[3] = { 1, dy, dz }, o[3] = { 0, oy, oz };
    int at[3] = { 0, (int) oy, (int) oz }, step[3];
    float next[3], each[3], now = 0, sum = 0;
    for (int k = 0; k < 3; k++) {
        step[k] = d[k] > 0 ? 1 : -1;
        each[k] = 1 / fabsf(d[k]);
        next[k] = (d[k] > 0 ? at[k] + 1 - o[k] : o[k] - at[k]) * each[k];
    }
    while (at[0] < RAY_SIDE && at[1] >= 0 && at[1] < RAY_SIDE && at[2] >= 0 && at[2] < RAY_SIDE) {
        const int k = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : (next[1] < next[2] ? 1 : 2);
        sum += (next[k] - now) * body[(at[2] * RAY_SIDE + at[1]) * RAY_SIDE + at[0]];
        now = next[k];
        next[k] += each[k];
        at[k] += step[k];
    }
    return sum;
}

__global__ void voxel_rays_kernel(const float *body, const float4 *rays, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < RAY_COUNT)
        out[i] = ray_sum(body, rays[i].x, rays[i].y, rays[i].z, rays[i].w);
}

static void voxel_rays(Run &run)
{
    const std::vector<float> body = floats(RAY_SIDE * RAY_SIDE * RAY_SIDE, 5005, 0, 1);
    const std::vector<float> v = floats(4 * RAY_COUNT, 5006, 0.01f, 0.99f);
    std::vector<float4> rays(RAY_COUNT);
    for (int i = 0; i < RAY_COUNT; i++)
        rays[i] = make_float4(v[4 * i] * RAY_SIDE, v[4 * i + 1] * RAY_SIDE, v[4 * i + 2] - 0.5f,
                              v[4 * i + 3] - 0.5f);
    float *from = run.upload(body), *to = run.zeros<float>(RAY_COUNT);
    float4 *dr = run.upload(rays);
    run.measure([=] { voxel_rays_kernel<<<blocks_for(RAY_COUNT, 64), 64>>>(from, dr, to); });
    run.expect_all(
        run.output(to, RAY_COUNT),
        [&](int i) { return ray_sum(body.data(), rays[i].x, rays[i].y, rays[i].z, rays[i].w); },
        2e-2, 29);
}

#endif
