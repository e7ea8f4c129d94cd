// bytes.cuh - data on disk and in tables: base64, frames of differences, strings of a dictionary,
// words of DNA, cuckoo hashing.
#ifndef BLIND_BYTES_CUH
#define BLIND_BYTES_CUH

#include "blind.cuh"

// ---- Base64: 3 bytes per thread and a table, or 12 bytes per thread and arithmetic ----

__constant__ char base64_digit[65] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

__global__ void base64_bytes_kernel(const unsigned char *in, char *out, int groups)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    unsigned char a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    out[4 * i] = base64_digit[a >> 2];
    out[4 * i + 1] = base64_digit[(a & 3) << 4 | b >> 4];
    out[4 * i + 2] = base64_digit[(b & 15) << 2 | c >> 6];
    out[4 * i + 3] = base64_digit[c & 63];
}

__device__ inline unsigned base64_character(unsigned v)
{
    if (v < 26)
        return v + 'A';
    if (v < 52)
        return v - 26 + 'a';
    return v < 62 ? v - 52 + '0' : v == 62 ? '+' : '/';
}

// Three bytes, the first one highest, to four characters, the first one lowest.
__device__ inline unsigned base64_group(unsigned v)
{
    return base64_character(v >> 18 & 63) | base64_character(v >> 12 & 63) << 8 |
           base64_character(v >> 6 & 63) << 16 | base64_character(v & 63) << 24;
}

__global__ void base64_words_kernel(const unsigned *in, uint4 *out, int quads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads)
        return;
    unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    out[i] = make_uint4(base64_group(__byte_perm(a, 0, 0x4012)),
                        base64_group(__byte_perm(a, b, 0x0345) & 0xffffff),
                        base64_group(__byte_perm(b, c, 0x0234) & 0xffffff),
                        base64_group(__byte_perm(c, 0, 0x4123)));
}

template <class Launch> static void base64(Run &run, Launch launch)
{
    const char *digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const int groups = 2400000;
    const std::vector<uint32_t> in = words(groups * 3 / 4, 561);
    const unsigned char *bytes = (const unsigned char *) in.data();
    uint32_t *from = run.upload(in);
    char *to = run.zeros<char>((size_t) groups * 4);
    run.measure([=] { launch(from, to, groups); });
    run.expect_all(
        run.output(to, (size_t) groups * 4),
        [&](size_t i) {
            const unsigned char *b = bytes + i / 4 * 3;
            return digit[(b[0] << 16 | b[1] << 8 | b[2]) >> (18 - 6 * (i % 4)) & 63];
        },
        0, 23);
}

static void base64_bytes(Run &run)
{
    base64(run, [](void *in, char *out, int groups) {
        base64_bytes_kernel<<<blocks_for(groups, 256), 256>>>((unsigned char *) in, out, groups);
    });
}

static void base64_words(Run &run)
{
    base64(run, [](void *in, char *out, int groups) {
        base64_words_kernel<<<blocks_for(groups / 4, 256), 256>>>((unsigned *) in, (uint4 *) out,
                                                                  groups / 4);
    });
}

// ---- Frames of 128 differences of a byte after a first value: a thread, or a warp, per frame ----

enum { FRAME_VALUES = 128 };

__global__ void delta_thread_kernel(const int *first, const signed char *step, int *out, int frames)
{
    int frame = blockIdx.x * blockDim.x + threadIdx.x;
    if (frame >= frames)
        return;
    int value = first[frame];
    for (int k = 0; k < FRAME_VALUES; k++) {
        value += step[frame * FRAME_VALUES + k];
        out[frame * FRAME_VALUES + k] = value;
    }
}

__global__ void delta_warp_kernel(const int *first, const char4 *step, int4 *out, int frames)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, frame = i / 32;
    if (frame >= frames)
        return;
    char4 d = step[i];
    int4 v = make_int4(d.x, d.x + d.y, d.x + d.y + d.z, d.x + d.y + d.z + d.w);
    int sum = v.w;
    for (int apart = 1; apart < 32; apart *= 2) {
        int left = __shfl_up_sync(~0u, sum, apart);
        if (lane >= apart)
            sum += left;
    }
    int before = first[frame] + sum - v.w;
    out[i] = make_int4(before + v.x, before + v.y, before + v.z, before + v.w);
}

