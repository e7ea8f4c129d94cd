// envelopes.cuh - envelopes: the upper one of lines, sizes that fit letters, addresses on scans,
// bundles in disorder.
#ifndef BLIND_ENVELOPES_CUH
#define BLIND_ENVELOPES_CUH

#include "blind.cuh"

// ---- The upper envelope of lines at many places: all lines tried, or the right one found by
// halving the places where the envelope changes lines ----

enum { ENVELOPE_LINES = 256, ENVELOPE_QUERIES = 1048576 };

// A line: slope, offset, and where on the envelope it ends.
__host__ __device__ inline float envelope_at(float4 line, float x)
{
    return line.x * x + line.y;
}

__global__ void envelope_lines_all_kernel(const float4 *lines, int count, const float *queries,
                                          float *out)
{
    __shared__ __align__(16) float4 shared[ENVELOPE_LINES];
    for (int k = threadIdx.x; k < count; k += blockDim.x)
        shared[k] = lines[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = queries[i];
    float best = envelope_at(shared[0], x);
    for (int k = 1; k < count; k++)
        best = fmaxf(best, envelope_at(shared[k], x));
    out[i] = best;
}

__global__ void envelope_lines_search_kernel(const float4 *lines, int count, const float *queries,
                                             float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = queries[i];
    int low = 0, high = count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (lines[middle].z < x)
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = envelope_at(lines[low], x);
}

// The lines of the envelope, by slope. A line leaves when the next one passes it too early.
static std::vector<float4> envelope_hull(const std::vector<float4> &lines)
{
    std::vector<float4> hull;
    for (const float4 &line : lines) {
        while (!hull.empty()) {
            float4 &last = hull.back();
            last.z = (last.y - line.y) / (line.x - last.x);
            if (hull.size() < 2 || hull[hull.size() - 2].z < last.z)
                break;
            hull.pop_back();
        }
        hull.push_back(line);
    }
    return hull;
}

static void envelope_lines(Run &run, bool search)
{
    const std::vector<float> queries = floats(ENVELOPE_QUERIES, 24300, -10, 10);
    const std::vector<float> below = floats(ENVELOPE_LINES, 24301, 0, 0.004f);
    std::vector<float4> lines(ENVELOPE_LINES);
    for (int k = 0; k < ENVELOPE_LINES; k++) {
        const float slope = (k - ENVELOPE_LINES / 2) * 20.0f / ENVELOPE_LINES;
        lines[k] = { slope, -slope * slope / 2 - below[k], 0, 0 };
    }
    const std::vector<float4> hull = envelope_hull(lines);
    const float4 *dl = run.upload(lines), *dh = run.upload(hull);
    const float *from = run.upload(queries);
    float *to = run.zeros<float>(ENVELOPE_QUERIES);
    const int left = (int) hull.size();
    run.measure([=] {
        const int blocks = ENVELOPE_QUERIES / 256;
        if (search)
            envelope_lines_search_kernel<<<blocks, 256>>>(dh, left, from, to);
        else
            envelope_lines_all_kernel<<<blocks, 256>>>(dl, ENVELOPE_LINES, from, to);
    });
    run.expect_all(
        run.output(to, ENVELOPE_QUERIES),
        [&](size_t i) {
            float best = envelope_at(lines[0], queries[i]);
            for (const float4 &line : lines)
                best = std::max(best, envelope_at(line, queries[i]));
            return best;
        },
        1e-4, 41);
}

static void envelope_lines_all(Run &run)
{
    envelope_lines(run, false);
}

static void envelope_lines_search(Run &run)
{
    envelope_lines(run, true);
}

// ---- The first of many sizes, the cheapest first, in which a letter fits, also when turned:
// compared as floats, or as two packed numbers at once ----

enum { ENVELOPE_LETTERS = 1000000, ENVELOPE_SIZES = 48 };

__constant__ float2 envelope_sizes[ENVELOPE_SIZES];
__constant__ unsigned envelope_packed_sizes[ENVELOPE_SIZES];

__global__ void envelope_fit_floats_kernel(const float2 *letters, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ENVELOPE_LETTERS)
        return;
    const float2 letter = letters[i];
    int k = 0;
    for (; k < ENVELOPE_SIZES; k++) {
        const float2 size = envelope_sizes[k];
        if ((letter.x <= size.x && letter.y <= size.y) ||
            (letter.y <= size.x && letter.x <= size.y))
            break;
    }
    out[i] = k;
}

__global__ void envelope_fit_packed_kernel(const unsigned *letters, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ENVELOPE_LETTERS)
        return;
    const unsigned letter = letters[i], turned = __byte_perm(letter, 0, 0x1032);
    int k = 0;
    for (; k < ENVELOPE_SIZES; k++) {
        const unsigned size = envelope_packed_sizes[k];
        if (__vmaxu2(letter, size) == size || __vmaxu2(turned, size) == size)
            break;
    }
    out[i] = k;
}

static unsigned envelope_pack(float2 v)
{
    return (unsigned) v.x | (unsigned) v.y << 16;
}

