// contours.cuh - shapes in images: texture patterns, thresholds of tiles, thinning, regions.
#ifndef BLIND_CONTOURS_CUH
#define BLIND_CONTOURS_CUH

#include "blind.cuh"

// ---- Local binary patterns: neighbours from global memory, or from a tile ----

enum { TEXTURE_W = 2048, TEXTURE_H = 1136 };

__host__ __device__ inline size_t texture_at(int x, int y)
{
    x = x < 0 ? 0 : x >= TEXTURE_W ? TEXTURE_W - 1 : x;
    y = y < 0 ? 0 : y >= TEXTURE_H ? TEXTURE_H - 1 : y;
    return (size_t) y * TEXTURE_W + x;
}

__host__ __device__ inline unsigned char texture_pattern(const unsigned char *in, int x, int y)
{
    const int dx[8] = { -1, 0, 1, 1, 1, 0, -1, -1 }, dy[8] = { -1, -1, -1, 0, 1, 1, 1, 0 };
    const int middle = in[texture_at(x, y)];
    int bits = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < 8; k++)
        bits |= (in[texture_at(x + dx[k], y + dy[k])] >= middle) << k;
    return (unsigned char) bits;
}

__global__ void texture_direct_kernel(const unsigned char *in, unsigned char *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[(size_t) y * TEXTURE_W + x] = texture_pattern(in, x, y);
}

__global__ void texture_tile_kernel(const unsigned char *in, unsigned char *out)
{
    __shared__ unsigned char tile[10][36];
    const int x = blockIdx.x * 32, y = blockIdx.y * 8, tx = threadIdx.x, ty = threadIdx.y;
    for (int i = ty * 32 + tx; i < 10 * 34; i += 256)
        tile[i / 34][i % 34] = in[texture_at(x + i % 34 - 1, y + i / 34 - 1)];
    __syncthreads();
    const int middle = tile[ty + 1][tx + 1];
    int bits = (tile[ty][tx] >= middle) | (tile[ty][tx + 1] >= middle) << 1;
    bits |= (tile[ty][tx + 2] >= middle) << 2 | (tile[ty + 1][tx + 2] >= middle) << 3;
    bits |= (tile[ty + 2][tx + 2] >= middle) << 4 | (tile[ty + 2][tx + 1] >= middle) << 5;
    bits |= (tile[ty + 2][tx] >= middle) << 6 | (tile[ty + 1][tx] >= middle) << 7;
    out[(size_t) (y + ty) * TEXTURE_W + x + tx] = (unsigned char) bits;
}

static void texture(Run &run, void (*kernel)(const unsigned char *, unsigned char *))
{
    const std::vector<int> v = integers(TEXTURE_W * TEXTURE_H, 256, 11140);
    const std::vector<unsigned char> in(v.begin(), v.end());
    const unsigned char *from = run.upload(in);
    unsigned char *to = run.zeros<unsigned char>(in.size());
    const dim3 grid(TEXTURE_W / 32, TEXTURE_H / 8), block(32, 8);
    run.measure([=] { kernel<<<grid, block>>>(from, to); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) { return texture_pattern(in.data(), i % TEXTURE_W, i / TEXTURE_W); }, 0, 101);
}

static void texture_direct(Run &run)
{
    texture(run, texture_direct_kernel);
}

static void texture_tile(Run &run)
{
    texture(run, texture_tile_kernel);
}

// ---- Otsu's threshold per tile of an image: one thread scans its histogram, or all threads ----

enum { OTSU_TILES = 704, OTSU_PIXELS = 128 * 128 };

__device__ inline void otsu_histogram(const unsigned char *tile, int *histogram)
{
    histogram[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < OTSU_PIXELS / 4; i += 256) {
        const uchar4 v = ((const uchar4 *) tile)[i];
        atomicAdd(&histogram[v.x], 1);
        atomicAdd(&histogram[v.y], 1);
        atomicAdd(&histogram[v.z], 1);
        atomicAdd(&histogram[v.w], 1);
    }
    __syncthreads();
}

// How well the values up to some one are parted from the others.
__host__ __device__ inline float otsu_score(int below, int sum_below, int sum)
{
    const int above = OTSU_PIXELS - below;
    if (below == 0 || above == 0)
        return 0;
    const float d = (float) sum_below / below - (float) (sum - sum_below) / above;
    return d * d * below * (above / (float) OTSU_PIXELS);
}

__global__ void otsu_serial_kernel(const unsigned char *image, int *out, float *scores)
{
    __shared__ int histogram[256];
    otsu_histogram(image + (size_t) blockIdx.x * OTSU_PIXELS, histogram);
    if (threadIdx.x)
        return;
    int sum = 0, below = 0, sum_below = 0, at = 0;
    float best = -1;
    for (int v = 0; v < 256; v++)
        sum += v * histogram[v];
    for (int v = 0; v < 256; v++) {
        below += histogram[v];
        sum_below += v * histogram[v];
        const float score = otsu_score(below, sum_below, sum);
        if (score > best) {
            best = score;
            at = v;
        }
    }
    out[blockIdx.x] = at;
    scores[blockIdx.x] = best;
}

