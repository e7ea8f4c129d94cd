// mosaics.cuh - panoramas: pyramids of images, photos with feathered borders, turned cameras,
// seams through overlaps.
#ifndef BLIND_MOSAICS_CUH
#define BLIND_MOSAICS_CUH

#include "blind.cuh"

// ---- Four levels of a pyramid of means of 2 x 2: a kernel per level, or a tile for all ----

enum { PANO_W = 2560, PANO_H = 1536, PANO_LEVELS = 4 };

struct PanoLevels {
    float4 *level[PANO_LEVELS + 1];
};

__host__ __device__ inline float4 pano_mean(float4 a, float4 b, float4 c, float4 d)
{
    return make_float4((a.x + b.x + c.x + d.x) * 0.25f, (a.y + b.y + c.y + d.y) * 0.25f,
                       (a.z + b.z + c.z + d.z) * 0.25f, (a.w + b.w + c.w + d.w) * 0.25f);
}

// The mean at (x, y) of an image whose rows are 2 * width long.
__host__ __device__ inline float4 pano_half(const float4 *in, int x, int y, int width)
{
    const float4 *at = in + (size_t) 4 * y * width + 2 * x;
    return pano_mean(at[0], at[1], at[2 * width], at[2 * width + 1]);
}

__global__ void pano_level_kernel(const float4 *in, float4 *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[(size_t) y * width + x] = pano_half(in, x, y, width);
}

// A block has 16 x 16 pixels of level 1, and what follows from them.
__global__ void pano_tile_kernel(PanoLevels to)
{
    __shared__ float4 tile[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    int side = 16, x = blockIdx.x * side + tx, y = blockIdx.y * side + ty, width = PANO_W / 2;
    tile[ty][tx] = to.level[1][(size_t) y * width + x] = pano_half(to.level[0], x, y, width);
    for (int k = 2; k <= PANO_LEVELS; k++) {
        float4 mean;
        side /= 2;
        width /= 2;
        __syncthreads();
        if (tx < side && ty < side)
            mean = pano_mean(tile[2 * ty][2 * tx], tile[2 * ty][2 * tx + 1],
                             tile[2 * ty + 1][2 * tx], tile[2 * ty + 1][2 * tx + 1]);
        __syncthreads();
        if (tx < side && ty < side) {
            x = blockIdx.x * side + tx;
            y = blockIdx.y * side + ty;
            tile[ty][tx] = to.level[k][(size_t) y * width + x] = mean;
        }
    }
}

static void pano_pyramid(Run &run, bool tiles)
{
    std::vector<float4> host[PANO_LEVELS + 1];
    PanoLevels to;
    const std::vector<float> v = floats((size_t) 4 * PANO_W * PANO_H, 17560, 0, 1);
    for (size_t i = 0; i < v.size(); i += 4)
        host[0].push_back(make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]));
    to.level[0] = run.upload(host[0]);
    for (int k = 1; k <= PANO_LEVELS; k++) {
        const int width = PANO_W >> k, height = PANO_H >> k;
        for (int i = 0; i < width * height; i++)
            host[k].push_back(pano_half(host[k - 1].data(), i % width, i / width, width));
        to.level[k] = run.zeros<float4>(width * height);
    }
    run.measure([=] {
        if (tiles)
            pano_tile_kernel<<<dim3(PANO_W / 32, PANO_H / 32), dim3(16, 16)>>>(to);
        for (int k = 1; k <= PANO_LEVELS && !tiles; k++) {
            const int width = PANO_W >> k, height = PANO_H >> k;
            const dim3 grid((width + 31) / 32, (height + 7) / 8), block(32, 8);
            pano_level_kernel<<<grid, block>>>(to.level[k - 1], to.level[k], width, height);
        }
    });
    for (int k = 1; k <= PANO_LEVELS; k++) {
        const std::vector<float4> got = run.output(to.level[k], host[k].size());
        for (size_t i = 0; i < got.size(); i += 23) {
            run.expect(got[i].x, host[k][i].x, 1e-6);
            run.expect(got[i].w, host[k][i].w, 1e-6);
        }
    }
}

static void pano_pyramid_levels(Run &run)
{
    pano_pyramid(run, false);
}

static void pano_pyramid_tile(Run &run)
{
    pano_pyramid(run, true);
}

// ---- Ten photos with feathered borders on a canvas: each pixel gathers, or photo by photo ----