static std::vector<float2> envelope_sheets(int count, int least, int range, int seed)
{
    const std::vector<int> draws = integers((size_t) count * 2, range, seed);
    std::vector<float2> sheets(count);
    for (int i = 0; i < count; i++)
        sheets[i] = { (float) (least + draws[i * 2]), (float) (least + draws[i * 2 + 1]) };
    return sheets;
}

static void envelope_fit(Run &run, bool packed)
{
    const std::vector<float2> letters = envelope_sheets(ENVELOPE_LETTERS, 60, 260, 24310);
    std::vector<float2> sizes = envelope_sheets(ENVELOPE_SIZES, 80, 250, 24311);
    std::sort(sizes.begin(), sizes.end(), [](float2 a, float2 b) { return a.x * a.y < b.x * b.y; });
    std::vector<unsigned> small, small_letters;
    for (float2 v : sizes)
        small.push_back(envelope_pack(v));
    for (float2 v : letters)
        small_letters.push_back(envelope_pack(v));
    CHECK(cudaMemcpyToSymbol(envelope_sizes, sizes.data(), sizeof envelope_sizes));
    CHECK(cudaMemcpyToSymbol(envelope_packed_sizes, small.data(), sizeof envelope_packed_sizes));
    const float2 *df = run.upload(letters);
    const unsigned *dp = run.upload(small_letters);
    unsigned char *to = run.zeros<unsigned char>(ENVELOPE_LETTERS);
    run.measure([=] {
        const int blocks = blocks_for(ENVELOPE_LETTERS, 256);
        if (packed)
            envelope_fit_packed_kernel<<<blocks, 256>>>(dp, to);
        else
            envelope_fit_floats_kernel<<<blocks, 256>>>(df, to);
    });
    run.expect_all(
        run.output(to, ENVELOPE_LETTERS),
        [&](size_t i) {
            const float long_side = std::max(letters[i].x, letters[i].y);
            const float short_side = std::min(letters[i].x, letters[i].y);
            int k = 0;
            while (k < ENVELOPE_SIZES && (long_side > std::max(sizes[k].x, sizes[k].y) ||
                                          short_side > std::min(sizes[k].x, sizes[k].y)))
                k++;
            return k;
        },
        0, 3);
}

static void envelope_fit_floats(Run &run)
{
    envelope_fit(run, false);
}

static void envelope_fit_packed(Run &run)
{
    envelope_fit(run, true);
}

// ---- Where the address is on scans of envelopes: the window with the most ink, a block per scan.
// Windows are added up directly, or from sums over all rectangles at the corner ----

enum { ENVELOPE_SCANS = 300, ENVELOPE_SIDE = 64, ENVELOPE_WIDE = 20, ENVELOPE_HIGH = 8 };
enum { ENVELOPE_PLACES_X = ENVELOPE_SIDE - ENVELOPE_WIDE + 1 };
enum { ENVELOPE_PLACES = ENVELOPE_PLACES_X * (ENVELOPE_SIDE - ENVELOPE_HIGH + 1) };

// A window's key: ink, and below it the place, the first one highest.
__host__ __device__ inline unsigned envelope_key(unsigned ink, int place)
{
    return ink << 12 | (4095 - place);
}

template <class Ink> __host__ __device__ inline unsigned envelope_ink(const Ink *scan, int place)
{
    const int x = place % ENVELOPE_PLACES_X, y = place / ENVELOPE_PLACES_X;
    unsigned sum = 0;
    for (int dy = 0; dy < ENVELOPE_HIGH; dy++)
        for (int dx = 0; dx < ENVELOPE_WIDE; dx++)
            sum += scan[(y + dy) * ENVELOPE_SIDE + x + dx];
    return sum;
}

