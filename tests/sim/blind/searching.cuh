// searching.cuh - indexes of documents: sliced columns, lists of places, ranks of bits, scores.
#ifndef BLIND_SEARCHING_CUH
#define BLIND_SEARCHING_CUH

#include "blind.cuh"

// ---- Which values of 12 bits lie below a bound? A plane per bit, or values of 16 bits ----

enum { SLICE_ROWS = 42 << 20, SLICE_BITS = 12, SLICE_WORDS = SLICE_ROWS / 32, SLICE_BOUND = 1234 };

// Bit k of the values of rows 32 i to 32 i + 31 is at k * SLICE_WORDS + i, the highest bit first.
__global__ void slices_planes_kernel(const uint32_t *planes, int bound, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t below = 0, equal = ~0u;
#pragma unroll
    for (int k = 0; k < SLICE_BITS; k++) {
        const uint32_t word = planes[k * SLICE_WORDS + i];
        if (bound >> (SLICE_BITS - 1 - k) & 1) {
            below |= equal & ~word;
            equal &= word;
        } else {
            equal &= ~word;
        }
    }
    out[i] = below;
}

// A thread compares eight values and writes a byte of the same words.
__global__ void slices_shorts_kernel(const uint4 *values, int bound, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 v = values[i];
    const uint32_t words[4] = { v.x, v.y, v.z, v.w };
    uint32_t below = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        below |= (uint32_t) ((int) (words[k] & 0xffff) < bound) << 2 * k;
        below |= (uint32_t) ((int) (words[k] >> 16) < bound) << (2 * k + 1);
    }
    out[i] = (unsigned char) below;
}

static std::vector<unsigned short> slice_values()
{
    const std::vector<int> v = integers(SLICE_ROWS, 1 << SLICE_BITS, 12070);
    return std::vector<unsigned short>(v.begin(), v.end());
}

static void slices_check(Run &run, const uint32_t *to, const std::vector<unsigned short> &values)
{
    run.expect_all(
        run.output(to, SLICE_WORDS),
        [&](size_t i) {
            uint32_t below = 0;
            for (size_t k = 0; k < 32; k++)
                below |= (uint32_t) (values[32 * i + k] < SLICE_BOUND) << k;
            return below;
        },
        0, 1009);
}

static void slices_planes(Run &run)
{
    const std::vector<unsigned short> values = slice_values();
    std::vector<uint32_t> planes((size_t) SLICE_BITS * SLICE_WORDS);
    for (size_t row = 0; row < SLICE_ROWS; row++)
        for (int k = 0; k < SLICE_BITS; k++)
            planes[(size_t) k * SLICE_WORDS + row / 32] |=
                (uint32_t) (values[row] >> (SLICE_BITS - 1 - k) & 1) << row % 32;
    const uint32_t *from = run.upload(planes);
    uint32_t *to = run.zeros<uint32_t>(SLICE_WORDS);
    run.measure([=] { slices_planes_kernel<<<SLICE_WORDS / 256, 256>>>(from, SLICE_BOUND, to); });
    slices_check(run, to, values);
}

static void slices_shorts(Run &run)
{
    const std::vector<unsigned short> values = slice_values();
    const uint4 *from = (const uint4 *) run.upload(values);
    uint32_t *to = run.zeros<uint32_t>(SLICE_WORDS);
    run.measure([=] {
        slices_shorts_kernel<<<SLICE_ROWS / 8 / 256, 256>>>(from, SLICE_BOUND,
                                                            (unsigned char *) to);
    });
    slices_check(run, to, values);
}

// ---- Common entries of a short and a long sorted list, a block each: bisection, or a bitmap ----

enum { POSTING_PAIRS = 1920, POSTING_SHORT = 1024, POSTING_LONG = 4096 };

// Adds the counts of the block's threads to *out.
__device__ inline void postings_count(int count, int *out)
{
    for (int by = 16; by; by /= 2)
        count += __shfl_down_sync(~0u, count, by);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, count);
}

__global__ void postings_bisect_kernel(const unsigned short *shorts, const unsigned short *longs,
                                       int *out)
{
    const unsigned short *list = longs + blockIdx.x * POSTING_LONG;
    int count = 0;
    for (int k = threadIdx.x; k < POSTING_SHORT; k += blockDim.x) {
        const int wanted = shorts[blockIdx.x * POSTING_SHORT + k];
        int low = 0;
        for (int step = POSTING_LONG / 2; step; step /= 2)
            if (list[low + step - 1] < wanted)
                low += step;
        count += list[low] == wanted;
    }
    postings_count(count, &out[blockIdx.x]);
}

