// vision.cuh - what cameras need: integral image, overlapping boxes, video formats, stereo.
#ifndef BLIND_VISION_CUH
#define BLIND_VISION_CUH

#include "blind.cuh"

// ---- Integral image: a thread or a warp per row, then a thread per column ----

enum { SUMMED_WIDTH = 1024, SUMMED_HEIGHT = 768 };

__global__ void integral_serial_kernel(const unsigned char *in, unsigned *out)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    if (y >= SUMMED_HEIGHT)
        return;
    for (int x = 0; x < SUMMED_WIDTH; x++) {
        sum += in[y * SUMMED_WIDTH + x];
        out[y * SUMMED_WIDTH + x] = sum;
    }
}

__global__ void integral_warp_kernel(const unsigned char *in, unsigned *out)
{
    const int y = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned before = 0;
    if (y >= SUMMED_HEIGHT)
        return;
    for (int x = lane; x < SUMMED_WIDTH; x += 32) {
        unsigned sum = in[y * SUMMED_WIDTH + x];
        for (int apart = 1; apart < 32; apart *= 2) {
            unsigned left = __shfl_up_sync(~0u, sum, apart);
            sum += lane >= apart ? left : 0;
        }
        out[y * SUMMED_WIDTH + x] = before + sum;
        before += __shfl_sync(~0u, sum, 31);
    }
}

__global__ void integral_columns_kernel(unsigned *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    if (x >= SUMMED_WIDTH)
        return;
    for (int y = 0; y < SUMMED_HEIGHT; y++) {
        sum += out[y * SUMMED_WIDTH + x];
        out[y * SUMMED_WIDTH + x] = sum;
    }
}

static void integral(Run &run, bool by_warp)
{
    const int n = SUMMED_WIDTH * SUMMED_HEIGHT;
    const std::vector<int> wide = integers(n, 256, 701);
    const std::vector<unsigned char> in(wide.begin(), wide.end());
    unsigned char *from = run.upload(in);
    unsigned *to = run.zeros<unsigned>(n);
    run.measure([=] {
        if (by_warp)
            integral_warp_kernel<<<blocks_for(SUMMED_HEIGHT * 32, 256), 256>>>(from, to);
        else
            integral_serial_kernel<<<blocks_for(SUMMED_HEIGHT, 64), 64>>>(from, to);
        integral_columns_kernel<<<blocks_for(SUMMED_WIDTH, 128), 128>>>(to);
    });
    std::vector<unsigned> wanted(n);
    for (int i = 0; i < n; i++)
        wanted[i] = in[i] + (i % SUMMED_WIDTH ? wanted[i - 1] : 0);
    for (int i = SUMMED_WIDTH; i < n; i++)
        wanted[i] += wanted[i - SUMMED_WIDTH];
    run.expect_all(
        run.output(to, n), [&](size_t i) { return wanted[i]; }, 0, 97);
}

static void integral_serial(Run &run)
{
    integral(run, false);
}

static void integral_warp(Run &run)
{
    integral(run, true);
}

// ---- Suppression of overlapping boxes: bits of pairs, from global or shared memory; then the list
// ----

enum { NMS_BOXES = 2304, NMS_WORDS = NMS_BOXES / 64 };

__host__ __device__ inline bool boxes_overlap(float4 a, float4 b)
{
    float width = fminf(a.z, b.z) - fmaxf(a.x, b.x), height = fminf(a.w, b.w) - fmaxf(a.y, b.y);
    float both = fmaxf(width, 0) * fmaxf(height, 0);
    float all = (a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - both;
    return both / all > 0.4f;
}

__global__ void nms_global_kernel(const float4 *box, unsigned long long *mask)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, word = blockIdx.y;
    unsigned long long bits = 0;
    for (int k = 0; k < 64; k++)
        if (word * 64 + k > i && boxes_overlap(box[i], box[word * 64 + k]))
            bits |= 1ull << k;
    mask[i * NMS_WORDS + word] = bits;
}

