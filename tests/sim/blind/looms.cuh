// looms.cuh - woven and knitted cloth: drafts of weaves, longest floats, repeats of patterns, and
// stitches of courses.
#ifndef BLIND_LOOMS_CUH
#define BLIND_LOOMS_CUH

#include "blind.cuh"

// ---- The weave of a draft: a byte per crossing, or a bit by votes ----

enum { LOOM_W = 4096, LOOM_H = 4096, LOOM_PICKS = 16, LOOM_SHAFTS = 16, LOOM_TREADLES = 20 };

// Per treadle, the shafts that it lifts.
__constant__ uint32_t loom_lifts[LOOM_TREADLES];

__global__ void loom_draft_bytes_kernel(const unsigned char *threading,
                                        const unsigned char *treadling, unsigned char *cloth)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * LOOM_PICKS;
    const int shaft = threading[x];
    for (int y = first; y < first + LOOM_PICKS; y++)
        cloth[(size_t) y * LOOM_W + x] = loom_lifts[treadling[y]] >> shaft & 1;
}

__global__ void loom_draft_bits_kernel(const unsigned char *threading,
                                       const unsigned char *treadling, uint32_t *cloth)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * LOOM_PICKS;
    const int shaft = threading[x];
    for (int y = first; y < first + LOOM_PICKS; y++) {
        const uint32_t up = __ballot_sync(~0u, loom_lifts[treadling[y]] >> shaft & 1);
        if (x % 32 == 0)
            cloth[(y * LOOM_W + x) / 32] = up;
    }
}

static std::vector<unsigned char> loom_bytes(size_t count, uint32_t limit, uint32_t seed)
{
    const std::vector<int> draws = integers(count, limit, seed);
    return std::vector<unsigned char>(draws.begin(), draws.end());
}

static void loom_draft(Run &run, bool bits)
{
    const std::vector<unsigned char> threading = loom_bytes(LOOM_W, LOOM_SHAFTS, 19010);
    const std::vector<unsigned char> treadling = loom_bytes(LOOM_H, LOOM_TREADLES, 19011);
    const std::vector<uint32_t> lifts = words(LOOM_TREADLES, 19012);
    CHECK(cudaMemcpyToSymbol(loom_lifts, lifts.data(), sizeof loom_lifts));
    const unsigned char *dx = run.upload(threading), *dy = run.upload(treadling);
    const size_t n = (size_t) LOOM_W * LOOM_H, bytes = bits ? n / 8 : n;
    unsigned char *to = run.zeros<unsigned char>(bytes);
    run.measure([=] {
        if (bits)
            loom_draft_bits_kernel<<<dim3(LOOM_W / 512, LOOM_H / LOOM_PICKS), 512>>>(
                dx, dy, (uint32_t *) to);
        else
            loom_draft_bytes_kernel<<<dim3(LOOM_W / 512, LOOM_H / LOOM_PICKS), 512>>>(dx, dy, to);
    });
    const std::vector<unsigned char> got = run.output(to, bytes);
    for (size_t i = 0; i < n; i += 31)
        run.expect(bits ? got[i / 8] >> i % 8 & 1 : got[i],
                   lifts[treadling[i / LOOM_W]] >> threading[i % LOOM_W] & 1, 0);
}

static void loom_draft_bytes(Run &run)
{
    loom_draft(run, false);
}

static void loom_draft_bits(Run &run)
{
    loom_draft(run, true);
}

// ---- The longest float of each pick, as ones in a row of bits: a thread's walk along the row, or
// a warp that joins pieces ----

enum { LOOM_ROWS = 5003, LOOM_WORDS = 64 };

__host__ __device__ inline int loom_walk(const uint32_t *row)
{
    int length = 0, longest = 0;
    for (int w = 0; w < LOOM_WORDS; w++) {
        const uint32_t word = row[w];
        for (int b = 0; b < 32; b++) {
            length = word >> b & 1 ? length + 1 : 0;
            longest = longest < length ? length : longest;
        }
    }
    return longest;
}

__global__ void loom_float_thread_kernel(const uint32_t *cloth, int *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < LOOM_ROWS)
        out[row] = loom_walk(cloth + row * LOOM_WORDS);
}

// Ones at the begin and at the end of a piece, and the longest float in it.
struct LoomPiece {
    int begin, end, longest;
};

