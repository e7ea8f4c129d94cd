// robots.cuh - what robots see: planes in point clouds, volumes from depth images, corners, census
// stereo, maps from laser beams.
#ifndef BLIND_ROBOTS_CUH
#define BLIND_ROBOTS_CUH

#include "blind.cuh"

// ---- How many of 5000 points lie near each of 2000 planes? A thread or a block per plane ----

enum { CLOUD_POINTS = 5000, CLOUD_PLANES = 2000 };

__host__ __device__ inline bool near_plane(float3 p, float4 plane)
{
    return fabsf(plane.x * p.x + plane.y * p.y + plane.z * p.z + plane.w) < 0.05f;
}

__global__ void ransac_thread_kernel(const float3 *points, const float4 *planes, int *inliers)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0;
    if (i >= CLOUD_PLANES)
        return;
    for (int k = 0; k < CLOUD_POINTS; k++)
        if (near_plane(points[k], planes[i]))
            count++;
    inliers[i] = count;
}

__global__ void ransac_block_kernel(const float3 *points, const float4 *planes, int *inliers)
{
    __shared__ int total;
    const float4 plane = planes[blockIdx.x];
    int count = 0;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads(); // the total is zero
    for (int k = threadIdx.x; k < CLOUD_POINTS; k += blockDim.x)
        count += near_plane(points[k], plane);
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, count);
    __syncthreads(); // the total is complete
    if (threadIdx.x == 0)
        inliers[blockIdx.x] = total;
}

static void ransac(Run &run, void (*kernel)(const float3 *, const float4 *, int *), int grid,
                   int block)
{
    const std::vector<float> p = floats(3 * CLOUD_POINTS, 3011), q = floats(4 * CLOUD_PLANES, 3012);
    std::vector<float3> points(CLOUD_POINTS);
    std::vector<float4> planes(CLOUD_PLANES);
    for (int i = 0; i < CLOUD_POINTS; i++)
        points[i] = make_float3(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
    for (int i = 0; i < CLOUD_PLANES; i++) {
        const float *v = &q[4 * i], size = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 1e-6f;
        planes[i] = make_float4(v[0] / size, v[1] / size, v[2] / size, v[3]);
    }
    float3 *dp = run.upload(points);
    float4 *dq = run.upload(planes);
    int *to = run.zeros<int>(CLOUD_PLANES);
    run.measure([=] { kernel<<<grid, block>>>(dp, dq, to); });
    run.expect_all(
        run.output(to, CLOUD_PLANES),
        [&](size_t i) {
            int count = 0;
            for (const float3 &point : points)
                count += near_plane(point, planes[i]);
            return count;
        },
        0.03);
}

static void ransac_thread(Run &run)
{
    ransac(run, ransac_thread_kernel, blocks_for(CLOUD_PLANES, 128), 128);
}

static void ransac_block(Run &run)
{
    ransac(run, ransac_block_kernel, CLOUD_PLANES, 192);
}

// ---- A depth image fused into a volume of signed distances: a thread per voxel or per column ----

enum { FUSE_X = 128, FUSE_Y = 96, FUSE_Z = 192, SIGHT_WIDTH = 320, SIGHT_HEIGHT = 240 };

// With explicit fmaf: the same pixel on the host and on the device.
__host__ __device__ inline float2 fused(float2 old, const float *depth, int x, int y, int z)
{
    const float cx = (x - FUSE_X / 2) * 0.01f, cy = (y - FUSE_Y / 2) * 0.01f;
    const float cz = fmaf((float) z, 0.01f, 0.5f);
    const int u = (int) floorf(fmaf(280, cx / cz, SIGHT_WIDTH / 2));
    const int v = (int) floorf(fmaf(280, cy / cz, SIGHT_HEIGHT / 2));
    if (u < 0 || u >= SIGHT_WIDTH || v < 0 || v >= SIGHT_HEIGHT)
        return old;
    const float distance = (depth[v * SIGHT_WIDTH + u] - cz) / 0.1f;
    if (distance < -1)
        return old;
    return make_float2(fmaf(old.x, old.y, fminf(distance, 1)) / (old.y + 1), old.y + 1);
}

__global__ void fuse_voxel_kernel(const float *depth, float2 *volume)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z, at = (z * FUSE_Y + y) * FUSE_X + x;
    volume[at] = fused(volume[at], depth, x, y, z);
}

