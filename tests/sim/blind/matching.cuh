// matching.cuh - what is alike: edit distances by bits, sketches of sets, irises, words looked up.
#ifndef BLIND_MATCHING_CUH
#define BLIND_MATCHING_CUH

#include "blind.cuh"

// ---- Edit distances of 64 and 160 bases, a thread per pair: columns as bits, or rows ----

enum { MYERS_PAIRS = 2048, MYERS_PATTERN = 64, MYERS_TEXT = 160 };

// Patterns, then texts: bases 0 to 3, letter k of pair i at k * MYERS_PAIRS + i.
__global__ void myers_bits_kernel(const unsigned char *patterns, const unsigned char *texts,
                                  int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long where[4] = {}, up = ~0ull, down = 0;
    for (int k = 0; k < MYERS_PATTERN; k++) {
        const int base = patterns[k * MYERS_PAIRS + i];
#pragma unroll
        for (int b = 0; b < 4; b++)
            where[b] |= (unsigned long long) (base == b) << k;
    }
    int distance = MYERS_PATTERN;
    for (int k = 0; k < MYERS_TEXT; k++) {
        const int base = texts[k * MYERS_PAIRS + i];
        const unsigned long long low = base & 1 ? where[1] : where[0];
        const unsigned long long high = base & 1 ? where[3] : where[2];
        const unsigned long long equal = base & 2 ? high : low, vertical = equal | down;
        const unsigned long long across = (((equal & up) + up) ^ up) | equal;
        unsigned long long plus = down | ~(across | up), minus = up & across;
        distance += (int) (plus >> 63) - (int) (minus >> 63);
        plus = plus << 1 | 1;
        minus <<= 1;
        up = minus | ~(vertical | plus);
        down = plus & vertical;
    }
    out[i] = distance;
}

__global__ void myers_rows_kernel(const unsigned char *patterns, const unsigned char *texts,
                                  int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char row[MYERS_PATTERN + 1];
    for (int k = 0; k <= MYERS_PATTERN; k++)
        row[k] = (unsigned char) k;
    for (int t = 0; t < MYERS_TEXT; t++) {
        const int base = texts[t * MYERS_PAIRS + i];
        int corner = row[0], left = t + 1;
        row[0] = (unsigned char) left;
        for (int k = 1; k <= MYERS_PATTERN; k++) {
            const int above = row[k];
            const int same = corner + (patterns[(k - 1) * MYERS_PAIRS + i] != base);
            left = min(same, min(above, left) + 1);
            row[k] = (unsigned char) left;
            corner = above;
        }
    }
    out[i] = row[MYERS_PATTERN];
}

static int myers_host(const std::vector<unsigned char> &patterns,
                      const std::vector<unsigned char> &texts, size_t i)
{
    int row[MYERS_PATTERN + 1];
    for (int k = 0; k <= MYERS_PATTERN; k++)
        row[k] = k;
    for (size_t t = 0; t < MYERS_TEXT; t++) {
        int corner = row[0];
        row[0] = (int) t + 1;
        for (size_t k = 1; k <= MYERS_PATTERN; k++) {
            const int above = row[k];
            const int differ = patterns[(k - 1) * MYERS_PAIRS + i] != texts[t * MYERS_PAIRS + i];
            row[k] = std::min(corner + differ, std::min(above, row[k - 1]) + 1);
            corner = above;
        }
    }
    return row[MYERS_PATTERN];
}

static void myers(Run &run, void (*kernel)(const unsigned char *, const unsigned char *, int *))
{
    const std::vector<int> p = integers(MYERS_PATTERN * MYERS_PAIRS, 4, 12040);
    const std::vector<int> t = integers(MYERS_TEXT * MYERS_PAIRS, 4, 12041);
    const std::vector<unsigned char> patterns(p.begin(), p.end()), texts(t.begin(), t.end());
    const unsigned char *dp = run.upload(patterns), *dt = run.upload(texts);
    int *to = run.zeros<int>(MYERS_PAIRS);
    run.measure([=] { kernel<<<MYERS_PAIRS / 64, 64>>>(dp, dt, to); });
    run.expect_all(
        run.output(to, MYERS_PAIRS), [&](size_t i) { return myers_host(patterns, texts, i); }, 0,
        11);
}

static void myers_bits(Run &run)
{
    myers(run, myers_bits_kernel);
}

static void myers_rows(Run &run)
{
    myers(run, myers_rows_kernel);
}

// ---- Sketches of sets: 64 least hashes of 128 items; a thread per hash, or one per set ----

enum { SKETCH_SETS = 4096, SKETCH_ITEMS = 128, SKETCH_HASHES = 64 };

__host__ __device__ inline uint32_t sketch_hash(uint32_t item, uint32_t h)
{
    const uint32_t x = (item ^ h * 0x85ebca6bu) * 0x9e3779b1u;
    return x ^ x >> 15;
}

