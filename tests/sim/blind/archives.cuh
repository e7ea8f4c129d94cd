// archives.cuh - scanned pages: skew, local thresholds, runs of ink, known letters.
#ifndef BLIND_ARCHIVES_CUH
#define BLIND_ARCHIVES_CUH

#include "blind.cuh"

// ---- Skew of a page: ink per row for each slope, from all pixels or from a list of ink points
// ----

enum { SKEW_W = 640, SKEW_H = 896, SKEW_SLOPES = 32, SKEW_CHUNKS = 12 };

__host__ __device__ inline int skew_shift(int x, int slope)
{
    return x * (slope - SKEW_SLOPES / 2) >> 8;
}

// One thread per row and slope walks along the sloped line.
__global__ void skew_lines_kernel(const unsigned char *page, int *profile)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x, slope = blockIdx.y;
    int ink = 0;
    for (int x = 0; x < SKEW_W; x++) {
        const int at = y + skew_shift(x, slope);
        if (at >= 0 && at < SKEW_H)
            ink += page[at * SKEW_W + x];
    }
    profile[slope * SKEW_H + y] = ink;
}

__global__ void skew_points_kernel(const short2 *points, int count, int *profile)
{
    __shared__ int rows[SKEW_H];
    const int slope = blockIdx.y;
    for (int y = threadIdx.x; y < SKEW_H; y += blockDim.x)
        rows[y] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int y = points[i].y - skew_shift(points[i].x, slope);
        if (y >= 0 && y < SKEW_H)
            atomicAdd(&rows[y], 1);
    }
    __syncthreads();
    for (int y = threadIdx.x; y < SKEW_H; y += blockDim.x)
        if (rows[y])
            atomicAdd(&profile[slope * SKEW_H + y], rows[y]);
}

// Lines of text of 18 rows, 24 rows apart, in which a third of the pixels are ink.
static std::vector<unsigned char> skew_page()
{
    const std::vector<int> v = integers(SKEW_W * SKEW_H, 30, 16820);
    std::vector<unsigned char> page(SKEW_W * SKEW_H);
    for (int i = 0; i < SKEW_W * SKEW_H; i++) {
        const int x = i % SKEW_W, y = i / SKEW_W - x * 5 / 256;
        page[i] = v[i] < (y > 40 && y % 24 < 18 && x > 50 && x < 600 ? 10 : 1);
    }
    return page;
}

static void skew_of_page(Run &run, bool from_points)
{
    const std::vector<unsigned char> page = skew_page();
    std::vector<short2> points;
    std::vector<int> wanted(SKEW_SLOPES * SKEW_H);
    for (int i = 0; i < SKEW_W * SKEW_H; i++)
        if (page[i])
            points.push_back(make_short2((short) (i % SKEW_W), (short) (i / SKEW_W)));
    for (int slope = 0; slope < SKEW_SLOPES; slope++)
        for (const short2 &p : points) {
            const int y = p.y - skew_shift(p.x, slope);
            if (y >= 0 && y < SKEW_H)
                wanted[slope * SKEW_H + y]++;
        }
    const unsigned char *from = run.upload(page);
    const short2 *dp = run.upload(points);
    const int count = (int) points.size(), n = SKEW_SLOPES * SKEW_H;
    int *to = run.zeros<int>(n);
    run.measure(
        [=] {
            if (from_points)
                skew_points_kernel<<<dim3(SKEW_CHUNKS, SKEW_SLOPES), 256>>>(dp, count, to);
            else
                skew_lines_kernel<<<dim3(SKEW_H / 128, SKEW_SLOPES), 128>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof(int))); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return wanted[i]; }, 0);
}

static void archive_skew_lines(Run &run)
{
    skew_of_page(run, false);
}

static void archive_skew_points(Run &run)
{
    skew_of_page(run, true);
}

// ---- Threshold by mean and deviation of 7 x 7 pixels: one kernel, or sums in two directions ----

enum {
    FADED_W = 1024,
    FADED_H = 672,
    FADED_R = 3,
    FADED_N = (2 * FADED_R + 1) * (2 * FADED_R + 1)
};

__host__ __device__ inline int faded_clamp(int v, int size)
{
    return v < 0 ? 0 : v >= size ? size - 1 : v;
}

// A pixel is ink if it is much darker than the mean. Where contrast is low, the margin is larger.
__host__ __device__ inline bool faded_ink(int pixel, int sum, int squares)
{
    const float mean = (float) sum / FADED_N;
    const float variance = (float) squares / FADED_N - mean * mean;
    return pixel < mean * (1 + 0.3f * (sqrtf(fmaxf(variance, 0.0f)) / 128 - 1));
}