enum { PANO_CANVAS_W = 1792, PANO_CANVAS_H = 976, PANO_PHOTOS = 10 };
enum { PANO_PHOTO_W = 640, PANO_PHOTO_H = 480, PANO_PHOTO = PANO_PHOTO_W * PANO_PHOTO_H };

// Adds a photo's pixel, if it is inside, with the distance from the border as its weight.
__host__ __device__ inline void pano_add(const uchar4 *photo, int x, int y, float4 *sum)
{
    if (x < 0 || y < 0 || x >= PANO_PHOTO_W || y >= PANO_PHOTO_H)
        return;
    const int across = x + 1 < PANO_PHOTO_W - x ? x + 1 : PANO_PHOTO_W - x;
    const int down = y + 1 < PANO_PHOTO_H - y ? y + 1 : PANO_PHOTO_H - y;
    const float weight = (float) (across < down ? across : down);
    const uchar4 pixel = photo[y * PANO_PHOTO_W + x];
    sum->x += weight * pixel.x;
    sum->y += weight * pixel.y;
    sum->z += weight * pixel.z;
    sum->w += weight;
}

__host__ __device__ inline uchar4 pano_pixel(float4 sum)
{
    const float scale = sum.w > 0 ? 1 / sum.w : 0;
    return make_uchar4((unsigned char) (sum.x * scale + 0.5f),
                       (unsigned char) (sum.y * scale + 0.5f),
                       (unsigned char) (sum.z * scale + 0.5f), sum.w > 0 ? 255 : 0);
}

__host__ __device__ inline uchar4 pano_gather(const uchar4 *photos, const int2 *places, int x,
                                              int y)
{
    float4 sum = { 0, 0, 0, 0 };
    for (int p = 0; p < PANO_PHOTOS; p++)
        pano_add(photos + p * PANO_PHOTO, x - places[p].x, y - places[p].y, &sum);
    return pano_pixel(sum);
}

__global__ void pano_gather_kernel(const uchar4 *photos, const int2 *places, uchar4 *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * PANO_CANVAS_W + x] = pano_gather(photos, places, x, y);
}

__global__ void pano_clear_kernel(float4 *sums)
{
    sums[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(0, 0, 0, 0);
}

__global__ void pano_layer_kernel(const uchar4 *photo, int2 place, float4 *sums)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    pano_add(photo, x, y, &sums[(place.y + y) * PANO_CANVAS_W + place.x + x]);
}

__global__ void pano_finish_kernel(const float4 *sums, uchar4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = pano_pixel(sums[i]);
}

static void pano_layers(const uchar4 *photos, const std::vector<int2> &places, float4 *sums,
                        uchar4 *to)
{
    const int blocks = PANO_CANVAS_W * PANO_CANVAS_H / 256;
    pano_clear_kernel<<<blocks, 256>>>(sums);
    for (int p = 0; p < PANO_PHOTOS; p++)
        pano_layer_kernel<<<dim3(PANO_PHOTO_W / 32, PANO_PHOTO_H / 8), dim3(32, 8)>>>(
            photos + p * PANO_PHOTO, places[p], sums);
    pano_finish_kernel<<<blocks, 256>>>(sums, to);
}

static std::vector<uchar4> pano_colours(size_t count, uint32_t seed)
{
    std::vector<uchar4> pixels;
    for (uint32_t w : words(count, seed))
        pixels.push_back(make_uchar4(w & 255, w >> 8 & 255, w >> 16 & 255, 255));
    return pixels;
}

static void pano_feather(Run &run, bool layers)
{
    const std::vector<uchar4> photos = pano_colours(PANO_PHOTOS * PANO_PHOTO, 17561);
    const std::vector<int> shifts = integers(2 * PANO_PHOTOS, 150, 17562);
    std::vector<int2> places;
    for (int p = 0; p < PANO_PHOTOS; p++)
        places.push_back(make_int2(p % 5 * 250 + shifts[2 * p], p / 5 * 340 + shifts[2 * p + 1]));
    const size_t n = (size_t) PANO_CANVAS_W * PANO_CANVAS_H;
    const uchar4 *from = run.upload(photos);
    const int2 *dp = run.upload(places);
    float4 *sums = layers ? run.zeros<float4>(n) : NULL;
    uchar4 *to = run.zeros<uchar4>(n);
    run.measure([=] {
        if (layers)
            pano_layers(from, places, sums, to);
        else
            pano_gather_kernel<<<dim3(PANO_CANVAS_W / 32, PANO_CANVAS_H / 8), dim3(32, 8)>>>(
                from, dp, to);
    });
    const std::vector<uchar4> got = run.output(to, n);
    for (size_t i = 0; i < n; i += 53) {
        const uchar4 wanted =
            pano_gather(photos.data(), places.data(), i % PANO_CANVAS_W, (int) (i / PANO_CANVAS_W));
        run.expect((got[i].x - wanted.x) / 256.0, 0, 0.005);
        run.expect((got[i].y - wanted.y) / 256.0, 0, 0.005);
        run.expect((got[i].z - wanted.z) / 256.0, 0, 0.005);
        run.expect(got[i].w, wanted.w, 0);
    }
}