__global__ void minhash_hash_kernel(const uint32_t *items, uint32_t *out)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t *mine = items + thread / SKETCH_HASHES * SKETCH_ITEMS;
    uint32_t least = ~0u;
    for (int k = 0; k < SKETCH_ITEMS; k++)
        least = min(least, sketch_hash(mine[k], thread % SKETCH_HASHES));
    out[thread] = least;
}

// The least hashes so far lie in an array that the compiler keeps in registers.
__global__ void minhash_set_kernel(const uint32_t *items, uint32_t *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t least[SKETCH_HASHES];
#pragma unroll
    for (int h = 0; h < SKETCH_HASHES; h++)
        least[h] = ~0u;
    for (int k = 0; k < SKETCH_ITEMS; k++) {
        const uint32_t item = items[i * SKETCH_ITEMS + k];
#pragma unroll
        for (int h = 0; h < SKETCH_HASHES; h++)
            least[h] = min(least[h], sketch_hash(item, h));
    }
#pragma unroll
    for (int h = 0; h < SKETCH_HASHES; h++)
        out[i * SKETCH_HASHES + h] = least[h];
}

static void minhash(Run &run, bool sets)
{
    const std::vector<uint32_t> items = words(SKETCH_SETS * SKETCH_ITEMS, 12042);
    const uint32_t *from = run.upload(items);
    uint32_t *to = run.zeros<uint32_t>(SKETCH_SETS * SKETCH_HASHES);
    run.measure([=] {
        if (sets)
            minhash_set_kernel<<<SKETCH_SETS / 64, 64>>>(from, to);
        else
            minhash_hash_kernel<<<SKETCH_SETS * SKETCH_HASHES / 256, 256>>>(from, to);
    });
    run.expect_all(
        run.output(to, SKETCH_SETS * SKETCH_HASHES),
        [&](size_t i) {
            uint32_t least = ~0u;
            for (size_t k = 0; k < SKETCH_ITEMS; k++)
                least = std::min(least, sketch_hash(items[i / SKETCH_HASHES * SKETCH_ITEMS + k],
                                                    (uint32_t) (i % SKETCH_HASHES)));
            return least;
        },
        0, 211);
}

static void minhash_hash(Run &run)
{
    minhash(run, false);
}

static void minhash_set(Run &run)
{
    minhash(run, true);
}

// ---- Irises of 2048 bits with masks against one, 16 rotations: from global or shared memory ----

enum { IRISES = 12288, IRIS_WORDS = 64, IRIS_TURNS = 16 };

// Which part of the bits valid in both differs?
__host__ __device__ inline float iris_share(int differ, int valid)
{
    return valid ? (float) differ / valid : 1;
}

// `probe`: 64 words of bits, 64 words of mask; so is each of `codes`. Sixteen threads per code.
__global__ void iris_global_kernel(const uint32_t *probe, const uint32_t *codes, float *out)
{
    const int i = blockIdx.x * 16 + threadIdx.x / IRIS_TURNS, turn = threadIdx.x % IRIS_TURNS;
    const uint32_t *code = codes + i * 2 * IRIS_WORDS;
    int differ = 0, valid = 0;
    for (int k = 0; k < IRIS_WORDS; k++) {
        const int at = (k + turn) % IRIS_WORDS;
        const uint32_t mask = probe[IRIS_WORDS + at] & code[IRIS_WORDS + k];
        differ += __popc((probe[at] ^ code[k]) & mask);
        valid += __popc(mask);
    }
    float best = iris_share(differ, valid);
    for (int by = IRIS_TURNS / 2; by; by /= 2)
        best = fminf(best, __shfl_xor_sync(~0u, best, by));
    if (turn == 0)
        out[i] = best;
}

__global__ void iris_shared_kernel(const uint32_t *probe, const uint32_t *codes, float *out)
{
    __shared__ uint32_t turned[2 * IRIS_WORDS], code[16][2 * IRIS_WORDS];
    const int i = threadIdx.x / IRIS_TURNS, turn = threadIdx.x % IRIS_TURNS;
    for (int k = threadIdx.x; k < 16 * 2 * IRIS_WORDS; k += blockDim.x)
        code[k / (2 * IRIS_WORDS)][k % (2 * IRIS_WORDS)] =
            codes[blockIdx.x * 16 * 2 * IRIS_WORDS + k];
    for (int k = threadIdx.x; k < 2 * IRIS_WORDS; k += blockDim.x)
        turned[k] = probe[k];
    __syncthreads();
    int differ = 0, valid = 0;
    for (int k = 0; k < IRIS_WORDS; k++) {
        const int at = (k + turn) % IRIS_WORDS;
        const uint32_t mask = turned[IRIS_WORDS + at] & code[i][IRIS_WORDS + k];
        differ += __popc((turned[at] ^ code[i][k]) & mask);
        valid += __popc(mask);
    }
    float best = iris_share(differ, valid);
    for (int by = IRIS_TURNS / 2; by; by /= 2)
        best = fminf(best, __shfl_xor_sync(~0u, best, by));
    if (turn == 0)
        out[blockIdx.x * 16 + i] = best;
}