__global__ void __launch_bounds__(64) nms_shared_kernel(const float4 *box, unsigned long long *mask)
{
    __shared__ float4 other[64];
    const int i = blockIdx.y * 64 + threadIdx.x;
    if (blockIdx.x < blockIdx.y)
        return; // all of these boxes are before the row's
    other[threadIdx.x] = box[blockIdx.x * 64 + threadIdx.x];
    __syncthreads(); // the boxes are complete
    const float4 mine = box[i];
    unsigned long long bits = 0;
    for (int k = blockIdx.x == blockIdx.y ? threadIdx.x + 1 : 0; k < 64; k++)
        if (boxes_overlap(mine, other[k]))
            bits |= 1ull << k;
    mask[i * NMS_WORDS + blockIdx.x] = bits;
}

// Boxes on whole coordinates: all areas are exact.
static std::vector<float4> nms_boxes()
{
    const std::vector<int> at = integers(NMS_BOXES * 4, 1u << 16, 702);
    std::vector<float4> box(NMS_BOXES);
    for (int i = 0; i < NMS_BOXES; i++) {
        const int *v = &at[4 * i];
        const float x = v[0] % 400, y = v[1] % 300;
        box[i] = make_float4(x, y, x + 16 + v[2] % 48, y + 16 + v[3] % 48);
    }
    return box;
}

static void nms(Run &run, bool shared)
{
    const std::vector<float4> box = nms_boxes();
    float4 *db = run.upload(box);
    unsigned long long *mask = run.zeros<unsigned long long>(NMS_BOXES * NMS_WORDS);
    run.measure([=] {
        if (shared)
            nms_shared_kernel<<<dim3(NMS_WORDS, NMS_WORDS), 64>>>(db, mask);
        else
            nms_global_kernel<<<dim3(NMS_BOXES / 128, NMS_WORDS), 128>>>(db, mask);
    });
    const auto got = run.output(mask, NMS_BOXES * NMS_WORDS);
    for (int i = 0; i < NMS_BOXES; i += 29)
        for (int k = 0; k < NMS_BOXES; k++)
            run.expect(got[i * NMS_WORDS + k / 64] >> k % 64 & 1,
                       k > i && boxes_overlap(box[i], box[k]), 0);
}

static void nms_global(Run &run)
{
    nms(run, false);
}

static void nms_shared(Run &run)
{
    nms(run, true);
}

// One block walks through the boxes in the order of their scores.
__global__ void nms_reduce_kernel(const unsigned long long *mask, int *kept, int *count)
{
    __shared__ unsigned long long removed[NMS_WORDS];
    int found = 0;
    if (threadIdx.x < NMS_WORDS)
        removed[threadIdx.x] = 0;
    __syncthreads(); // nothing is removed
    for (int i = 0; i < NMS_BOXES; i++) {
        if (!(removed[i / 64] >> i % 64 & 1)) {
            __syncthreads(); // all have read the word
            if (threadIdx.x < NMS_WORDS)
                removed[threadIdx.x] |= mask[i * NMS_WORDS + threadIdx.x];
            if (threadIdx.x == 0)
                kept[found] = i;
            found++;
            __syncthreads(); // the words are complete
        }
    }
    if (threadIdx.x == 0)
        *count = found;
}

static void nms_reduce(Run &run)
{
    const std::vector<float4> box = nms_boxes();
    std::vector<unsigned long long> mask(NMS_BOXES * NMS_WORDS), gone(NMS_WORDS);
    for (int i = 0; i < NMS_BOXES; i++)
        for (int k = i + 1; k < NMS_BOXES; k++)
            mask[i * NMS_WORDS + k / 64] |= (unsigned long long) boxes_overlap(box[i], box[k])
                                            << k % 64;
    unsigned long long *dm = run.upload(mask);
    int *kept = run.zeros<int>(NMS_BOXES), *count = run.zeros<int>(1);
    run.measure([=] { nms_reduce_kernel<<<1, 64>>>(dm, kept, count); });
    const std::vector<int> got = run.output(kept, NMS_BOXES);
    int found = 0;
    for (int i = 0; i < NMS_BOXES; i++) {
        if (gone[i / 64] >> i % 64 & 1)
            continue;
        run.expect(got[found++], i, 0);
        for (int w = 0; w < NMS_WORDS; w++)
            gone[w] |= mask[i * NMS_WORDS + w];
    }
    run.expect(run.output(count, 1)[0], found, 0);
}