__global__ void fuse_column_kernel(const float *depth, float2 *volume)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int z = 0; z < FUSE_Z; z++) {
        const int at = (z * FUSE_Y + y) * FUSE_X + x;
        volume[at] = fused(volume[at], depth, x, y, z);
    }
}

static void fuse(Run &run, void (*kernel)(const float *, float2 *), dim3 grid, dim3 block)
{
    const int n = FUSE_X * FUSE_Y * FUSE_Z;
    std::vector<float> depth(SIGHT_WIDTH * SIGHT_HEIGHT);
    for (int i = 0; i < SIGHT_WIDTH * SIGHT_HEIGHT; i++)
        depth[i] = 1.5f + 0.6f * sinf(i % SIGHT_WIDTH * 0.03f) * cosf(i / SIGHT_WIDTH * 0.02f);
    float *from = run.upload(depth);
    float2 *volume = run.zeros<float2>(n);
    run.measure([=] { kernel<<<grid, block>>>(from, volume); },
                [=] { CHECK(cudaMemset(volume, 0, n * sizeof(float2))); });
    const std::vector<float2> got = run.output(volume, n);
    for (int i = 0; i < n; i += 37) {
        const int x = i % FUSE_X, y = i / FUSE_X % FUSE_Y, z = i / FUSE_X / FUSE_Y;
        const float2 wanted = fused(make_float2(0, 0), depth.data(), x, y, z);
        run.expect(got[i].x, wanted.x, 1e-4);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void fuse_voxels(Run &run)
{
    fuse(run, fuse_voxel_kernel, dim3(FUSE_X / 32, FUSE_Y / 8, FUSE_Z), dim3(32, 8));
}

static void fuse_columns(Run &run)
{
    fuse(run, fuse_column_kernel, dim3(FUSE_X / 32, FUSE_Y / 4), dim3(32, 4));
}

// ---- Corners: 9 pixels in a row on a circle of 16 are brighter or darker; early exit or masks
// ----

enum { CORNER_WIDTH = 1200, CORNER_HEIGHT = 900, CORNER_CONTRAST = 24 };

__constant__ signed char corner_circle[16][2] = { { 0, -3 }, { 1, -3 },  { 2, -2 },  { 3, -1 },
                                                  { 3, 0 },  { 3, 1 },   { 2, 2 },   { 1, 3 },
                                                  { 0, 3 },  { -1, 3 },  { -2, 2 },  { -3, 1 },
                                                  { -3, 0 }, { -3, -1 }, { -2, -2 }, { -1, -3 } };
static const signed char corner_host[16][2] = { { 0, -3 }, { 1, -3 },  { 2, -2 },  { 3, -1 },
                                                { 3, 0 },  { 3, 1 },   { 2, 2 },   { 1, 3 },
                                                { 0, 3 },  { -1, 3 },  { -2, 2 },  { -3, 1 },
                                                { -3, 0 }, { -3, -1 }, { -2, -2 }, { -1, -3 } };

__device__ inline int corner_sign(const uint8_t *at, int k)
{
    const int off = corner_circle[k % 16][1] * CORNER_WIDTH + corner_circle[k % 16][0];
    const int d = at[off] - at[0];
    return d > CORNER_CONTRAST ? 1 : d < -CORNER_CONTRAST ? -1 : 0;
}

__global__ void corners_early_kernel(const uint8_t *in, uint8_t *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 3;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 3;
    const uint8_t *at = in + y * CORNER_WIDTH + x;
    int brighter = 0, darker = 0;
    if (x >= CORNER_WIDTH - 3 || y >= CORNER_HEIGHT - 3)
        return;
    for (int k = 0; k < 16; k += 4) {
        brighter += corner_sign(at, k) > 0;
        darker += corner_sign(at, k) < 0;
    }
    if (brighter < 2 && darker < 2)
        return;
    for (int start = 0; start < 16; start++) {
        const int sign = corner_sign(at, start);
        int length = 1;
        if (sign == 0)
            continue;
        while (length < 9 && corner_sign(at, start + length) == sign)
            length++;
        if (length == 9) {
            out[y * CORNER_WIDTH + x] = 1;
            return;
        }
    }
}

__host__ __device__ inline bool nine_in_row(uint32_t mask)
{
    mask |= mask << 16;
    uint32_t runs = mask & mask >> 1;
    runs &= runs >> 2;
    runs &= runs >> 4;
    return (runs & mask >> 8) != 0;
}

__global__ void corners_masks_kernel(const uint8_t *in, uint8_t *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 3;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 3;
    const uint8_t *at = in + y * CORNER_WIDTH + x;
    uint32_t brighter = 0, darker = 0;
    if (x >= CORNER_WIDTH - 3 || y >= CORNER_HEIGHT - 3)
        return;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const int d = at[corner_circle[k][1] * CORNER_WIDTH + corner_circle[k][0]] - at[0];
        brighter |= (uint32_t) (d > CORNER_CONTRAST) << k;
        darker |= (uint32_t) (d < -CORNER_CONTRAST) << k;
    }
    out[y * CORNER_WIDTH + x] = nine_in_row(brighter) || nine_in_row(darker);
}

static void corners(Run &run, void (*kernel)(const uint8_t *, uint8_t *))
{
    const int n = CORNER_WIDTH * CORNER_HEIGHT;
    std::vector<uint8_t> image(n);
    for (int i = 0; i < n; i++) {
        const int x = i % CORNER_WIDTH, y = i / CORNER_WIDTH;
        image[i] =
            (uint8_t) (mix((y + x / 9) / 21 * 977 + (x + y / 7) / 17 + 3014) % 200 + mix(i) % 20);
    }
    uint8_t *from = run.upload(image), *to = run.zeros<uint8_t>(n);
    const dim3 grid(blocks_for(CORNER_WIDTH - 6, 32), blocks_for(CORNER_HEIGHT - 6, 8));
    run.measure([=] { kernel<<<grid, dim3(32, 8)>>>(from, to); });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int x = i % CORNER_WIDTH, y = i / CORNER_WIDTH;
            uint32_t brighter = 0, darker = 0;
            if (x < 3 || x >= CORNER_WIDTH - 3 || y < 3 || y >= CORNER_HEIGHT - 3)
                return 0;
            for (int k = 0; k < 16; k++) {
                const int d =
                    image[i + corner_host[k][1] * CORNER_WIDTH + corner_host[k][0]] - image[i];
                brighter |= (uint32_t) (d > CORNER_CONTRAST) << k;
                darker |= (uint32_t) (d < -CORNER_CONTRAST) << k;
            }
            return nine_in_row(brighter) || nine_in_row(darker) ? 1 : 0;
        },
        0, 3);
}

