// patterns.cuh - patterns in text and genes: minimisers, expressions by tables, trigrams,
// alignment.
#ifndef BLIND_PATTERNS_CUH
#define BLIND_PATTERNS_CUH

#include "blind.cuh"

// ---- Minimisers: the least hash of 10 12-mers, for each window, or carried along a chunk ----

enum { MINI_K = 12, MINI_W = 10, MINI_WINDOWS = 3 << 19, MINI_CHUNK = 32 };

__host__ __device__ inline uint32_t mini_hash(uint32_t kmer)
{
    kmer *= 0x9e3779b1u;
    return kmer ^ kmer >> 15;
}

__host__ __device__ inline uint32_t mini_push(uint32_t kmer, unsigned char base)
{
    return (kmer << 2 | base) & (1u << 2 * MINI_K) - 1;
}

__host__ __device__ inline uint32_t mini_window(const unsigned char *text, int at)
{
    uint32_t kmer = 0, least = ~0u;
    for (int k = 0; k < MINI_K + MINI_W - 1; k++) {
        kmer = mini_push(kmer, text[at + k]);
        if (k >= MINI_K - 1) {
            const uint32_t hash = mini_hash(kmer);
            least = hash < least ? hash : least;
        }
    }
    return least;
}

__global__ void minimisers_each_kernel(const unsigned char *text, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = mini_window(text, i);
}

// The last hashes lie in a ring. Only when the least one leaves the window, all are compared.
__global__ void minimisers_chunk_kernel(const unsigned char *text, uint32_t *out)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * MINI_CHUNK;
    uint32_t ring[MINI_W], kmer = 0, least = ~0u;
    int place = 0;
    for (int k = 0; k < MINI_K - 1; k++)
        kmer = mini_push(kmer, text[first + k]);
    for (int n = 0; n < MINI_CHUNK + MINI_W - 1; n++) {
        kmer = mini_push(kmer, text[first + MINI_K - 1 + n]);
        const uint32_t hash = mini_hash(kmer);
        ring[n % MINI_W] = hash;
        if (hash <= least) {
            least = hash;
            place = n;
        } else if (place <= n - MINI_W) {
            least = ~0u;
            for (int k = n - MINI_W + 1; k <= n; k++)
                if (ring[k % MINI_W] <= least) {
                    least = ring[k % MINI_W];
                    place = k;
                }
        }
        if (n >= MINI_W - 1)
            out[first + n - MINI_W + 1] = least;
    }
}

static void minimisers(Run &run, void (*kernel)(const unsigned char *, uint32_t *), int each)
{
    const std::vector<int> v = integers(MINI_WINDOWS + MINI_K + MINI_W, 4, 9601);
    const std::vector<unsigned char> text(v.begin(), v.end());
    const unsigned char *from = run.upload(text);
    uint32_t *to = run.zeros<uint32_t>(MINI_WINDOWS);
    run.measure([=] { kernel<<<MINI_WINDOWS / each / 64, 64>>>(from, to); });
    run.expect_all(
        run.output(to, MINI_WINDOWS), [&](size_t i) { return mini_window(text.data(), (int) i); },
        0, 41);
}

static void minimisers_each(Run &run)
{
    minimisers(run, minimisers_each_kernel, 1);
}

static void minimisers_chunk(Run &run)
{
    minimisers(run, minimisers_chunk_kernel, MINI_CHUNK);
}

// ---- Lines of 64 bytes run through an expression's table: by bytes, or by classes of bytes ----

enum { REGEX_LINES = 3 << 17, REGEX_LINE = 64, REGEX_STATES = 32, REGEX_CLASSES = 8 };