__global__ void faded_window_kernel(const unsigned char *in, unsigned char *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0, squares = 0;
    for (int dy = -FADED_R; dy <= FADED_R; dy++) {
        const unsigned char *row = in + faded_clamp(y + dy, FADED_H) * FADED_W;
        for (int dx = -FADED_R; dx <= FADED_R; dx++) {
            const int v = row[faded_clamp(x + dx, FADED_W)];
            sum += v;
            squares += v * v;
        }
    }
    out[y * FADED_W + x] = faded_ink(in[y * FADED_W + x], sum, squares);
}

__global__ void faded_columns_kernel(const unsigned char *in, int2 *sums)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int2 s = make_int2(0, 0);
    for (int d = -FADED_R; d <= FADED_R; d++) {
        const int v = in[faded_clamp(y + d, FADED_H) * FADED_W + x];
        s.x += v;
        s.y += v * v;
    }
    sums[y * FADED_W + x] = s;
}

__global__ void faded_rows_kernel(const int2 *in, int2 *sums)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int2 s = make_int2(0, 0);
    for (int d = -FADED_R; d <= FADED_R; d++) {
        const int2 v = in[y * FADED_W + faded_clamp(x + d, FADED_W)];
        s.x += v.x;
        s.y += v.y;
    }
    sums[y * FADED_W + x] = s;
}

__global__ void faded_decide_kernel(const unsigned char *in, const int2 *sums, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = faded_ink(in[i], sums[i].x, sums[i].y);
}

// A page that is darker to the right, with ink in some places.
static std::vector<unsigned char> faded_page()
{
    const std::vector<int> v = integers(FADED_W * FADED_H, 40, 16821);
    std::vector<unsigned char> page(v.size());
    for (int i = 0; i < FADED_W * FADED_H; i++) {
        const int x = i % FADED_W, y = i / FADED_W;
        const bool ink = x / 3 * 7 % 11 < 4 && y / 4 * 5 % 9 < 4;
        page[i] = (unsigned char) (210 - x / 10 - v[i] - (ink ? 60 : 0));
    }
    return page;
}

static bool faded_host(const std::vector<unsigned char> &page, int x, int y)
{
    int sum = 0, squares = 0;
    for (int k = 0; k < FADED_N; k++) {
        const int dx = k % (2 * FADED_R + 1) - FADED_R, dy = k / (2 * FADED_R + 1) - FADED_R;
        const int v = page[faded_clamp(y + dy, FADED_H) * FADED_W + faded_clamp(x + dx, FADED_W)];
        sum += v;
        squares += v * v;
    }
    return faded_ink(page[y * FADED_W + x], sum, squares);
}

static void faded(Run &run, bool passes)
{
    const std::vector<unsigned char> page = faded_page();
    const int n = FADED_W * FADED_H;
    const unsigned char *from = run.upload(page);
    int2 *columns = run.zeros<int2>(n), *sums = run.zeros<int2>(n);
    unsigned char *to = run.zeros<unsigned char>(n);
    const dim3 block(32, 8), grid(FADED_W / 32, FADED_H / 8);
    run.measure([=] {
        if (passes) {
            faded_columns_kernel<<<grid, block>>>(from, columns);
            faded_rows_kernel<<<grid, block>>>(columns, sums);
            faded_decide_kernel<<<n / 256, 256>>>(from, sums, to);
        } else {
            faded_window_kernel<<<grid, block>>>(from, to);
        }
    });
    const std::vector<unsigned char> got = run.output(to, n);
    int differ = 0, count = 0; // rounding may decide otherwise
    for (int i = 0; i < n; i += 53, count++)
        differ += got[i] != faded_host(page, i % FADED_W, i / FADED_W);
    run.expect(differ <= count / 500, 1, 0);
}

static void archive_ink_window(Run &run)
{
    faded(run, false);
}

static void archive_ink_passes(Run &run)
{
    faded(run, true);
}

// ---- Runs of ink, and ink, per row: one thread per row, or a warp with ballots ----

enum { STROKE_W = 1536, STROKE_ROWS = 8000 };

__global__ void strokes_thread_kernel(const unsigned char *page, int2 *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= STROKE_ROWS)
        return;
    int runs = 0, ink = 0, before = 0;
    for (int x = 0; x < STROKE_W; x++) {
        const int now = page[(size_t) row * STROKE_W + x] < 100;
        runs += now && !before;
        ink += now;
        before = now;
    }
    out[row] = make_int2(runs, ink);
}

__global__ void strokes_warp_kernel(const unsigned char *page, int2 *out)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= STROKE_ROWS)
        return;
    int runs = 0, ink = 0;
    unsigned before = 0;
    for (int x = lane; x < STROKE_W; x += 32) {
        const unsigned bits = __ballot_sync(~0u, page[(size_t) row * STROKE_W + x] < 100);
        runs += __popc(bits & ~(bits << 1 | before));
        ink += __popc(bits);
        before = bits >> 31;
    }
    if (lane == 0)
        out[row] = make_int2(runs, ink);
}