static void corners_early(Run &run)
{
    corners(run, corners_early_kernel);
}

static void corners_masks(Run &run)
{
    corners(run, corners_masks_kernel);
}

// ---- Census stereo: 24 comparisons per pixel, then the nearest of 40 shifts by Hamming ----

enum { CENSUS_WIDTH = 608, CENSUS_HEIGHT = 460, CENSUS_SHIFTS = 40 };

__host__ __device__ inline uint32_t census_code(const uint8_t *in, int x, int y)
{
    uint32_t code = 0;
    if (x < 2 || x >= CENSUS_WIDTH - 2 || y < 2 || y >= CENSUS_HEIGHT - 2)
        return 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            if (dx || dy)
                code =
                    code << 1 | (in[(y + dy) * CENSUS_WIDTH + x + dx] < in[y * CENSUS_WIDTH + x]);
    return code;
}

__global__ void census_kernel(const uint8_t *in, uint32_t *codes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CENSUS_WIDTH * CENSUS_HEIGHT)
        codes[i] = census_code(in, i % CENSUS_WIDTH, i / CENSUS_WIDTH);
}

__global__ void census_match_kernel(const uint32_t *left, const uint32_t *right, uint8_t *shifts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % CENSUS_WIDTH;
    int best = 33, best_shift = 0;
    if (i >= CENSUS_WIDTH * CENSUS_HEIGHT)
        return;
    for (int s = 0; s < CENSUS_SHIFTS && s <= x; s++) {
        const int apart = __popc(left[i] ^ right[i - s]);
        if (apart < best) {
            best = apart;
            best_shift = s;
        }
    }
    shifts[i] = best_shift;
}