__global__ void postings_bitmap_kernel(const unsigned short *shorts, const unsigned short *longs,
                                       int *out)
{
    __shared__ uint32_t bits[2048];
    int count = 0;
    for (int k = threadIdx.x; k < 2048; k += blockDim.x)
        bits[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < POSTING_LONG; k += blockDim.x) {
        const int entry = longs[blockIdx.x * POSTING_LONG + k];
        atomicOr(&bits[entry / 32], 1u << entry % 32);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < POSTING_SHORT; k += blockDim.x) {
        const int entry = shorts[blockIdx.x * POSTING_SHORT + k];
        count += bits[entry / 32] >> entry % 32 & 1;
    }
    postings_count(count, &out[blockIdx.x]);
}

// One random entry within each of `length` equal parts of 0..65535.
static std::vector<unsigned short> postings_lists(int length, uint32_t seed)
{
    const std::vector<int> v = integers((size_t) POSTING_PAIRS * length, 65536 / length, seed);
    std::vector<unsigned short> lists(v.size());
    for (size_t i = 0; i < v.size(); i++)
        lists[i] = (unsigned short) (i % length * (65536 / length) + v[i]);
    return lists;
}

static void postings(Run &run,
                     void (*kernel)(const unsigned short *, const unsigned short *, int *))
{
    const std::vector<unsigned short> shorts = postings_lists(POSTING_SHORT, 12071);
    const std::vector<unsigned short> longs = postings_lists(POSTING_LONG, 12072);
    const unsigned short *ds = run.upload(shorts), *dl = run.upload(longs);
    int *to = run.zeros<int>(POSTING_PAIRS);
    run.measure([=] { kernel<<<POSTING_PAIRS, 256>>>(ds, dl, to); },
                [=] { CHECK(cudaMemset(to, 0, POSTING_PAIRS * sizeof(int))); });
    run.expect_all(
        run.output(to, POSTING_PAIRS),
        [&](size_t i) {
            int count = 0;
            const auto first = longs.begin() + i * POSTING_LONG, last = first + POSTING_LONG;
            for (size_t k = 0; k < POSTING_SHORT; k++)
                count += std::binary_search(first, last, shorts[i * POSTING_SHORT + k]);
            return count;
        },
        0, 13);
}

static void postings_bisect(Run &run)
{
    postings(run, postings_bisect_kernel);
}

static void postings_bitmap(Run &run)
{
    postings(run, postings_bitmap_kernel);
}

// ---- Ones before random places of 256 Mbit: counts in their own array, or among the bits ----

enum { RANK_LINES = 1 << 19, RANK_QUERIES = 3 << 19 };

// A count per 512 bits; then up to 16 words.
__global__ void ranks_apart_kernel(const uint32_t *bits, const uint32_t *counts,
                                   const uint32_t *places, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t place = places[i], line = place / 512, last = place / 32;
    uint32_t rank = counts[line];
    for (uint32_t w = line * 16; w < last; w++)
        rank += __popc(bits[w]);
    out[i] = rank + __popc(bits[last] & ((1u << place % 32) - 1));
}

// A line of 64 bytes: a count, then 480 bits.
__global__ void ranks_together_kernel(const uint32_t *lines, const uint32_t *,
                                      const uint32_t *places, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t place = places[i], rest = place % 480;
    const uint32_t *line = lines + place / 480 * 16;
    uint32_t rank = line[0];
    for (uint32_t w = 0; w < rest / 32; w++)
        rank += __popc(line[1 + w]);
    out[i] = rank + __popc(line[1 + rest / 32] & ((1u << place % 32) - 1));
}

// Ones before each word of 32 bits.
static std::vector<uint32_t> rank_sums(const std::vector<uint32_t> &bits)
{
    std::vector<uint32_t> sums(bits.size() + 1);
    for (size_t w = 0; w < bits.size(); w++)
        sums[w + 1] = sums[w] + __builtin_popcount(bits[w]);
    return sums;
}

static std::vector<uint32_t> rank_lines(const std::vector<uint32_t> &bits,
                                        const std::vector<uint32_t> &sums)
{
    const size_t count = (bits.size() + 14) / 15;
    std::vector<uint32_t> lines(16 * count);
    for (size_t w = 0; w < bits.size(); w++) {
        if (w % 15 == 0)
            lines[w / 15 * 16] = sums[w];
        lines[w / 15 * 16 + 1 + w % 15] = bits[w];
    }
    return lines;
}

