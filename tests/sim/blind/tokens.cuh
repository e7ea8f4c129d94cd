// tokens.cuh - texts for language models: pairs merged, starts of words, padded batches, text back.
#ifndef BLIND_TOKENS_CUH
#define BLIND_TOKENS_CUH

#include "blind.cuh"

// ---- Pairs of symbols are merged, the best first, in a word per thread or per 16 lanes ----

enum { BPE_WORDS = 40960, BPE_LENGTH = 16, BPE_LIMIT = 20000, BPE_NONE = 65535 };

__host__ __device__ inline int bpe_merged(int a, int b)
{
    return (7 * a + 3 * b + 1) % 64;
}

__host__ __device__ inline uint32_t bpe_encode(unsigned char *s, const unsigned short *rank)
{
    int n = BPE_LENGTH;
    for (;;) {
        int best = BPE_LIMIT, at = -1;
        for (int k = 0; k + 1 < n; k++) {
            const int r = rank[s[k] * 64 + s[k + 1]];
            if (r < best) {
                best = r;
                at = k;
            }
        }
        if (at < 0)
            break;
        s[at] = (unsigned char) bpe_merged(s[at], s[at + 1]);
        n--;
        for (int k = at + 1; k < n; k++)
            s[k] = s[k + 1];
    }
    uint32_t hash = n;
    for (int k = 0; k < n; k++)
        hash += (s[k] + 1) << k;
    return hash;
}

__global__ void bpe_thread_kernel(const unsigned char *in, const unsigned short *rank,
                                  uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char s[BPE_LENGTH];
    for (int k = 0; k < BPE_LENGTH; k++)
        s[k] = in[i * BPE_LENGTH + k];
    out[i] = bpe_encode(s, rank);
}

__global__ void bpe_lanes_kernel(const unsigned char *in, const unsigned short *rank, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % BPE_LENGTH;
    int symbol = in[i], n = BPE_LENGTH;
    for (;;) {
        const int next = __shfl_down_sync(~0u, symbol, 1, BPE_LENGTH);
        const int r = lane + 1 < n ? rank[symbol * 64 + next] : BPE_NONE;
        int best = (r < BPE_LIMIT ? r : BPE_NONE) * BPE_LENGTH + lane;
        for (int by = BPE_LENGTH / 2; by; by /= 2)
            best = min(best, __shfl_xor_sync(~0u, best, by));
        const bool found = best / BPE_LENGTH < BPE_LIMIT;
        if (!__any_sync(~0u, found))
            break;
        const int at = best % BPE_LENGTH;
        if (found) {
            symbol = lane == at ? bpe_merged(symbol, next) : lane > at ? next : symbol;
            n--;
        }
    }
    uint32_t hash = lane < n ? (symbol + 1) << lane : 0;
    for (int by = BPE_LENGTH / 2; by; by /= 2)
        hash += __shfl_xor_sync(~0u, hash, by);
    if (lane == 0)
        out[i / BPE_LENGTH] = hash + n;
}

static void bpe(Run &run, bool lanes)
{
    const std::vector<int> v = integers(BPE_WORDS * BPE_LENGTH, 64, 10001);
    const std::vector<int> r = integers(64 * 64, BPE_NONE, 10002);
    const std::vector<unsigned char> in(v.begin(), v.end());
    const std::vector<unsigned short> rank(r.begin(), r.end());
    const unsigned char *from = run.upload(in);
    const unsigned short *dr = run.upload(rank);
    uint32_t *to = run.zeros<uint32_t>(BPE_WORDS);
    run.measure([=] {
        if (lanes)
            bpe_lanes_kernel<<<BPE_WORDS * BPE_LENGTH / 256, 256>>>(from, dr, to);
        else
            bpe_thread_kernel<<<BPE_WORDS / 128, 128>>>(from, dr, to);
    });
    run.expect_all(
        run.output(to, BPE_WORDS),
        [&](size_t i) {
            unsigned char s[BPE_LENGTH];
            std::copy_n(&in[i * BPE_LENGTH], BPE_LENGTH, s);
            return bpe_encode(s, rank.data());
        },
        0, 53);
}

