// packing.cuh - bytes: transposed bits, entropy coded streams, decimal text, move to front, names
// by sound.
#ifndef BLIND_PACKING_CUH
#define BLIND_PACKING_CUH

#include "blind.cuh"

// ---- Planes of bits of 32 words: a thread transposes them, or a warp votes ----

enum { PLANE_WORDS = 1 << 21 };

__global__ void planes_thread_kernel(const uint32_t *in, uint32_t *out)
{
    const int group = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    uint32_t word[32];
#pragma unroll
    for (int k = 0; k < 32; k++)
        word[k] = in[group + k];
    for (int bit = 0; bit < 32; bit++) {
        uint32_t plane = 0;
#pragma unroll
        for (int k = 0; k < 32; k++)
            plane |= (word[k] >> bit & 1) << k;
        out[group + bit] = plane;
    }
}

__global__ void planes_ballot_kernel(const uint32_t *in, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const uint32_t word = in[i];
    uint32_t mine = 0;
    for (int bit = 0; bit < 32; bit++) {
        const uint32_t plane = __ballot_sync(~0u, word >> bit & 1);
        if (lane == bit)
            mine = plane;
    }
    out[i] = mine;
}

static void planes(Run &run, void (*kernel)(const uint32_t *, uint32_t *), int each)
{
    const std::vector<uint32_t> in = words(PLANE_WORDS, 5071);
    uint32_t *from = run.upload(in), *to = run.zeros<uint32_t>(PLANE_WORDS);
    run.measure([=] { kernel<<<PLANE_WORDS / each / 128, 128>>>(from, to); });
    run.expect_all(
        run.output(to, PLANE_WORDS),
        [&](int i) {
            uint32_t plane = 0;
            for (int k = 0; k < 32; k++)
                plane |= (in[i / 32 * 32 + k] >> i % 32 & 1) << k;
            return plane;
        },
        0, 101);
}

static void planes_thread(Run &run)
{
    planes(run, planes_thread_kernel, 32);
}

static void planes_ballot(Run &run)
{
    planes(run, planes_ballot_kernel, 1);
}

// ---- Decoding of rANS streams, a thread per stream: its table in global or in shared memory ----

enum { RANS_STREAMS = 2048, RANS_SYMBOLS = 1024, RANS_BITS = 11, RANS_SCALE = 1 << RANS_BITS };

struct RansSlot {
    uint16_t start, frequency;
    uint32_t symbol;
};

__device__ inline void rans_decode(const uint16_t *words, const RansSlot *slots, unsigned char *out)
{
    uint32_t state = words[0] | (uint32_t) words[1] << 16;
    const uint16_t *next = words + 2;
    for (int i = 0; i < RANS_SYMBOLS; i++) {
        const uint32_t low = state & (RANS_SCALE - 1);
        const RansSlot slot = slots[low];
        out[i] = (unsigned char) slot.symbol;
        state = slot.frequency * (state >> RANS_BITS) + low - slot.start;
        if (state < 1u << 16)
            state = state << 16 | *next++;
    }
}

__global__ void rans_global_kernel(const uint16_t *words, const int *first, const RansSlot *slots,
                                   unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rans_decode(words + first[i], slots, out + i * RANS_SYMBOLS);
}

__global__ void rans_shared_kernel(const uint16_t *words, const int *first, const RansSlot *slots,
                                   unsigned char *out)
{
    __shared__ RansSlot mine[RANS_SCALE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < RANS_SCALE; k += blockDim.x)
        mine[k] = slots[k];
    __syncthreads();
    rans_decode(words + first[i], mine, out + i * RANS_SYMBOLS);
}

// The coder works backwards, thus it collects the words in reverse.
static void rans_encode(const unsigned char *in, const std::vector<uint32_t> &start,
                        std::vector<uint16_t> *out)
{
    uint32_t state = 1u << 16;
    std::vector<uint16_t> reversed;
    for (int i = RANS_SYMBOLS - 1; i >= 0; i--) {
        const uint32_t from = start[in[i]], frequency = start[in[i] + 1] - from;
        if (state >= (uint64_t) frequency << (32 - RANS_BITS)) {
            reversed.push_back((uint16_t) state);
            state >>= 16;
        }
        state = (state / frequency << RANS_BITS) + state % frequency + from;
    }
    out->push_back((uint16_t) state);
    out->push_back((uint16_t) (state >> 16));
    out->insert(out->end(), reversed.rbegin(), reversed.rend());
}