// ---- Video (NV12) to RGB bytes: a pixel or two by two pixels per thread ----

enum { VIDEO_WIDTH = 1920, VIDEO_HEIGHT = 1080 };

__host__ __device__ inline unsigned char clamp_byte(int v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

__host__ __device__ inline uchar3 rgb_of(int y, int u, int v)
{
    const int c = 298 * (y - 16) + 128, d = u - 128, e = v - 128;
    return { clamp_byte((c + 409 * e) >> 8), clamp_byte((c - 100 * d - 208 * e) >> 8),
             clamp_byte((c + 516 * d) >> 8) };
}

__global__ void nv12_pixel_kernel(const unsigned char *luma, const unsigned char *chroma,
                                  uchar3 *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= VIDEO_WIDTH || y >= VIDEO_HEIGHT)
        return;
    const unsigned char *pair = chroma + y / 2 * VIDEO_WIDTH + x / 2 * 2;
    out[y * VIDEO_WIDTH + x] = rgb_of(luma[y * VIDEO_WIDTH + x], pair[0], pair[1]);
}

__global__ void nv12_quad_kernel(const uchar2 *luma, const uchar2 *chroma, ushort3 *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= VIDEO_WIDTH / 2 || y >= VIDEO_HEIGHT / 2)
        return;
    const uchar2 uv = chroma[y * (VIDEO_WIDTH / 2) + x];
    for (int k = 0; k < 2; k++) {
        const int at = (2 * y + k) * (VIDEO_WIDTH / 2) + x;
        uchar3 a = rgb_of(luma[at].x, uv.x, uv.y), b = rgb_of(luma[at].y, uv.x, uv.y);
        out[at] = make_ushort3(a.x | a.y << 8, a.z | b.x << 8, b.y | b.z << 8);
    }
}

static void nv12(Run &run, bool by_quad)
{
    const int n = VIDEO_WIDTH * VIDEO_HEIGHT;
    const std::vector<int> wide = integers(n + n / 2, 256, 703);
    const std::vector<unsigned char> in(wide.begin(), wide.end());
    unsigned char *luma = run.upload(in), *chroma = luma + n, *to = run.zeros<unsigned char>(3 * n);
    run.measure([=] {
        if (by_quad)
            nv12_quad_kernel<<<dim3(VIDEO_WIDTH / 2 / 32, VIDEO_HEIGHT / 2 / 4), dim3(32, 4)>>>(
                (uchar2 *) luma, (uchar2 *) chroma, (ushort3 *) to);
        else
            nv12_pixel_kernel<<<dim3(VIDEO_WIDTH / 16, blocks_for(VIDEO_HEIGHT, 16)),
                                dim3(16, 16)>>>(luma, chroma, (uchar3 *) to);
    });
    run.expect_all(
        run.output(to, 3 * n),
        [&](size_t i) {
            const int at = i / 3, x = at % VIDEO_WIDTH, y = at / VIDEO_WIDTH;
            const unsigned char *pair = &in[n + y / 2 * VIDEO_WIDTH + x / 2 * 2];
            const uchar3 rgb = rgb_of(in[at], pair[0], pair[1]);
            return i % 3 == 0 ? rgb.x : i % 3 == 1 ? rgb.y : rgb.z;
        },
        0, 11);
}

static void nv12_pixel(Run &run)
{
    nv12(run, false);
}

static void nv12_quad(Run &run)
{
    nv12(run, true);
}

// ---- Stereo: the disparity with the least sum of differences, from global or shared memory ----

enum { STEREO_WIDTH = 384, STEREO_HEIGHT = 192, DISPARITIES = 16, STEREO_REACH = 2 };