// Thread v has the prefix sums up to value v.
__global__ void otsu_scan_kernel(const unsigned char *image, int *out, float *scores)
{
    __shared__ int histogram[256], counts[256], sums[256];
    __shared__ unsigned long long best;
    const int v = threadIdx.x;
    otsu_histogram(image + (size_t) blockIdx.x * OTSU_PIXELS, histogram);
    counts[v] = histogram[v];
    sums[v] = v * histogram[v];
    if (v == 0)
        best = 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        const int count = v >= d ? counts[v - d] : 0, sum = v >= d ? sums[v - d] : 0;
        __syncthreads();
        counts[v] += count;
        sums[v] += sum;
        __syncthreads();
    }
    const float score = otsu_score(counts[v], sums[v], sums[255]);
    atomicMax(&best, (unsigned long long) __float_as_uint(score) << 32 | (255 - v));
    __syncthreads();
    if (v == 0) {
        out[blockIdx.x] = 255 - (int) (best & 255);
        scores[blockIdx.x] = __uint_as_float((unsigned) (best >> 32));
    }
}

static double otsu_best(const unsigned char *tile)
{
    int counts[256] = {}, sum = 0, below = 0, sum_below = 0;
    double best = 0;
    for (int i = 0; i < OTSU_PIXELS; i++) {
        counts[tile[i]]++;
        sum += tile[i];
    }
    for (int v = 0; v < 256; v++) {
        below += counts[v];
        sum_below += v * counts[v];
        best = std::max(best, (double) otsu_score(below, sum_below, sum));
    }
    return best;
}

// Scores are compared, as rounding may choose between thresholds that are equally good.
static void otsu(Run &run, void (*kernel)(const unsigned char *, int *, float *))
{
    const size_t n = (size_t) OTSU_TILES * OTSU_PIXELS;
    const std::vector<int> v = integers(n, 120, 11141);
    std::vector<unsigned char> image(n);
    for (size_t i = 0; i < n; i++)
        image[i] = (unsigned char) (v[i] + (v[i] % 3 ? 20 : 110));
    const unsigned char *from = run.upload(image);
    int *to = run.zeros<int>(OTSU_TILES);
    float *scores = run.zeros<float>(OTSU_TILES);
    run.measure([=] { kernel<<<OTSU_TILES, 256>>>(from, to, scores); });
    run.output(to, OTSU_TILES);
    run.expect_all(
        run.output(scores, OTSU_TILES),
        [&](size_t t) { return otsu_best(&image[t * OTSU_PIXELS]); }, 1e-4, 17);
}

static void otsu_serial(Run &run)
{
    otsu(run, otsu_serial_kernel);
}

static void otsu_scan(Run &run)
{
    otsu(run, otsu_scan_kernel);
}

// ---- Thinning of lines, two passes: rules of neighbours computed, or from a table ----

enum { THIN_W = 2048, THIN_H = 608 };

// Neighbours clockwise from above, as 0 or 1 in bits 0 to 7.
__host__ __device__ inline bool thin_removes(int around, int pass)
{
    int turns = 0, count = 0;
    for (int k = 0; k < 8; k++) {
        const int now = around >> k & 1, next = around >> (k + 1) % 8 & 1;
        count += now;
        turns += !now && next;
    }
    const int up = around & 1, right = around >> 2 & 1, down = around >> 4 & 1;
    const int left = around >> 6 & 1;
    const bool open = pass ? !(up && right && left) && !(up && down && left)
                           : !(up && right && down) && !(right && down && left);
    return count >= 2 && count <= 6 && turns == 1 && open;
}

__host__ __device__ inline int thin_around(const unsigned char *at)
{
    int around = at[-THIN_W] | at[-THIN_W + 1] << 1 | at[1] << 2 | at[THIN_W + 1] << 3;
    around |= at[THIN_W] << 4 | at[THIN_W - 1] << 5 | at[-1] << 6 | at[-THIN_W - 1] << 7;
    return around;
}

template <bool TABLE>
__global__ void thin_kernel(const unsigned char *in, const unsigned char *table, int pass,
                            unsigned char *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const size_t i = (size_t) y * THIN_W + x;
    if (x == 0 || y == 0 || x == THIN_W - 1 || y == THIN_H - 1) {
        out[i] = 0;
        return;
    }
    const int around = thin_around(in + i);
    const bool removed = TABLE ? table[pass * 256 + around] : thin_removes(around, pass);
    out[i] = in[i] && !removed;
}