__global__ void envelope_window_direct_kernel(const unsigned char *scans, unsigned *out)
{
    __shared__ unsigned char scan[ENVELOPE_SIDE * ENVELOPE_SIDE];
    __shared__ unsigned best;
    scans += (size_t) blockIdx.x * ENVELOPE_SIDE * ENVELOPE_SIDE;
    for (int i = threadIdx.x; i < ENVELOPE_SIDE * ENVELOPE_SIDE; i += blockDim.x)
        scan[i] = scans[i];
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    unsigned mine = 0;
    for (int place = threadIdx.x; place < ENVELOPE_PLACES; place += blockDim.x)
        mine = max(mine, envelope_key(envelope_ink(scan, place), place));
    atomicMax(&best, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = best;
}

__global__ void envelope_window_corner_kernel(const unsigned char *scans, unsigned *out)
{
    __shared__ unsigned sums[ENVELOPE_SIDE + 1][ENVELOPE_SIDE + 1];
    __shared__ unsigned best;
    scans += (size_t) blockIdx.x * ENVELOPE_SIDE * ENVELOPE_SIDE;
    for (int i = threadIdx.x; i < ENVELOPE_SIDE * ENVELOPE_SIDE; i += blockDim.x)
        sums[i / ENVELOPE_SIDE + 1][i % ENVELOPE_SIDE + 1] = scans[i];
    if (threadIdx.x <= ENVELOPE_SIDE)
        sums[0][threadIdx.x] = sums[threadIdx.x][0] = 0;
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    if (threadIdx.x < ENVELOPE_SIDE)
        for (int x = 1; x <= ENVELOPE_SIDE; x++)
            sums[threadIdx.x + 1][x] += sums[threadIdx.x + 1][x - 1];
    __syncthreads();
    if (threadIdx.x < ENVELOPE_SIDE)
        for (int y = 1; y <= ENVELOPE_SIDE; y++)
            sums[y][threadIdx.x + 1] += sums[y - 1][threadIdx.x + 1];
    __syncthreads();
    unsigned mine = 0;
    for (int place = threadIdx.x; place < ENVELOPE_PLACES; place += blockDim.x) {
        const int x = place % ENVELOPE_PLACES_X, y = place / ENVELOPE_PLACES_X;
        const unsigned ink = sums[y + ENVELOPE_HIGH][x + ENVELOPE_WIDE] + sums[y][x] -
                             sums[y + ENVELOPE_HIGH][x] - sums[y][x + ENVELOPE_WIDE];
        mine = max(mine, envelope_key(ink, place));
    }
    atomicMax(&best, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = best;
}

static void envelope_window(Run &run, void (*kernel)(const unsigned char *, unsigned *))
{
    const int pixels = ENVELOPE_SIDE * ENVELOPE_SIDE;
    const std::vector<int> draws = integers((size_t) ENVELOPE_SCANS * pixels, 256, 24320);
    const std::vector<unsigned char> scans(draws.begin(), draws.end());
    const unsigned char *from = run.upload(scans);
    unsigned *to = run.zeros<unsigned>(ENVELOPE_SCANS);
    run.measure([=] { kernel<<<ENVELOPE_SCANS, 128>>>(from, to); });
    run.expect_all(
        run.output(to, ENVELOPE_SCANS),
        [&](size_t i) {
            unsigned best = 0;
            for (int place = 0; place < ENVELOPE_PLACES; place++)
                best = std::max(best, envelope_key(envelope_ink(&scans[i * pixels], place), place));
            return best;
        },
        0, 3);
}

static void envelope_window_direct(Run &run)
{
    envelope_window(run, envelope_window_direct_kernel);
}

static void envelope_window_corner(Run &run)
{
    envelope_window(run, envelope_window_corner_kernel);
}

// ---- How far bundles of envelopes are from the order of their post codes: pairs in the wrong
// order, a block per bundle, the largest bundles last. In turns, or by tickets ----

enum { ENVELOPE_BUNDLES = 500, ENVELOPE_LARGEST = 1536, ENVELOPE_BUNDLE_BLOCKS = 150 };

__device__ inline void envelope_disorder(const int *codes, int count, unsigned *out)
{
    __shared__ int shared[ENVELOPE_LARGEST];
    __shared__ unsigned sum;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        shared[i] = codes[i];
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    unsigned wrong = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int mine = shared[i];
        for (int k = i + 1; k < count; k++)
            wrong += shared[k] < mine;
    }
    wrong = __reduce_add_sync(~0u, wrong);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, wrong);
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum;
}

__global__ void envelope_bundles_turns_kernel(const int *codes, const int *first, unsigned *out,
                                              int *)
{
    for (int i = blockIdx.x; i < ENVELOPE_BUNDLES; i += gridDim.x)
        envelope_disorder(codes + first[i], first[i + 1] - first[i], &out[i]);
}

__global__ void envelope_bundles_tickets_kernel(const int *codes, const int *first, unsigned *out,
                                                int *next)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 1);
        __syncthreads();
        const int i = ticket;
        if (i >= ENVELOPE_BUNDLES)
            return;
        envelope_disorder(codes + first[i], first[i + 1] - first[i], &out[i]);
    }
}

static void envelope_bundles(Run &run, bool tickets)
{
    std::vector<int> counts = integers(ENVELOPE_BUNDLES, 500, 24330), first(1, 0);
    for (int &count : counts)
        count = count < 40 ? 1000 + count * 13 : 100 + count;
    std::sort(counts.begin(), counts.end());
    for (int count : counts)
        first.push_back(first.back() + count);
    const std::vector<int> codes = integers(first.back(), 100000, 24331);
    const int *from = run.upload(codes), *df = run.upload(first);
    unsigned *to = run.zeros<unsigned>(ENVELOPE_BUNDLES);
    int *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                envelope_bundles_tickets_kernel<<<ENVELOPE_BUNDLE_BLOCKS, 128>>>(from, df, to,
                                                                                 next);
            else
                envelope_bundles_turns_kernel<<<ENVELOPE_BUNDLE_BLOCKS, 128>>>(from, df, to, next);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, ENVELOPE_BUNDLES),
        [&](size_t i) {
            unsigned wrong = 0;
            for (int a = first[i]; a < first[i + 1]; a++)
                for (int b = a + 1; b < first[i + 1]; b++)
                    wrong += codes[b] < codes[a];
            return wrong;
        },
        0);
}

static void envelope_bundles_turns(Run &run)
{
    envelope_bundles(run, false);
}

static void envelope_bundles_tickets(Run &run)
{
    envelope_bundles(run, true);
}

#endif