// `table` is that of 32 states by 256 bytes, or by 8 classes, with each byte's class in front.
template <bool CLASSES>
__global__ void regex_kernel(const uint4 *text, const unsigned char *table, unsigned char *ends)
{
    const int size = CLASSES ? 256 + REGEX_STATES * REGEX_CLASSES : REGEX_STATES * 256;
    __shared__ unsigned char t[REGEX_STATES * 256];
    for (int k = threadIdx.x; k < size / 4; k += blockDim.x)
        ((uint32_t *) t)[k] = ((const uint32_t *) table)[k];
    __syncthreads();
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    int state = 0;
    for (int part = 0; part < REGEX_LINE / 16; part++) {
        const uint4 v = text[line * (REGEX_LINE / 16) + part];
        const uint32_t word[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const int byte = word[k / 4] >> k % 4 * 8 & 255;
            state = CLASSES ? t[256 + state * REGEX_CLASSES + t[byte]] : t[state * 256 + byte];
        }
    }
    ends[line] = (unsigned char) state;
}

template <bool CLASSES> static void regex(Run &run)
{
    const std::vector<uint32_t> text = words(REGEX_LINES * REGEX_LINE / 4, 9602);
    const std::vector<int> next = integers(REGEX_STATES * REGEX_CLASSES, REGEX_STATES, 9603);
    const std::vector<int> classes = integers(256, REGEX_CLASSES, 9604);
    std::vector<unsigned char> table;
    if (CLASSES) {
        table.assign(classes.begin(), classes.end());
        table.insert(table.end(), next.begin(), next.end());
    } else {
        for (int k = 0; k < REGEX_STATES * 256; k++)
            table.push_back((unsigned char) next[k / 256 * REGEX_CLASSES + classes[k % 256]]);
    }
    const uint4 *from = (const uint4 *) run.upload(text);
    const unsigned char *dt = run.upload(table);
    unsigned char *to = run.zeros<unsigned char>(REGEX_LINES);
    run.measure([=] { regex_kernel<CLASSES><<<REGEX_LINES / 256, 256>>>(from, dt, to); });
    run.expect_all(
        run.output(to, REGEX_LINES),
        [&](size_t line) {
            int state = 0;
            for (size_t k = line * REGEX_LINE; k < (line + 1) * REGEX_LINE; k++)
                state = next[state * REGEX_CLASSES + classes[text[k / 4] >> k % 4 * 8 & 255]];
            return state;
        },
        0, 71);
}

static void regex_bytes(Run &run)
{
    regex<false>(run);
}

static void regex_classes(Run &run)
{
    regex<true>(run);
}

// ---- Counts of 27^3 trigrams: in global memory, or 16-bit counters of a block first ----

enum { TRIGRAM_TEXT = 132 * 40960, TRIGRAMS = 27 * 27 * 27, TRIGRAM_WORDS = TRIGRAMS / 2 + 1 };

__device__ inline int trigram_at(const unsigned char *text, int i)
{
    return (text[i] * 27 + text[i + 1]) * 27 + text[i + 2];
}

__global__ void trigrams_global_kernel(const unsigned char *text, unsigned *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counts[trigram_at(text, i)], 1u);
}