static void bpe_thread(Run &run)
{
    bpe(run, false);
}

static void bpe_lanes(Run &run)
{
    bpe(run, true);
}

// ---- Starts of words are flagged in a byte each: four bytes per thread, or sixteen ----

enum { STARTS = 20 << 20 };

__host__ __device__ inline bool starts_letter(unsigned v)
{
    return (v | 32) - 'a' < 26;
}

__device__ inline uint32_t starts_word(uint32_t v, bool before)
{
    uint32_t flags = 0;
#pragma unroll
    for (int k = 0; k < 32; k += 8) {
        const bool letter = starts_letter(v >> k & 255);
        flags |= (uint32_t) (letter && !before) << k;
        before = letter;
    }
    return flags;
}

__global__ void starts_four_kernel(const unsigned char *text, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool before = i && starts_letter(text[4 * i - 1]);
    ((uint32_t *) out)[i] = starts_word(((const uint32_t *) text)[i], before);
}

__global__ void starts_sixteen_kernel(const unsigned char *text, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool before = i && starts_letter(text[16 * i - 1]);
    const uint4 v = ((const uint4 *) text)[i];
    ((uint4 *) out)[i] = make_uint4(
        starts_word(v.x, before), starts_word(v.y, starts_letter(v.x >> 24)),
        starts_word(v.z, starts_letter(v.y >> 24)), starts_word(v.w, starts_letter(v.z >> 24)));
}

static void starts(Run &run, int each, void (*kernel)(const unsigned char *, unsigned char *))
{
    std::vector<uint32_t> in = words(STARTS / 4, 10003);
    for (uint32_t &v : in)
        v &= 0x7f7f7f7f;
    const unsigned char *from = (const unsigned char *) run.upload(in);
    unsigned char *to = run.zeros<unsigned char>(STARTS);
    run.measure([=] { kernel<<<STARTS / each / 256, 256>>>(from, to); });
    const unsigned char *text = (const unsigned char *) in.data();
    run.expect_all(
        run.output(to, STARTS),
        [&](size_t i) { return starts_letter(text[i]) && !(i && starts_letter(text[i - 1])); }, 0,
        1009);
}

static void starts_four(Run &run)
{
    starts(run, 4, starts_four_kernel);
}

static void starts_sixteen(Run &run)
{
    starts(run, 16, starts_sixteen_kernel);
}

// ---- Sequences become padded rows: a thread per place, or per token by search ----

enum { PADDED_ROWS = 2432, PADDED_WIDTH = 1024 };

__global__ void padded_places_kernel(const int *tokens, const int *begin, int2 *out)
{
    const int row = blockIdx.x, from = begin[row], length = begin[row + 1] - from;
    for (int k = threadIdx.x; k < PADDED_WIDTH; k += blockDim.x)
        out[row * PADDED_WIDTH + k] =
            k < length ? make_int2(tokens[from + k], k) : make_int2(0, -1);
}

__global__ void padded_clear_kernel(int4 *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = make_int4(0, -1, 0, -1);
}