__host__ __device__ inline int at_border(int i, int size)
{
    return i < 0 ? 0 : i < size ? i : size - 1;
}

__host__ __device__ inline int best_disparity(const unsigned char *left, const unsigned char *right,
                                              int x, int y)
{
    int best = 0, least = 1 << 30;
    for (int d = 0; d < DISPARITIES; d++) {
        int sum = 0;
        for (int dy = -STEREO_REACH; dy <= STEREO_REACH; dy++)
            for (int dx = -STEREO_REACH; dx <= STEREO_REACH; dx++) {
                int row = at_border(y + dy, STEREO_HEIGHT) * STEREO_WIDTH;
                sum += abs(left[row + at_border(x + dx, STEREO_WIDTH)] -
                           right[row + at_border(x + dx - d, STEREO_WIDTH)]);
            }
        if (sum < least) {
            least = sum;
            best = d;
        }
    }
    return best;
}

__global__ void stereo_global_kernel(const unsigned char *left, const unsigned char *right,
                                     unsigned char *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * STEREO_WIDTH + x] = best_disparity(left, right, x, y);
}

__global__ void __launch_bounds__(256)
    stereo_shared_kernel(const unsigned char *left, const unsigned char *right, unsigned char *out)
{
    const int R = STEREO_REACH, rows = 8 + 2 * R, wide = 32 + 2 * R, wider = wide + DISPARITIES - 1;
    __shared__ unsigned char a[8 + 2 * R][32 + 2 * R], b[8 + 2 * R][32 + 2 * R + DISPARITIES - 1];
    const int x0 = blockIdx.x * 32 - R, y0 = blockIdx.y * 8 - R, tx = threadIdx.x, ty = threadIdx.y;
    for (int k = ty; k < rows; k += 8) {
        const int row = at_border(y0 + k, STEREO_HEIGHT) * STEREO_WIDTH;
        for (int i = tx; i < wide; i += 32)
            a[k][i] = left[row + at_border(x0 + i, STEREO_WIDTH)];
        for (int i = tx; i < wider; i += 32)
            b[k][i] = right[row + at_border(x0 + i - (DISPARITIES - 1), STEREO_WIDTH)];
    }
    __syncthreads(); // both tiles are complete
    int best = 0, least = 1 << 30;
    for (int d = 0; d < DISPARITIES; d++) {
        int sum = 0;
        for (int dy = 0; dy <= 2 * R; dy++)
            for (int dx = 0; dx <= 2 * R; dx++)
                sum += abs(a[ty + dy][tx + dx] - b[ty + dy][tx + dx + DISPARITIES - 1 - d]);
        if (sum < least) {
            least = sum;
            best = d;
        }
    }
    out[(y0 + R + ty) * STEREO_WIDTH + x0 + R + tx] = best;
}

static void stereo(Run &run,
                   void (*kernel)(const unsigned char *, const unsigned char *, unsigned char *))
{
    const int n = STEREO_WIDTH * STEREO_HEIGHT;
    const std::vector<int> noise = integers(n, 200, 704);
    std::vector<unsigned char> left(n), right(n);
    for (int i = 0; i < n; i++) {
        left[i] = noise[i];
        right[i] = noise[std::min(n - 1, i + 3 + i / (STEREO_WIDTH * 24))] + i % 5;
    }
    unsigned char *dl = run.upload(left), *dr = run.upload(right),
                  *to = run.zeros<unsigned char>(n);
    run.measure(
        [=] { kernel<<<dim3(STEREO_WIDTH / 32, STEREO_HEIGHT / 8), dim3(32, 8)>>>(dl, dr, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return best_disparity(left.data(), right.data(), i % STEREO_WIDTH, i / STEREO_WIDTH);
        },
        0, 61);
}

static void stereo_global(Run &run)
{
    stereo(run, stereo_global_kernel);
}

static void stereo_shared(Run &run)
{
    stereo(run, stereo_shared_kernel);
}

#endif