template <class Launch> static void delta(Run &run, Launch launch)
{
    const int frames = 36000, n = frames * FRAME_VALUES;
    const std::vector<int> first = integers(frames, 1000000, 562);
    const std::vector<uint32_t> step = words(n / 4, 563);
    const signed char *bytes = (const signed char *) step.data();
    int *df = run.upload(first), *to = run.zeros<int>(n);
    uint32_t *ds = run.upload(step);
    run.measure([=] { launch(df, ds, to, frames); });
    const std::vector<int> got = run.output(to, n);
    for (int frame = 0; frame < frames; frame += 29) {
        int value = first[frame];
        for (int k = 0; k < FRAME_VALUES; k++) {
            value += bytes[frame * FRAME_VALUES + k];
            run.expect(got[frame * FRAME_VALUES + k], value, 0);
        }
    }
}

static void delta_thread(Run &run)
{
    delta(run, [](int *first, void *step, int *out, int frames) {
        delta_thread_kernel<<<blocks_for(frames, 128), 128>>>(first, (signed char *) step, out,
                                                              frames);
    });
}

static void delta_warp(Run &run)
{
    delta(run, [](int *first, void *step, int *out, int frames) {
        delta_warp_kernel<<<blocks_for(frames * 32, 128), 128>>>(first, (char4 *) step,
                                                                 (int4 *) out, frames);
    });
}

// ---- A column of strings from codes of a dictionary: a thread copies a string byte by byte ----

enum { DICTIONARY = 700 };

__global__ void dictionary_kernel(const unsigned short *code, const int *begin, const char *text,
                                  const int *place, char *out, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int from = begin[code[row]], end = begin[code[row] + 1], to = place[row];
    while (from < end)
        out[to++] = text[from++];
}

static void dictionary_strings(Run &run)
{
    const int rows = 240000;
    std::vector<int> begin(DICTIONARY + 1), place(rows + 1);
    std::vector<unsigned short> code(rows);
    for (int k = 0; k < DICTIONARY; k++)
        begin[k + 1] = begin[k] + 3 + (int) (mix(k + 564) % 20);
    for (int row = 0; row < rows; row++) {
        code[row] = (unsigned short) (mix(row + 565) % DICTIONARY);
        place[row + 1] = place[row] + begin[code[row] + 1] - begin[code[row]];
    }
    const std::vector<int> letters = integers(begin[DICTIONARY], 26, 566);
    std::vector<char> text(letters.begin(), letters.end());
    unsigned short *dc = run.upload(code);
    int *db = run.upload(begin), *dp = run.upload(place);
    char *dt = run.upload(text), *to = run.zeros<char>(place[rows]);
    run.measure(
        [=] { dictionary_kernel<<<blocks_for(rows, 256), 256>>>(dc, db, dt, dp, to, rows); });
    const std::vector<char> got = run.output(to, place[rows]);
    for (int row = 0; row < rows; row += 7)
        for (int k = place[row]; k < place[row + 1]; k++)
            run.expect(got[k], text[begin[code[row]] + k - place[row]], 0);
}

// ---- Counts of DNA words of 8 letters: a word per thread, or 32 words with a rolling code ----

enum { WORD_LETTERS = 8, WORD_CODES = 1 << 2 * WORD_LETTERS, WORDS_EACH = 32 };

// A, C, G, T: bits 1 and 2 of the characters differ.
__host__ __device__ inline int letter_code(char letter)
{
    return letter >> 1 & 3;
}

__global__ void dna_each_kernel(const char *text, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, code = 0;
    if (i >= n)
        return;
    for (int k = 0; k < WORD_LETTERS; k++)
        code = code << 2 | letter_code(text[i + k]);
    atomicAdd(&count[code], 1);
}

__global__ void dna_rolling_kernel(const char *text, int *count, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * WORDS_EACH, code = 0;
    if (first >= n)
        return;
    for (int k = 0; k < WORD_LETTERS - 1; k++)
        code = code << 2 | letter_code(text[first + k]);
    for (int i = first; i < min(first + WORDS_EACH, n); i++) {
        code = (code << 2 | letter_code(text[i + WORD_LETTERS - 1])) & (WORD_CODES - 1);
        atomicAdd(&count[code], 1);
    }
}