// A block reads 40960 letters, so that no counter overflows.
__global__ void trigrams_shared_kernel(const unsigned char *text, unsigned *counts)
{
    __shared__ unsigned pairs[TRIGRAM_WORDS];
    for (int k = threadIdx.x; k < TRIGRAM_WORDS; k += blockDim.x)
        pairs[k] = 0;
    __syncthreads();
    const int per_block = TRIGRAM_TEXT / gridDim.x, first = blockIdx.x * per_block;
    for (int i = first + threadIdx.x; i < first + per_block; i += blockDim.x) {
        const int t = trigram_at(text, i);
        atomicAdd(&pairs[t / 2], t % 2 ? 0x10000u : 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < TRIGRAM_WORDS; k += blockDim.x) {
        const unsigned low = pairs[k] & 0xffff, high = pairs[k] >> 16;
        if (low)
            atomicAdd(&counts[2 * k], low);
        if (high)
            atomicAdd(&counts[2 * k + 1], high);
    }
}

// Some letters are much more frequent than others.
static void trigrams(Run &run, bool shared)
{
    const std::vector<int> a = integers(TRIGRAM_TEXT + 2, 27, 9605);
    const std::vector<int> b = integers(TRIGRAM_TEXT + 2, 27, 9606);
    std::vector<unsigned char> text(TRIGRAM_TEXT + 2);
    for (int i = 0; i < TRIGRAM_TEXT + 2; i++)
        text[i] = (unsigned char) (a[i] * b[i] / 27);
    const unsigned char *from = run.upload(text);
    unsigned *to = run.zeros<unsigned>(2 * TRIGRAM_WORDS);
    run.measure(
        [=] {
            if (shared)
                trigrams_shared_kernel<<<132, 1024>>>(from, to);
            else
                trigrams_global_kernel<<<TRIGRAM_TEXT / 256, 256>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, 2 * TRIGRAM_WORDS * sizeof(unsigned))); });
    std::vector<unsigned> wanted(2 * TRIGRAM_WORDS);
    for (int i = 0; i < TRIGRAM_TEXT; i++)
        wanted[(text[i] * 27 + text[i + 1]) * 27 + text[i + 2]]++;
    run.expect_all(
        run.output(to, 2 * TRIGRAM_WORDS), [&](size_t k) { return wanted[k]; }, 0, 7);
}

static void trigrams_global(Run &run)
{
    trigrams(run, false);
}

static void trigrams_shared(Run &run)
{
    trigrams(run, true);
}

// ---- Local alignments with a query of 32: a target per thread, or two in 16-bit halves ----

enum { ALIGN_QUERY = 32, ALIGN_LENGTH = 96, ALIGN_TARGETS = 8192, ALIGN_GAP = 2 };

__constant__ int align_query[ALIGN_QUERY];

__host__ __device__ inline int align_score(int a, int b)
{
    return a == b ? 2 : -1;
}

// Letter k of target i is at k * ALIGN_TARGETS + i.
__global__ void align_ints_kernel(const unsigned char *targets, int *best)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int column[ALIGN_QUERY] = {}, most = 0;
    for (int k = 0; k < ALIGN_LENGTH; k++) {
        const int letter = targets[k * ALIGN_TARGETS + i];
        int diagonal = 0, above = 0;
#pragma unroll
        for (int j = 0; j < ALIGN_QUERY; j++) {
            const int left = column[j];
            const int score = diagonal + align_score(align_query[j], letter);
            above = max(max(score, 0), max(above, left) - ALIGN_GAP);
            diagonal = left;
            column[j] = above;
            most = max(most, above);
        }
    }
    best[i] = most;
}