static void census_stereo(Run &run)
{
    const int n = CENSUS_WIDTH * CENSUS_HEIGHT;
    std::vector<uint8_t> left(n), right(n);
    for (int i = 0; i < n; i++) {
        left[i] = (uint8_t) (mix(i + 3016) >> 24);
        right[i] = (uint8_t) (mix(i + 7 + i / 9000 + 3016) >> 24);
    }
    uint8_t *dl = run.upload(left), *dr = run.upload(right), *to = run.zeros<uint8_t>(n);
    uint32_t *cl = run.zeros<uint32_t>(n), *cr = run.zeros<uint32_t>(n);
    const int grid = blocks_for(n, 256);
    run.measure([=] {
        census_kernel<<<grid, 256>>>(dl, cl);
        census_kernel<<<grid, 256>>>(dr, cr);
        census_match_kernel<<<grid, 256>>>(cl, cr, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            const int x = i % CENSUS_WIDTH, y = i / CENSUS_WIDTH;
            const uint32_t mine = census_code(left.data(), x, y);
            int best = 33, best_shift = 0;
            for (int s = 0; s < CENSUS_SHIFTS && s <= x; s++) {
                const int apart = __builtin_popcount(mine ^ census_code(right.data(), x - s, y));
                if (apart < best) {
                    best = apart;
                    best_shift = s;
                }
            }
            return best_shift;
        },
        0, 101);
}

// ---- A map of free and occupied cells from laser beams, by Bresenham's lines ----

enum { BEAM_MAP = 400, BEAM_SCANS = 100, BEAMS = 360 };

// One step of the line towards `to`.
__host__ __device__ inline void step_beam(int2 &at, int2 to, int dx, int dy, int &error)
{
    const int twice = 2 * error;
    if (twice >= dy) {
        error += dy;
        at.x += at.x < to.x ? 1 : -1;
    }
    if (twice <= dx) {
        error += dx;
        at.y += at.y < to.y ? 1 : -1;
    }
}

__global__ void lidar_kernel(const int2 *origins, const int2 *hits, int *map)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BEAMS * BEAM_SCANS)
        return;
    const int2 to = hits[i];
    int2 at = origins[i / BEAMS];
    const int dx = abs(to.x - at.x), dy = -abs(to.y - at.y);
    for (int error = dx + dy; at.x != to.x || at.y != to.y; step_beam(at, to, dx, dy, error))
        atomicSub(&map[at.y * BEAM_MAP + at.x], 1);
    atomicAdd(&map[to.y * BEAM_MAP + to.x], 10);
}

static void lidar_map(Run &run)
{
    const int n = BEAM_MAP * BEAM_MAP;
    std::vector<int2> origins(BEAM_SCANS), hits(BEAMS * BEAM_SCANS);
    std::vector<int> wanted(n);
    for (int i = 0; i < BEAMS * BEAM_SCANS; i++) {
        const int scan = i / BEAMS;
        const float angle = i % BEAMS * 0.0174533f, reach = 60 + 50 * sinf(3 * angle + scan);
        const int2 from = make_int2(130 + scan, 150 + scan);
        origins[scan] = from;
        hits[i] =
            make_int2(from.x + (int) (reach * cosf(angle)), from.y + (int) (reach * sinf(angle)));
        const int dx = abs(hits[i].x - from.x), dy = -abs(hits[i].y - from.y);
        int2 at = from;
        for (int error = dx + dy; at.x != hits[i].x || at.y != hits[i].y;
             step_beam(at, hits[i], dx, dy, error))
            wanted[at.y * BEAM_MAP + at.x]--;
        wanted[hits[i].y * BEAM_MAP + hits[i].x] += 10;
    }
    int2 *from = run.upload(origins), *to = run.upload(hits);
    int *map = run.zeros<int>(n);
    run.measure([=] { lidar_kernel<<<blocks_for(BEAMS * BEAM_SCANS, 64), 64>>>(from, to, map); },
                [=] { CHECK(cudaMemset(map, 0, n * sizeof(int))); });
    run.expect_all(
        run.output(map, n), [&](size_t i) { return wanted[i]; }, 0);
}

#endif