__device__ inline LoomPiece loom_piece(unsigned long long bits)
{
    LoomPiece p;
    p.begin = ~bits ? __ffsll((long long) ~bits) - 1 : 64;
    p.end = __clzll((long long) ~bits);
    for (p.longest = 0; bits; p.longest++)
        bits &= bits << 1;
    return p;
}

// The piece with that of the lane `d` above. Both are `size` long.
__device__ inline LoomPiece loom_join(LoomPiece p, int d, int size)
{
    const int begin = __shfl_down_sync(~0u, p.begin, d), end = __shfl_down_sync(~0u, p.end, d);
    const int longest = __shfl_down_sync(~0u, p.longest, d);
    p.longest = max(max(p.longest, longest), p.end + begin);
    p.begin += p.begin == size ? begin : 0;
    p.end = end == size ? p.end + end : end;
    return p;
}

__global__ void loom_float_warp_kernel(const uint2 *cloth, int *out)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= LOOM_ROWS)
        return;
    const uint2 words = cloth[row * 32 + lane];
    LoomPiece p = loom_piece((unsigned long long) words.y << 32 | words.x);
    for (int d = 1; d < 32; d *= 2)
        p = loom_join(p, d, 64 * d);
    if (lane == 0)
        out[row] = p.longest;
}

static void loom_float(Run &run, bool warps)
{
    const size_t n = (size_t) LOOM_ROWS * LOOM_WORDS;
    std::vector<uint32_t> cloth = words(n, 19013);
    const std::vector<uint32_t> more = words(n, 19014);
    for (size_t i = 0; i < n; i++)
        cloth[i] = i % 13 ? cloth[i] | more[i] : ~0u;
    const uint32_t *from = run.upload(cloth);
    int *to = run.zeros<int>(LOOM_ROWS);
    run.measure([=] {
        if (warps)
            loom_float_warp_kernel<<<blocks_for(LOOM_ROWS * 32, 256), 256>>>((const uint2 *) from,
                                                                             to);
        else
            loom_float_thread_kernel<<<blocks_for(LOOM_ROWS, 32), 32>>>(from, to);
    });
    run.expect_all(
        run.output(to, LOOM_ROWS), [&](size_t i) { return loom_walk(&cloth[i * LOOM_WORDS]); }, 0);
}

static void loom_float_thread(Run &run)
{
    loom_float(run, false);
}

static void loom_float_warp(Run &run)
{
    loom_float(run, true);
}

// ---- Crossings that differ from those of a shifted cloth, per shift: byte by byte, or four at
// once ----

enum { LOOM_SHIFTS = 500, LOOM_COMPARED = 24576, LOOM_PERIOD = 36 };

__device__ inline void loom_add(int count, int *total)
{
    for (int d = 16; d; d /= 2)
        count += __shfl_xor_sync(~0u, count, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, count);
}

__global__ void loom_repeat_bytes_kernel(const unsigned char *cloth, int *out)
{
    const unsigned char *shifted = cloth + blockIdx.x;
    int count = 0;
    for (int i = threadIdx.x; i < LOOM_COMPARED; i += blockDim.x)
        count += cloth[i] != shifted[i];
    loom_add(count, &out[blockIdx.x]);
}

__global__ void loom_repeat_words_kernel(const uint32_t *cloth, int *out)
{
    const uint32_t *shifted = cloth + blockIdx.x / 4;
    const int bits = blockIdx.x % 4 * 8;
    int count = 0;
    for (int i = threadIdx.x; i < LOOM_COMPARED / 4; i += blockDim.x) {
        const uint32_t other = __funnelshift_r(shifted[i], shifted[i + 1], bits);
        count += __popc(__vsetne4(cloth[i], other));
    }
    loom_add(count, &out[blockIdx.x]);
}

static void loom_repeat(Run &run, bool by_words)
{
    const size_t n = LOOM_COMPARED + LOOM_SHIFTS + 4;
    std::vector<unsigned char> cloth = loom_bytes(n, 6, 19015);
    const std::vector<int> faults = integers(n, 12, 19016);
    for (size_t i = LOOM_PERIOD; i < n; i++)
        if (faults[i])
            cloth[i] = cloth[i - LOOM_PERIOD];
    const unsigned char *from = run.upload(cloth);
    int *to = run.zeros<int>(LOOM_SHIFTS);
    run.measure(
        [=] {
            if (by_words)
                loom_repeat_words_kernel<<<LOOM_SHIFTS, 128>>>((const uint32_t *) from, to);
            else
                loom_repeat_bytes_kernel<<<LOOM_SHIFTS, 128>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, LOOM_SHIFTS * sizeof(int))); });
    run.expect_all(
        run.output(to, LOOM_SHIFTS),
        [&](size_t shift) {
            int count = 0;
            for (int i = 0; i < LOOM_COMPARED; i++)
                count += cloth[i] != cloth[i + shift];
            return count;
        },
        0);
}