static void pano_feather_gather(Run &run)
{
    pano_feather(run, false);
}

static void pano_feather_layers(Run &run)
{
    pano_feather(run, true);
}

// ---- A sphere's view of a turned camera: angles computed per pixel, or from tables ----

enum { PANO_VIEW_W = 1536, PANO_VIEW_H = 800, PANO_SOURCE_W = 2048, PANO_SOURCE_H = 1280 };

constexpr float pano_focus = 820, pano_step = 1.7f / PANO_VIEW_W;

__constant__ float pano_turn[9];

__host__ __device__ inline float pano_clamp(float x, float most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

__host__ __device__ inline float4 pano_bilinear(const uchar4 *photo, float x, float y)
{
    x = pano_clamp(x, PANO_SOURCE_W - 1.001f);
    y = pano_clamp(y, PANO_SOURCE_H - 1.001f);
    const int left = (int) x, top = (int) y;
    const uchar4 *at = photo + top * PANO_SOURCE_W + left;
    const uchar4 a = at[0], b = at[1], c = at[PANO_SOURCE_W], d = at[PANO_SOURCE_W + 1];
    const float u = x - left, v = y - top;
    const float wa = (1 - u) * (1 - v), wb = u * (1 - v), wc = (1 - u) * v, wd = u * v;
    return make_float4(wa * a.x + wb * b.x + wc * c.x + wd * d.x,
                       wa * a.y + wb * b.y + wc * c.y + wd * d.y,
                       wa * a.z + wb * b.z + wc * c.z + wd * d.z, 255);
}

// `across`, `down`: sine and cosine of the angles of a pixel.
__host__ __device__ inline float4 pano_view(const uchar4 *photo, const float *turn, float2 across,
                                            float2 down)
{
    const float x = across.x * down.y, y = down.x, z = across.y * down.y;
    const float rx = turn[0] * x + turn[1] * y + turn[2] * z;
    const float ry = turn[3] * x + turn[4] * y + turn[5] * z;
    const float rz = turn[6] * x + turn[7] * y + turn[8] * z;
    return pano_bilinear(photo, PANO_SOURCE_W / 2 + pano_focus * rx / rz,
                         PANO_SOURCE_H / 2 + pano_focus * ry / rz);
}

__host__ __device__ inline float2 pano_angle(int i, int size)
{
    const float angle = (i - size / 2) * pano_step;
    return make_float2(sinf(angle), cosf(angle));
}

__global__ void pano_view_computed_kernel(const uchar4 *photo, float4 *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[y * PANO_VIEW_W + x] =
        pano_view(photo, pano_turn, pano_angle(x, PANO_VIEW_W), pano_angle(y, PANO_VIEW_H));
}

__global__ void pano_view_table_kernel(const uchar4 *photo, const float2 *across,
                                       const float2 *down, float4 *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[y * PANO_VIEW_W + x] = pano_view(photo, pano_turn, across[x], down[y]);
}

static void pano_view_run(Run &run, bool tables)
{
    const float turn[9] = { 0.995f,  -0.0998f,  0,        0.0993f, 0.990f,
                            0.0998f, -0.00997f, -0.0993f, 0.995f };
    const std::vector<uchar4> photo = pano_colours(PANO_SOURCE_W * PANO_SOURCE_H, 17563);
    std::vector<float2> across, down;
    for (int x = 0; x < PANO_VIEW_W; x++)
        across.push_back(pano_angle(x, PANO_VIEW_W));
    for (int y = 0; y < PANO_VIEW_H; y++)
        down.push_back(pano_angle(y, PANO_VIEW_H));
    CHECK(cudaMemcpyToSymbol(pano_turn, turn, sizeof turn));
    const uchar4 *from = run.upload(photo);
    const float2 *da = run.upload(across), *dd = run.upload(down);
    float4 *to = run.zeros<float4>(PANO_VIEW_W * PANO_VIEW_H);
    const dim3 grid(PANO_VIEW_W / 128, PANO_VIEW_H);
    run.measure([=] {
        if (tables)
            pano_view_table_kernel<<<grid, 128>>>(from, da, dd, to);
        else
            pano_view_computed_kernel<<<grid, 128>>>(from, to);
    });
    const std::vector<float4> got = run.output(to, PANO_VIEW_W * PANO_VIEW_H);
    for (size_t i = 0; i < got.size(); i += 71) {
        const float4 wanted =
            pano_view(photo.data(), turn, across[i % PANO_VIEW_W], down[i / PANO_VIEW_W]);
        run.expect(got[i].x / 256, wanted.x / 256, 0.003);
        run.expect(got[i].z / 256, wanted.z / 256, 0.003);
    }
}

static void pano_view_computed(Run &run)
{
    pano_view_run(run, false);
}

static void pano_view_table(Run &run)
{
    pano_view_run(run, true);
}

// ---- Cheapest seams through overlaps, row by row: a block per overlap, or a warp ----

enum { PANO_SEAMS = 14, PANO_SEAM_W = 512, PANO_SEAM_H = 800 };

__host__ __device__ inline int pano_difference(uchar4 a, uchar4 b)
{
    return abs(a.x - b.x) + abs(a.y - b.y) + abs(a.z - b.z);
}

// A thread per column. Costs of the row above are in shared memory.
__global__ void pano_seam_block_kernel(const uchar4 *a, const uchar4 *b, int *costs)
{
    __shared__ int above[2][PANO_SEAM_W];
    const int x = threadIdx.x, left = max(x - 1, 0), right = min(x + 1, PANO_SEAM_W - 1);
    size_t i = (size_t) blockIdx.x * PANO_SEAM_W * PANO_SEAM_H + x;
    int cost = 0;
    for (int y = 0; y < PANO_SEAM_H; y++, i += PANO_SEAM_W) {
        int *row = above[y % 2];
        row[x] = cost;
        __syncthreads();
        cost = min(cost, min(row[left], row[right])) + pano_difference(a[i], b[i]);
        costs[i] = cost;
    }
}

// A lane has 16 columns in registers.
__global__ void pano_seam_warp_kernel(const uchar4 *a, const uchar4 *b, int *costs)
{
    const int lane = threadIdx.x;
    size_t i = (size_t) blockIdx.x * PANO_SEAM_W * PANO_SEAM_H + lane * 16;
    int cost[16] = {};
    for (int y = 0; y < PANO_SEAM_H; y++, i += PANO_SEAM_W) {
        int before = __shfl_up_sync(~0u, cost[15], 1);
        int after = __shfl_down_sync(~0u, cost[0], 1);
        before = lane ? before : cost[0];
        after = lane < 31 ? after : cost[15];
        for (int k = 0; k < 16; k++) {
            const int mine = cost[k];
            cost[k] = min(mine, min(before, k < 15 ? cost[k + 1] : after)) +
                      pano_difference(a[i + k], b[i + k]);
            before = mine;
            costs[i + k] = cost[k];
        }
    }
}

static void pano_seam(Run &run, bool warps)
{
    const size_t n = (size_t) PANO_SEAMS * PANO_SEAM_W * PANO_SEAM_H;
    const std::vector<uchar4> a = pano_colours(n, 17564), b = pano_colours(n, 17565);
    const uchar4 *da = run.upload(a), *db = run.upload(b);
    int *to = run.zeros<int>(n);
    run.measure([=] {
        if (warps)
            pano_seam_warp_kernel<<<PANO_SEAMS, 32>>>(da, db, to);
        else
            pano_seam_block_kernel<<<PANO_SEAMS, PANO_SEAM_W>>>(da, db, to);
    });
    const std::vector<int> got = run.output(to, n);
    for (size_t i = 0; i < n; i += 29) {
        const size_t x = i % PANO_SEAM_W, y = i / PANO_SEAM_W % PANO_SEAM_H;
        int least = y ? got[i - PANO_SEAM_W] : 0;
        if (y && x)
            least = std::min(least, got[i - PANO_SEAM_W - 1]);
        if (y && x < PANO_SEAM_W - 1)
            least = std::min(least, got[i - PANO_SEAM_W + 1]);
        run.expect(got[i], least + pano_difference(a[i], b[i]), 0);
    }
}

static void pano_seam_block(Run &run)
{
    pano_seam(run, false);
}

static void pano_seam_warp(Run &run)
{
    pano_seam(run, true);
}

#endif