static void ranks(Run &run, bool together)
{
    const std::vector<uint32_t> bits = words(16 * RANK_LINES, 12073), sums = rank_sums(bits);
    std::vector<uint32_t> places = words(RANK_QUERIES, 12074), counts(RANK_LINES);
    for (uint32_t &place : places)
        place %= 512u * RANK_LINES;
    for (size_t line = 0; line < RANK_LINES; line++)
        counts[line] = sums[16 * line];
    const uint32_t *db = run.upload(together ? rank_lines(bits, sums) : bits);
    const uint32_t *dc = run.upload(counts), *dp = run.upload(places);
    uint32_t *to = run.zeros<uint32_t>(RANK_QUERIES);
    run.measure([=] {
        if (together)
            ranks_together_kernel<<<RANK_QUERIES / 256, 256>>>(db, dc, dp, to);
        else
            ranks_apart_kernel<<<RANK_QUERIES / 256, 256>>>(db, dc, dp, to);
    });
    run.expect_all(
        run.output(to, RANK_QUERIES),
        [&](size_t i) {
            const uint32_t w = places[i] / 32, mask = (1u << places[i] % 32) - 1;
            return sums[w] + __builtin_popcount(bits[w] & mask);
        },
        0, 1009);
}

static void ranks_apart(Run &run)
{
    ranks(run, false);
}

static void ranks_together(Run &run)
{
    ranks(run, true);
}

// ---- Scores of a million documents for 8 terms: weights looked up, or lists of places added ----

enum { SCORE_DOCUMENTS = 1 << 20, SCORE_ENTRIES = 8, SCORE_TERMS = 4096, SCORE_QUERY = 8 };

// Entries of a document: the term in the upper bits, how often it occurs in the lower four.
__host__ __device__ inline float score_part(float weight, int often)
{
    return weight * often / (often + 1.2f);
}

__global__ void scores_documents_kernel(const unsigned short *entries, const float *weights,
                                        float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float score = 0;
    for (int k = 0; k < SCORE_ENTRIES; k++) {
        const int entry = entries[i * SCORE_ENTRIES + k];
        const float weight = weights[entry >> 4];
        if (weight != 0)
            score += score_part(weight, entry & 15);
    }
    out[i] = score;
}

// Postings of the query's terms: the document, and in the lower seven bits how often and which of
// the 8 terms.
__global__ void scores_lists_kernel(const uint32_t *postings, int count, const float *query,
                                    float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const uint32_t posting = postings[i];
    atomicAdd(&out[posting >> 7], score_part(query[posting & 7], posting >> 3 & 15));
}

struct ScoreIndex {
    std::vector<unsigned short> entries;
    std::vector<float> weights, query;
    std::vector<uint32_t> postings;

    // Small terms are the more frequent ones; terms 0 to 7 are in the query.
    ScoreIndex() : entries((size_t) SCORE_DOCUMENTS * SCORE_ENTRIES), weights(SCORE_TERMS)
    {
        query = floats(SCORE_QUERY, 12075, 0.5f, 2);
        std::copy(query.begin(), query.end(), weights.begin());
        std::vector<std::vector<uint32_t>> lists(SCORE_QUERY);
        for (size_t i = 0; i < entries.size(); i++) {
            const uint32_t r = mix((uint32_t) i + 12076), s = mix(r + 1);
            const uint32_t term = r % 3 ? s % SCORE_TERMS : s % SCORE_QUERY,
                           often = 1 + (r >> 20) % 15;
            entries[i] = (unsigned short) (term << 4 | often);
            if (term < SCORE_QUERY)
                lists[term].push_back((uint32_t) (i / SCORE_ENTRIES) << 7 | often << 3 | term);
        }
        for (const std::vector<uint32_t> &list : lists)
            postings.insert(postings.end(), list.begin(), list.end());
    }

    double score(size_t document) const
    {
        double sum = 0;
        for (size_t k = 0; k < SCORE_ENTRIES; k++) {
            const int entry = entries[document * SCORE_ENTRIES + k];
            sum += score_part(weights[entry >> 4], entry & 15);
        }
        return sum;
    }
};

static void scores_documents(Run &run)
{
    const ScoreIndex index;
    const unsigned short *from = run.upload(index.entries);
    const float *dw = run.upload(index.weights);
    float *to = run.zeros<float>(SCORE_DOCUMENTS);
    run.measure([=] { scores_documents_kernel<<<SCORE_DOCUMENTS / 256, 256>>>(from, dw, to); });
    run.expect_all(
        run.output(to, SCORE_DOCUMENTS), [&](size_t i) { return index.score(i); }, 1e-4, 1009);
}

static void scores_lists(Run &run)
{
    const ScoreIndex index;
    const int count = (int) index.postings.size();
    const uint32_t *from = run.upload(index.postings);
    const float *dq = run.upload(index.query);
    float *to = run.zeros<float>(SCORE_DOCUMENTS);
    run.measure([=] { scores_lists_kernel<<<blocks_for(count, 256), 256>>>(from, count, dq, to); },
                [=] { CHECK(cudaMemset(to, 0, SCORE_DOCUMENTS * sizeof(float))); });
    run.expect_all(
        run.output(to, SCORE_DOCUMENTS), [&](size_t i) { return index.score(i); }, 1e-4, 1009);
}

#endif