static void strokes(Run &run, bool warps)
{
    const std::vector<int> v = integers((size_t) STROKE_ROWS * STROKE_W / 4, 256, 16822);
    std::vector<unsigned char> page((size_t) STROKE_ROWS * STROKE_W);
    for (size_t i = 0; i < page.size(); i++)
        page[i] = (unsigned char) v[i / 4];
    const unsigned char *from = run.upload(page);
    int2 *to = run.zeros<int2>(STROKE_ROWS);
    run.measure([=] {
        if (warps)
            strokes_warp_kernel<<<blocks_for(STROKE_ROWS * 32, 256), 256>>>(from, to);
        else
            strokes_thread_kernel<<<blocks_for(STROKE_ROWS, 64), 64>>>(from, to);
    });
    const std::vector<int2> got = run.output(to, STROKE_ROWS);
    for (int row = 0; row < STROKE_ROWS; row += 7) {
        int runs = 0, ink = 0;
        for (int x = 0; x < STROKE_W; x++) {
            const unsigned char *at = &page[(size_t) row * STROKE_W + x];
            ink += *at < 100;
            runs += *at < 100 && (x == 0 || at[-1] >= 100);
        }
        run.expect(got[row].x, runs, 0);
        run.expect(got[row].y, ink, 0);
    }
}

static void archive_runs_thread(Run &run)
{
    strokes(run, false);
}

static void archive_runs_warp(Run &run)
{
    strokes(run, true);
}

// ---- The most similar of known letters of 16 x 16 bits: a thread or a warp per scanned letter
// ----

enum { LETTERS_SCANNED = 9000, LETTERS_KNOWN = 480 };

struct Letter {
    uint4 top, bottom;
};

__host__ __device__ inline int letter_bits(uint32_t v)
{
#ifdef __CUDA_ARCH__
    return __popc(v);
#else
    return __builtin_popcount(v);
#endif
}

__host__ __device__ inline int letter_distance(const Letter &a, const Letter &b)
{
    return letter_bits(a.top.x ^ b.top.x) + letter_bits(a.top.y ^ b.top.y) +
           letter_bits(a.top.z ^ b.top.z) + letter_bits(a.top.w ^ b.top.w) +
           letter_bits(a.bottom.x ^ b.bottom.x) + letter_bits(a.bottom.y ^ b.bottom.y) +
           letter_bits(a.bottom.z ^ b.bottom.z) + letter_bits(a.bottom.w ^ b.bottom.w);
}

// The result has the distance above the letter's number.
__global__ void letters_thread_kernel(const Letter *scanned, const Letter *known, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LETTERS_SCANNED)
        return;
    const Letter mine = scanned[i];
    int best = 1 << 30;
    for (int k = 0; k < LETTERS_KNOWN; k++)
        best = min(best, letter_distance(mine, known[k]) << 16 | k);
    out[i] = best;
}

__global__ void letters_warp_kernel(const Letter *scanned, const Letter *known, int *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= LETTERS_SCANNED)
        return;
    const Letter mine = scanned[i];
    int best = 1 << 30;
    for (int k = threadIdx.x % 32; k < LETTERS_KNOWN; k += 32)
        best = min(best, letter_distance(mine, known[k]) << 16 | k);
    best = __reduce_min_sync(~0u, best);
    if (threadIdx.x % 32 == 0)
        out[i] = best;
}

static void letters(Run &run, bool warps)
{
    const std::vector<uint32_t> v = words(8 * (LETTERS_SCANNED + LETTERS_KNOWN), 16823);
    std::vector<Letter> all(LETTERS_SCANNED + LETTERS_KNOWN);
    for (size_t i = 0; i < all.size(); i++) {
        const uint32_t *w = &v[8 * i];
        all[i] = { make_uint4(w[0], w[1], w[2], w[3]), make_uint4(w[4], w[5], w[6], w[7]) };
    }
    const Letter *scanned = run.upload(all), *known = scanned + LETTERS_SCANNED;
    int *to = run.zeros<int>(LETTERS_SCANNED);
    run.measure([=] {
        if (warps)
            letters_warp_kernel<<<blocks_for(LETTERS_SCANNED * 32, 128), 128>>>(scanned, known, to);
        else
            letters_thread_kernel<<<blocks_for(LETTERS_SCANNED, 64), 64>>>(scanned, known, to);
    });
    run.expect_all(
        run.output(to, LETTERS_SCANNED),
        [&](size_t i) {
            int best = 1 << 30;
            for (int k = 0; k < LETTERS_KNOWN; k++)
                best = std::min(best, letter_distance(all[i], all[LETTERS_SCANNED + k]) << 16 | k);
            return best;
        },
        0, 29);
}

static void archive_letters_thread(Run &run)
{
    letters(run, false);
}

static void archive_letters_warp(Run &run)
{
    letters(run, true);
}

#endif