template <class Launch> static void dna(Run &run, Launch launch)
{
    const int n = 1400000;
    std::vector<char> text(n + WORD_LETTERS);
    std::vector<int> wanted(WORD_CODES);
    for (size_t i = 0; i < text.size(); i++)
        text[i] = "AACGTTTT"[mix((uint32_t) i + 567) % 8];
    for (int i = 0; i < n; i++) {
        int code = 0;
        for (int k = 0; k < WORD_LETTERS; k++)
            code = code << 2 | letter_code(text[i + k]);
        wanted[code]++;
    }
    char *from = run.upload(text);
    int *count = run.zeros<int>(WORD_CODES);
    run.measure([=] { launch(from, count, n); },
                [=] { CHECK(cudaMemset(count, 0, WORD_CODES * sizeof(int))); });
    run.expect_all(
        run.output(count, WORD_CODES), [&](size_t i) { return wanted[i]; }, 0);
}

static void dna_each(Run &run)
{
    dna(run, [](char *text, int *count, int n) {
        dna_each_kernel<<<blocks_for(n, 256), 256>>>(text, count, n);
    });
}

static void dna_rolling(Run &run)
{
    dna(run, [](char *text, int *count, int n) {
        dna_rolling_kernel<<<blocks_for(n, WORDS_EACH * 128), 128>>>(text, count, n);
    });
}

// ---- Cuckoo hashing: both places at once, or the second one only if the first one differs ----

enum { CUCKOO_BITS = 20, CUCKOO_SIZE = 1 << CUCKOO_BITS };

struct Slot {
    unsigned key, value; // key 0: free
};

__host__ __device__ inline unsigned cuckoo_place(unsigned key, int which)
{
    return key * (which ? 0x9e3779b1u : 0x85ebca6bu) >> (32 - CUCKOO_BITS);
}

__global__ void cuckoo_both_kernel(const Slot *table, const unsigned *key, unsigned *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Slot one = table[cuckoo_place(key[i], 0)], two = table[cuckoo_place(key[i], 1)];
    value[i] = one.key == key[i] ? one.value : two.key == key[i] ? two.value : 0;
}

__global__ void cuckoo_early_kernel(const Slot *table, const unsigned *key, unsigned *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Slot slot = table[cuckoo_place(key[i], 0)];
    if (slot.key != key[i])
        slot = table[cuckoo_place(key[i], 1)];
    value[i] = slot.key == key[i] ? slot.value : 0;
}

// A key that finds no place after 100 moves is not stored.
static void cuckoo_insert(std::vector<Slot> &table, Slot slot)
{
    int which = 0;
    for (int moves = 0; moves < 100 && slot.key; moves++) {
        const unsigned place = cuckoo_place(slot.key, which);
        std::swap(table[place], slot);
        which = cuckoo_place(slot.key, 0) == place; // the other place of the moved key
    }
}

template <class Launch> static void cuckoo(Run &run, Launch launch)
{
    const int stored = 400000, n = 1300000;
    std::vector<Slot> table(CUCKOO_SIZE);
    std::vector<unsigned> key(n);
    for (int i = 0; i < stored; i++)
        cuckoo_insert(table, { mix(i + 1), (unsigned) i + 1 });
    for (int i = 0; i < n; i++)
        key[i] = mix(1 + mix(i + 568) % (stored * 5 / 4));
    Slot *dt = run.upload(table);
    unsigned *dk = run.upload(key), *value = run.zeros<unsigned>(n);
    run.measure([=] { launch(dt, dk, value, n); });
    run.expect_all(
        run.output(value, n),
        [&](size_t i) {
            for (int which = 0; which < 2; which++) {
                const Slot slot = table[cuckoo_place(key[i], which)];
                if (slot.key == key[i])
                    return slot.value;
            }
            return 0u;
        },
        0, 3);
}

static void cuckoo_both(Run &run)
{
    cuckoo(run, [](Slot *table, unsigned *key, unsigned *value, int n) {
        cuckoo_both_kernel<<<blocks_for(n, 256), 256>>>(table, key, value, n);
    });
}

static void cuckoo_early(Run &run)
{
    cuckoo(run, [](Slot *table, unsigned *key, unsigned *value, int n) {
        cuckoo_early_kernel<<<blocks_for(n, 256), 256>>>(table, key, value, n);
    });
}

#endif