static void loom_repeat_bytes(Run &run)
{
    loom_repeat(run, false);
}

static void loom_repeat_words(Run &run)
{
    loom_repeat(run, true);
}

// ---- The stitch below each stitch of a course, where stitches are added and dropped: sums by
// steps in shared memory, or by shuffles ----

enum { LOOM_COURSES = 900, LOOM_STITCHES = 1024 };

// A knit stitch continues as one, an increase as two, and a dropped one as none.
__host__ __device__ inline int loom_stitches(int operation)
{
    return operation < 6 ? 1 : operation < 8 ? 2 : 0;
}

__device__ inline void loom_place(int stitches, int end, short *below)
{
    for (int k = end - stitches; k < end; k++)
        below[k] = (short) threadIdx.x;
}

__global__ void loom_stitch_steps_kernel(const unsigned char *operations, short *below, int *widths)
{
    __shared__ int sums[LOOM_STITCHES];
    const int i = threadIdx.x;
    const int stitches = loom_stitches(operations[blockIdx.x * LOOM_STITCHES + i]);
    sums[i] = stitches;
    __syncthreads();
    for (int d = 1; d < LOOM_STITCHES; d *= 2) {
        const int before = i >= d ? sums[i - d] : 0;
        __syncthreads();
        sums[i] += before;
        __syncthreads();
    }
    loom_place(stitches, sums[i], below + (size_t) blockIdx.x * 2 * LOOM_STITCHES);
    if (i == LOOM_STITCHES - 1)
        widths[blockIdx.x] = sums[i];
}

__device__ inline int loom_warp_sums(int value)
{
    for (int d = 1; d < 32; d *= 2) {
        const int before = __shfl_up_sync(~0u, value, d);
        value += threadIdx.x % 32 >= d ? before : 0;
    }
    return value;
}

__global__ void loom_stitch_shuffles_kernel(const unsigned char *operations, short *below,
                                            int *widths)
{
    __shared__ int warps[32];
    const int i = threadIdx.x;
    const int stitches = loom_stitches(operations[blockIdx.x * LOOM_STITCHES + i]);
    int end = loom_warp_sums(stitches);
    if (i % 32 == 31)
        warps[i / 32] = end;
    __syncthreads();
    if (i < 32)
        warps[i] = loom_warp_sums(warps[i]);
    __syncthreads();
    end += i >= 32 ? warps[i / 32 - 1] : 0;
    loom_place(stitches, end, below + (size_t) blockIdx.x * 2 * LOOM_STITCHES);
    if (i == LOOM_STITCHES - 1)
        widths[blockIdx.x] = end;
}

static void loom_stitch(Run &run, bool shuffles)
{
    const std::vector<unsigned char> operations =
        loom_bytes(LOOM_COURSES * LOOM_STITCHES, 10, 19017);
    const size_t n = (size_t) LOOM_COURSES * 2 * LOOM_STITCHES;
    const unsigned char *from = run.upload(operations);
    short *to = run.zeros<short>(n);
    int *widths = run.zeros<int>(LOOM_COURSES);
    run.measure([=] {
        if (shuffles)
            loom_stitch_shuffles_kernel<<<LOOM_COURSES, LOOM_STITCHES>>>(from, to, widths);
        else
            loom_stitch_steps_kernel<<<LOOM_COURSES, LOOM_STITCHES>>>(from, to, widths);
    });
    const std::vector<short> got = run.output(to, n);
    const std::vector<int> got_widths = run.output(widths, LOOM_COURSES);
    for (int c = 0; c < LOOM_COURSES; c += 3) {
        int end = 0;
        for (int i = 0; i < LOOM_STITCHES; i++)
            for (int k = loom_stitches(operations[c * LOOM_STITCHES + i]); k; k--)
                run.expect(got[(size_t) c * 2 * LOOM_STITCHES + end++], i, 0);
        run.expect(got_widths[c], end, 0);
    }
}

static void loom_stitch_steps(Run &run)
{
    loom_stitch(run, false);
}

static void loom_stitch_shuffles(Run &run)
{
    loom_stitch(run, true);
}

#endif