static void rans(Run &run, bool shared)
{
    std::vector<uint32_t> start(1, 0);
    std::vector<RansSlot> slots(RANS_SCALE);
    for (int s = 0; s < 64; s++) // frequencies 1 to 63, in all 2016, and what remains
        start.push_back(s == 63 ? RANS_SCALE : start[s] + s + 1);
    for (int s = 0; s < 64; s++)
        for (uint32_t k = start[s]; k < start[s + 1]; k++)
            slots[k] = { (uint16_t) start[s], (uint16_t) (start[s + 1] - start[s]), (uint32_t) s };
    std::vector<unsigned char> text(RANS_STREAMS * RANS_SYMBOLS);
    for (size_t i = 0; i < text.size(); i++)
        text[i] = slots[mix((uint32_t) i + 5072) % RANS_SCALE].symbol;
    std::vector<uint16_t> coded;
    std::vector<int> first;
    for (int i = 0; i < RANS_STREAMS; i++) {
        first.push_back((int) coded.size());
        rans_encode(&text[i * RANS_SYMBOLS], start, &coded);
    }
    uint16_t *from = run.upload(coded);
    int *df = run.upload(first);
    RansSlot *ds = run.upload(slots);
    unsigned char *to = run.zeros<unsigned char>(text.size());
    run.measure([=] {
        if (shared)
            rans_shared_kernel<<<RANS_STREAMS / 64, 64>>>(from, df, ds, to);
        else
            rans_global_kernel<<<RANS_STREAMS / 64, 64>>>(from, df, ds, to);
    });
    run.expect_all(
        run.output(to, text.size()), [&](int i) { return text[i]; }, 0, 13);
}

static void rans_global(Run &run)
{
    rans(run, false);
}

static void rans_shared(Run &run)
{
    rans(run, true);
}

// ---- Numbers as 12 characters of text: written byte by byte, or as three words ----

enum { TEXT_NUMBERS = 1300000, TEXT_WIDTH = 12 };

__global__ void decimal_bytes_kernel(const uint32_t *in, char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TEXT_NUMBERS)
        return;
    uint32_t v = in[i];
    out[i * TEXT_WIDTH + TEXT_WIDTH - 1] = '\n';
    for (int k = TEXT_WIDTH - 2; k >= 0; k--) {
        out[i * TEXT_WIDTH + k] = v || k == TEXT_WIDTH - 2 ? '0' + v % 10 : ' ';
        v /= 10;
    }
}

__global__ void decimal_words_kernel(const uint32_t *in, char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TEXT_NUMBERS)
        return;
    uint32_t v = in[i], word[3] = { 0, 0, (uint32_t) '\n' << 24 };
#pragma unroll
    for (int k = TEXT_WIDTH - 2; k >= 0; k--) {
        const uint32_t digit = v || k == TEXT_WIDTH - 2 ? '0' + v % 10 : ' ';
        word[k / 4] |= digit << k % 4 * 8;
        v /= 10;
    }
    for (int k = 0; k < 3; k++)
        ((uint32_t *) out)[i * 3 + k] = word[k];
}

static void decimal(Run &run, void (*kernel)(const uint32_t *, char *))
{
    std::vector<uint32_t> in = words(TEXT_NUMBERS, 5073);
    for (uint32_t &v : in)
        v >>= v % 29;
    uint32_t *from = run.upload(in);
    char *to = run.zeros<char>(TEXT_NUMBERS * TEXT_WIDTH);
    run.measure([=] { kernel<<<blocks_for(TEXT_NUMBERS, 128), 128>>>(from, to); });
    const std::vector<char> got = run.output(to, TEXT_NUMBERS * TEXT_WIDTH);
    for (int i = 0; i < TEXT_NUMBERS; i += 101) {
        char wanted[TEXT_WIDTH + 1];
        snprintf(wanted, sizeof wanted, "%11u\n", in[i]);
        for (int k = 0; k < TEXT_WIDTH; k++)
            run.expect(got[i * TEXT_WIDTH + k], wanted[k], 0);
    }
}

static void decimal_bytes(Run &run)
{
    decimal(run, decimal_bytes_kernel);
}