__global__ void padded_search_kernel(const int *tokens, const int *begin, int2 *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int low = 0, high = PADDED_ROWS; // begin[low] <= i < begin[high]
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (begin[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    out[low * PADDED_WIDTH + i - begin[low]] = make_int2(tokens[i], i - begin[low]);
}

static void padded(Run &run, bool search)
{
    const std::vector<int> lengths = integers(PADDED_ROWS, PADDED_WIDTH, 10004);
    std::vector<int> begin(PADDED_ROWS + 1);
    for (int i = 0; i < PADDED_ROWS; i++)
        begin[i + 1] = begin[i] + lengths[i] + 1;
    const int count = begin[PADDED_ROWS];
    const std::vector<int> tokens = integers(count, 50000, 10005);
    const int *from = run.upload(tokens), *db = run.upload(begin);
    const size_t places = (size_t) PADDED_ROWS * PADDED_WIDTH;
    int2 *to = (int2 *) run.zeros<int>(2 * places);
    run.measure([=] {
        if (search) {
            padded_clear_kernel<<<(int) (places / 2 / 256), 256>>>((int4 *) to);
            padded_search_kernel<<<blocks_for(count, 256), 256>>>(from, db, to, count);
        } else
            padded_places_kernel<<<PADDED_ROWS, 256>>>(from, db, to);
    });
    const std::vector<int> got = run.output((const int *) to, 2 * places);
    for (size_t i = 0; i < places; i += 499) {
        const int row = (int) (i / PADDED_WIDTH), k = (int) (i % PADDED_WIDTH);
        const bool inside = k <= lengths[row];
        run.expect(got[2 * i], inside ? tokens[begin[row] + k] : 0, 0);
        run.expect(got[2 * i + 1], inside ? k : -1, 0);
    }
}

static void padded_places(Run &run)
{
    padded(run, false);
}

static void padded_search(Run &run)
{
    padded(run, true);
}

// ---- Tokens become text: each thread writes its token's bytes, directly or by shared memory ----

enum { DETOK_TOKENS = 3 << 18, DETOK_VOCABULARY = 32768, DETOK_LONGEST = 12, DETOK_BLOCK = 256 };

__global__ void detok_direct_kernel(const int *tokens, const int *places, const int *begin,
                                    const unsigned char *letters, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int token = tokens[i], from = begin[token], length = begin[token + 1] - from;
    unsigned char *to = out + places[i];
    for (int k = 0; k < length; k++)
        to[k] = letters[from + k];
}

__global__ void detok_staged_kernel(const int *tokens, const int *places, const int *begin,
                                    const unsigned char *letters, unsigned char *out)
{
    __shared__ unsigned char text[DETOK_BLOCK * DETOK_LONGEST];
    const int first = blockIdx.x * DETOK_BLOCK, i = first + threadIdx.x;
    const int base = places[first], count = places[first + DETOK_BLOCK] - base;
    const int token = tokens[i], from = begin[token], length = begin[token + 1] - from;
    const int at = places[i] - base;
    for (int k = 0; k < length; k++)
        text[at + k] = letters[from + k];
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += DETOK_BLOCK)
        out[base + k] = text[k];
}

static void detok(Run &run, void (*kernel)(const int *, const int *, const int *,
                                           const unsigned char *, unsigned char *))
{
    const std::vector<int> lengths = integers(DETOK_VOCABULARY, DETOK_LONGEST, 10006);
    std::vector<int> begin(DETOK_VOCABULARY + 1), places(DETOK_TOKENS + 1);
    for (int i = 0; i < DETOK_VOCABULARY; i++)
        begin[i + 1] = begin[i] + lengths[i] + 1;
    const std::vector<int> tokens = integers(DETOK_TOKENS, DETOK_VOCABULARY, 10007);
    for (int i = 0; i < DETOK_TOKENS; i++)
        places[i + 1] = places[i] + lengths[tokens[i]] + 1;
    const std::vector<int> v = integers(begin[DETOK_VOCABULARY], 96, 10008);
    const std::vector<unsigned char> letters(v.begin(), v.end());
    const int *from = run.upload(tokens), *dp = run.upload(places), *db = run.upload(begin);
    const unsigned char *dl = run.upload(letters);
    unsigned char *to = run.zeros<unsigned char>(places[DETOK_TOKENS]);
    run.measure([=] { kernel<<<DETOK_TOKENS / DETOK_BLOCK, DETOK_BLOCK>>>(from, dp, db, dl, to); });
    const std::vector<unsigned char> got = run.output(to, places[DETOK_TOKENS]);
    for (int i = 0; i < DETOK_TOKENS; i += 211)
        for (int k = 0; k <= lengths[tokens[i]]; k++)
            run.expect(got[places[i] + k], letters[begin[tokens[i]] + k], 0);
}

static void detok_direct(Run &run)
{
    detok(run, detok_direct_kernel);
}

static void detok_staged(Run &run)
{
    detok(run, detok_staged_kernel);
}

#endif