static std::vector<unsigned char> thin_host(const std::vector<unsigned char> &in, int pass)
{
    std::vector<unsigned char> out(in.size());
    for (int y = 1; y < THIN_H - 1; y++)
        for (int x = 1; x < THIN_W - 1; x++) {
            const size_t i = (size_t) y * THIN_W + x;
            out[i] = in[i] && !thin_removes(thin_around(&in[i]), pass);
        }
    return out;
}

template <bool TABLE> static void thin(Run &run)
{
    const std::vector<int> v = integers(THIN_W * THIN_H, 4, 11142);
    std::vector<unsigned char> in(v.size()), table(512);
    for (size_t i = 0; i < v.size(); i++)
        in[i] = v[i] > 0;
    for (int i = 0; i < 512; i++)
        table[i] = thin_removes(i % 256, i / 256);
    const unsigned char *from = run.upload(in), *dt = run.upload(table);
    unsigned char *half = run.zeros<unsigned char>(in.size());
    unsigned char *to = run.zeros<unsigned char>(in.size());
    const dim3 grid(THIN_W / 256, THIN_H);
    run.measure([=] {
        thin_kernel<TABLE><<<grid, 256>>>(from, dt, 0, half);
        thin_kernel<TABLE><<<grid, 256>>>(half, dt, 1, to);
    });
    const std::vector<unsigned char> wanted = thin_host(thin_host(in, 0), 1);
    run.expect_all(
        run.output(to, in.size()), [&](size_t i) { return wanted[i]; }, 0, 13);
}

static void thinning_rules(Run &run)
{
    thin<false>(run);
}

static void thinning_table(Run &run)
{
    thin<true>(run);
}

// ---- Areas and bounds of labelled regions: atomics of each pixel, or of warps that agree ----

enum { REGION_SIDE = 1536, REGIONS = 1500 };

struct Region {
    int area, left, right, top, bottom;
};

__device__ inline void region_add(Region *r, int area, int left, int right, int y)
{
    atomicAdd(&r->area, area);
    atomicMin(&r->left, left);
    atomicMax(&r->right, right);
    atomicMin(&r->top, y);
    atomicMax(&r->bottom, y);
}

__global__ void regions_pixels_kernel(const int *labels, Region *regions)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    region_add(&regions[labels[y * REGION_SIDE + x]], 1, x, x, y);
}

__global__ void regions_warps_kernel(const int *labels, Region *regions)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const int label = labels[y * REGION_SIDE + x];
    const unsigned same = __match_any_sync(~0u, label);
    if (__ffs(same) - 1 == (int) threadIdx.x % 32)
        region_add(&regions[label], __popc(same), x, x - x % 32 + 31 - __clz(same), y);
}

static std::vector<int> region_labels()
{
    std::vector<int> labels(REGION_SIDE * REGION_SIDE);
    const std::vector<int> shift = integers(REGION_SIDE, 24, 11143);
    for (int y = 0; y < REGION_SIDE; y++)
        for (int x = 0; x < REGION_SIDE; x++)
            labels[y * REGION_SIDE + x] = ((x + shift[y / 24]) / 40 + y / 24 * 27) % REGIONS;
    return labels;
}

static void regions_run(Run &run, void (*kernel)(const int *, Region *))
{
    const std::vector<int> labels = region_labels();
    const Region none = { 0, REGION_SIDE, -1, REGION_SIDE, -1 };
    const std::vector<Region> empty(REGIONS, none);
    std::vector<Region> wanted(empty);
    for (int i = 0; i < REGION_SIDE * REGION_SIDE; i++) {
        Region &r = wanted[labels[i]];
        const int x = i % REGION_SIDE, y = i / REGION_SIDE;
        r = { r.area + 1, std::min(r.left, x), std::max(r.right, x), std::min(r.top, y),
              std::max(r.bottom, y) };
    }
    const int *from = run.upload(labels);
    const Region *start = run.upload(empty);
    Region *to = run.zeros<Region>(REGIONS);
    const dim3 grid(REGION_SIDE / 256, REGION_SIDE);
    run.measure(
        [=] { kernel<<<grid, 256>>>(from, to); },
        [=] { CHECK(cudaMemcpy(to, start, REGIONS * sizeof(Region), cudaMemcpyDeviceToDevice)); });
    const std::vector<Region> got = run.output(to, REGIONS);
    for (int r = 0; r < REGIONS; r++) {
        run.expect(got[r].area, wanted[r].area, 0);
        run.expect(got[r].left, wanted[r].left, 0);
        run.expect(got[r].right, wanted[r].right, 0);
        run.expect(got[r].top, wanted[r].top, 0);
        run.expect(got[r].bottom, wanted[r].bottom, 0);
    }
}

static void regions_pixels(Run &run)
{
    regions_run(run, regions_pixels_kernel);
}

static void regions_warps(Run &run)
{
    regions_run(run, regions_warps_kernel);
}

#endif