static void iris(Run &run, void (*kernel)(const uint32_t *, const uint32_t *, float *))
{
    const std::vector<uint32_t> probe = words(2 * IRIS_WORDS, 12043);
    const std::vector<uint32_t> codes = words(IRISES * 2 * IRIS_WORDS, 12044);
    const uint32_t *dp = run.upload(probe), *dc = run.upload(codes);
    float *to = run.zeros<float>(IRISES);
    run.measure([=] { kernel<<<IRISES / 16, 256>>>(dp, dc, to); });
    run.expect_all(
        run.output(to, IRISES),
        [&](size_t i) {
            const uint32_t *code = &codes[i * 2 * IRIS_WORDS];
            float best = 1;
            for (int turn = 0; turn < IRIS_TURNS; turn++) {
                int differ = 0, valid = 0;
                for (int k = 0; k < IRIS_WORDS; k++) {
                    const int at = (k + turn) % IRIS_WORDS;
                    const uint32_t mask = probe[IRIS_WORDS + at] & code[IRIS_WORDS + k];
                    differ += __builtin_popcount((probe[at] ^ code[k]) & mask);
                    valid += __builtin_popcount(mask);
                }
                best = std::min(best, iris_share(differ, valid));
            }
            return best;
        },
        1e-6, 31);
}

static void iris_global(Run &run)
{
    iris(run, iris_global_kernel);
}

static void iris_shared(Run &run)
{
    iris(run, iris_shared_kernel);
}

// ---- Words of 8 letters in a dictionary: bisection in a sorted list, or a hash table ----

enum { SPELL_WORDS = 3 << 16, SPELL_SLOTS = 1 << 19, SPELL_QUERIES = 1 << 20 };

__host__ __device__ inline uint32_t spell_slot(unsigned long long word)
{
    return (uint32_t) ((word * 0x9e3779b97f4a7c15ull) >> 45);
}

__global__ void spell_bisect_kernel(const unsigned long long *list, const ulonglong2 *,
                                    const unsigned long long *queries, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long query = queries[i];
    int low = 0, high = SPELL_WORDS;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] < query)
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low < SPELL_WORDS && list[low] == query ? low : -1;
}

// A slot: the word, or 0 if it is free, and its place in the list.
__global__ void spell_hash_kernel(const unsigned long long *, const ulonglong2 *slots,
                                  const unsigned long long *queries, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long query = queries[i];
    int found = -1;
    for (uint32_t s = spell_slot(query);; s = (s + 1) % SPELL_SLOTS) {
        const ulonglong2 slot = slots[s];
        if (slot.x == query)
            found = (int) slot.y;
        if (slot.x == query || slot.x == 0)
            break;
    }
    out[i] = found;
}

static std::vector<unsigned long long> spell_list()
{
    const std::vector<uint32_t> r = words(2 * SPELL_WORDS, 12045);
    std::vector<unsigned long long> list(SPELL_WORDS);
    for (size_t i = 0; i < SPELL_WORDS; i++)
        list[i] = ((unsigned long long) r[2 * i] << 32 | r[2 * i + 1]) | 1;
    std::sort(list.begin(), list.end());
    return list;
}

static std::vector<ulonglong2> spell_table(const std::vector<unsigned long long> &list)
{
    std::vector<ulonglong2> slots(SPELL_SLOTS, make_ulonglong2(0, 0));
    for (size_t i = 0; i < list.size(); i++) {
        uint32_t s = spell_slot(list[i]);
        while (slots[s].x)
            s = (s + 1) % SPELL_SLOTS;
        slots[s] = make_ulonglong2(list[i], i);
    }
    return slots;
}

// One query in four is misspelt.
static void spell(Run &run, void (*kernel)(const unsigned long long *, const ulonglong2 *,
                                           const unsigned long long *, int *))
{
    const std::vector<unsigned long long> list = spell_list();
    const std::vector<int> picks = integers(SPELL_QUERIES, SPELL_WORDS, 12046);
    std::vector<unsigned long long> queries(SPELL_QUERIES);
    for (size_t i = 0; i < SPELL_QUERIES; i++)
        queries[i] = list[picks[i]] ^ (mix((uint32_t) i + 12047) % 4 ? 0 : 0x2000000ull);
    const unsigned long long *dl = run.upload(list), *dq = run.upload(queries);
    const ulonglong2 *ds = run.upload(spell_table(list));
    int *to = run.zeros<int>(SPELL_QUERIES);
    run.measure([=] { kernel<<<SPELL_QUERIES / 256, 256>>>(dl, ds, dq, to); });
    run.expect_all(
        run.output(to, SPELL_QUERIES),
        [&](size_t i) {
            const auto at = std::lower_bound(list.begin(), list.end(), queries[i]);
            return at != list.end() && *at == queries[i] ? (int) (at - list.begin()) : -1;
        },
        0, 101);
}

static void spell_bisect(Run &run)
{
    spell(run, spell_bisect_kernel);
}

static void spell_hash(Run &run)
{
    spell(run, spell_hash_kernel);
}

#endif