// The scores of two letters against each letter of the query are read from a table of their pairs.
__global__ void align_halves_kernel(const unsigned char *targets, int *best)
{
    __shared__ uint32_t profile[16][ALIGN_QUERY + 1];
    for (int k = threadIdx.x; k < 16 * ALIGN_QUERY; k += blockDim.x) {
        const int pair = k / ALIGN_QUERY, letter = align_query[k % ALIGN_QUERY];
        const uint32_t low = align_score(letter, pair % 4) & 0xffff;
        profile[pair][k % ALIGN_QUERY] = low | align_score(letter, pair / 4) << 16;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t gap = 0x10001u * (0x10000 - ALIGN_GAP & 0xffff);
    uint32_t column[ALIGN_QUERY] = {}, most = 0;
    for (int k = 0; k < ALIGN_LENGTH; k++) {
        const uchar2 two = ((const uchar2 *) (targets + k * ALIGN_TARGETS))[i];
        const uint32_t *scores = profile[two.x + 4 * two.y];
        uint32_t diagonal = 0, above = 0;
#pragma unroll
        for (int j = 0; j < ALIGN_QUERY; j++) {
            const uint32_t left = column[j];
            const uint32_t gapped = __vadd2(__vmaxs2(above, left), gap);
            above = __viaddmax_s16x2_relu(diagonal, scores[j], gapped);
            diagonal = left;
            column[j] = above;
            most = __vmaxs2(most, above);
        }
    }
    best[2 * i] = most & 0xffff;
    best[2 * i + 1] = most >> 16;
}

static int align_host(const std::vector<int> &query, const unsigned char *targets, size_t i)
{
    std::vector<int> column(ALIGN_QUERY);
    int most = 0;
    for (int k = 0; k < ALIGN_LENGTH; k++)
        for (int j = 0, diagonal = 0, above = 0; j < ALIGN_QUERY; j++) {
            const int left = column[j];
            const int score = diagonal + align_score(query[j], targets[k * ALIGN_TARGETS + i]);
            above = std::max(std::max(score, 0), std::max(above, left) - ALIGN_GAP);
            diagonal = left;
            column[j] = above;
            most = std::max(most, above);
        }
    return most;
}

static void align(Run &run, bool halves)
{
    const std::vector<int> query = integers(ALIGN_QUERY, 4, 9607);
    const std::vector<int> v = integers(ALIGN_LENGTH * ALIGN_TARGETS, 4, 9608);
    const std::vector<unsigned char> targets(v.begin(), v.end());
    CHECK(cudaMemcpyToSymbol(align_query, query.data(), sizeof align_query));
    const unsigned char *from = run.upload(targets);
    int *to = run.zeros<int>(ALIGN_TARGETS);
    run.measure([=] {
        if (halves)
            align_halves_kernel<<<ALIGN_TARGETS / 2 / 32, 32>>>(from, to);
        else
            align_ints_kernel<<<ALIGN_TARGETS / 32, 32>>>(from, to);
    });
    run.expect_all(
        run.output(to, ALIGN_TARGETS),
        [&](size_t i) { return align_host(query, targets.data(), i); }, 0, 59);
}

static void align_ints(Run &run)
{
    align(run, false);
}

static void align_halves(Run &run)
{
    align(run, true);
}

// ---- Words of 16 letters are sorted by letter, to find anagrams ----

enum { ANAGRAMS = 3 << 18 };

__host__ __device__ inline void anagram_sort(const uint32_t *word, uint32_t *key)
{
    int letter[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        letter[k] = word[k / 4] >> k % 4 * 8 & 255;
#pragma unroll
    for (int round = 0; round < 16; round++)
#pragma unroll
        for (int k = round % 2; k + 1 < 16; k += 2) {
            const int a = letter[k], b = letter[k + 1];
            letter[k] = a < b ? a : b;
            letter[k + 1] = a < b ? b : a;
        }
#pragma unroll
    for (int k = 0; k < 16; k += 4)
        key[k / 4] = letter[k] | letter[k + 1] << 8 | letter[k + 2] << 16 | letter[k + 3] << 24;
}

__global__ void anagrams_kernel(const uint4 *in, uint4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 v = in[i];
    const uint32_t word[4] = { v.x, v.y, v.z, v.w };
    uint32_t key[4];
    anagram_sort(word, key);
    out[i] = make_uint4(key[0], key[1], key[2], key[3]);
}

static void anagrams_sort(Run &run)
{
    std::vector<uint32_t> in = words(4 * ANAGRAMS, 9609);
    for (uint32_t &w : in)
        w = (w & 0x0f0f0f0fu) + (w >> 4 & 0x07070707u) + 0x61616161u;
    const uint32_t *from = run.upload(in);
    uint32_t *to = run.zeros<uint32_t>(4 * ANAGRAMS);
    run.measure(
        [=] { anagrams_kernel<<<ANAGRAMS / 128, 128>>>((const uint4 *) from, (uint4 *) to); });
    const std::vector<uint32_t> got = run.output(to, 4 * ANAGRAMS);
    for (int i = 0; i < ANAGRAMS; i += 307) {
        uint32_t key[4];
        anagram_sort(&in[4 * i], key);
        for (int k = 0; k < 4; k++)
            run.expect(got[4 * i + k], key[k], 0);
    }
}

#endif