static void decimal_words(Run &run)
{
    decimal(run, decimal_words_kernel);
}

// ---- Move to front over 64 symbols: the list in local or in shared memory ----

enum { FRONT_STREAMS = 1536, FRONT_LENGTH = 256, FRONT_LIST = 64, FRONT_BLOCK = 64 };

template <int stride>
__host__ __device__ inline void front_encode(const unsigned char *in, unsigned char *list,
                                             unsigned char *out)
{
    for (int k = 0; k < FRONT_LIST; k++)
        list[k * stride] = (unsigned char) k;
    for (int i = 0; i < FRONT_LENGTH; i++) {
        const unsigned char symbol = in[i];
        unsigned char moved = list[0];
        int k = 0;
        while (moved != symbol) {
            k++;
            const unsigned char next = list[k * stride];
            list[k * stride] = moved;
            moved = next;
        }
        list[0] = symbol;
        out[i] = (unsigned char) k;
    }
}

__global__ void front_local_kernel(const unsigned char *in, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char list[FRONT_LIST];
    front_encode<1>(in + i * FRONT_LENGTH, list, out + i * FRONT_LENGTH);
}

__global__ void front_shared_kernel(const unsigned char *in, unsigned char *out)
{
    __shared__ unsigned char lists[FRONT_LIST * FRONT_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    front_encode<FRONT_BLOCK>(in + i * FRONT_LENGTH, lists + threadIdx.x, out + i * FRONT_LENGTH);
}

static void front(Run &run, void (*kernel)(const unsigned char *, unsigned char *))
{
    std::vector<unsigned char> in(FRONT_STREAMS * FRONT_LENGTH);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = mix((uint32_t) i + 5074) % (1 + mix((uint32_t) i / 4 + 5075) % FRONT_LIST);
    unsigned char *from = run.upload(in), *to = run.zeros<unsigned char>(in.size());
    run.measure([=] { kernel<<<FRONT_STREAMS / FRONT_BLOCK, FRONT_BLOCK>>>(from, to); });
    const std::vector<unsigned char> got = run.output(to, in.size());
    for (int i = 0; i < FRONT_STREAMS; i += 19) {
        unsigned char list[FRONT_LIST], wanted[FRONT_LENGTH];
        front_encode<1>(&in[i * FRONT_LENGTH], list, wanted);
        for (int k = 0; k < FRONT_LENGTH; k++)
            run.expect(got[i * FRONT_LENGTH + k], wanted[k], 0);
    }
}

static void front_local(Run &run)
{
    front(run, front_local_kernel);
}

static void front_shared(Run &run)
{
    front(run, front_shared_kernel);
}

// ---- Soundex codes of names in rows of 24 characters ----

enum { SOUND_NAMES = 600000, SOUND_WIDTH = 24 };

__host__ __device__ inline uint32_t soundex_of(const char *name)
{
    const char groups[] = "01230120022455012623010202";
    uint32_t code = (unsigned char) name[0];
    int count = 1, last = groups[name[0] - 'a'];
    for (int k = 1; k < SOUND_WIDTH && name[k] && count < 4; k++) {
        const int group = groups[name[k] - 'a'];
        if (group != '0' && group != last)
            code |= (uint32_t) group << 8 * count++;
        last = group;
    }
    while (count < 4)
        code |= (uint32_t) '0' << 8 * count++;
    return code;
}

__global__ void soundex_kernel(const char *names, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SOUND_NAMES)
        out[i] = soundex_of(names + i * SOUND_WIDTH);
}

static void soundex_names(Run &run)
{
    std::vector<char> names(SOUND_NAMES * SOUND_WIDTH);
    for (int i = 0; i < SOUND_NAMES; i++)
        for (uint32_t k = 0; k < 2 + mix(i + 5076) % 21; k++)
            names[i * SOUND_WIDTH + k] = 'a' + mix(i * 32 + k + 5077) % 26;
    char *from = run.upload(names);
    uint32_t *to = run.zeros<uint32_t>(SOUND_NAMES);
    run.measure([=] { soundex_kernel<<<blocks_for(SOUND_NAMES, 256), 256>>>(from, to); });
    run.expect_all(
        run.output(to, SOUND_NAMES), [&](int i) { return soundex_of(&names[i * SOUND_WIDTH]); }, 0,
        73);
}

#endif
